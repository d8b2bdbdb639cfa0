#include "src/shape/literal_batch.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"

namespace memcrest::shape {
namespace {

class PinSearch {
 public:
  PinSearch(const Frame& exported, const Frame& replaced, int64_t old_batch, int64_t new_batch)
      : exported_(exported), replaced_(replaced), old_(old_batch), new_(new_batch) {}

  std::optional<Problem> Run() const {
    for (const onnx::Node& node : exported_.graph.nodes) {
      if (node.inputs.empty() || node.inputs[0] == onnx::kNoValue || !Follows(node.inputs[0])) continue;
      if (node.op_type == "Reshape" && ReshapePins(node))
        return Pinned(node, "its shape is a constant made for that batch");
      if (TakesParts(node) && !Follows(node.outputs[0])) return Pinned(node, "it takes a fixed part out of the batch");
    }
    for (const onnx::ValueId id : exported_.graph.outputs) {
      const Dims& sizes = exported_.values[static_cast<size_t>(id)].sizes;
      if (sizes.empty() || sizes[0] != old_ || NumElements(sizes) == 1 || Follows(id)) continue;
      return Problem{"E0404", What(),
                     absl::StrCat("output \"", exported_.graph.values[static_cast<size_t>(id)].name, "\""),
                     "its size does not change with the inputs' first dimension", Fix()};
    }
    return std::nullopt;
  }

  std::string What() const {
    return absl::StrCat("the network was exported for batch ", old_, " and cannot be taken for batch ", new_);
  }
  static std::string Fix() { return "export it again with a dynamic batch dimension, or leave batch out of --bind"; }

 private:
  bool Follows(onnx::ValueId id) const {
    const size_t i = static_cast<size_t>(id);
    return id != onnx::kNoValue && exported_.values[i].sizes != replaced_.values[i].sizes;
  }

  // Row-major order: the batch stays in front if the first size that changed has only sizes other than the old batch
  // before it.
  bool ReshapePins(const onnx::Node& node) const {
    if (node.outputs.empty() || node.outputs[0] == onnx::kNoValue) return false;
    const size_t out = static_cast<size_t>(node.outputs[0]);
    const Dims &before = exported_.values[out].sizes, &after = replaced_.values[out].sizes;
    for (size_t d = 0; d < before.size() && d < after.size(); ++d) {
      if (before[d] != after[d]) return false;
      if (before[d] == old_) return true;
    }
    return false;
  }

  static bool TakesParts(const onnx::Node& node) {
    static constexpr std::array<absl::string_view, 4> kOps = {"Gather", "GatherND", "Slice", "Split"};
    return std::find(kOps.begin(), kOps.end(), node.op_type) != kOps.end();
  }

  Problem Pinned(const onnx::Node& node, absl::string_view why) const {
    return {"E0404", What(), absl::StrCat("node \"", node.name, "\" (", node.op_type, ")"), std::string(why), Fix()};
  }

  const Frame& exported_;
  const Frame& replaced_;
  const int64_t old_, new_;
};

}  // namespace

std::optional<Problem> FindPinnedBatch(const Frame& exported, const Frame& replaced, int64_t old_batch,
                                       int64_t new_batch) {
  return PinSearch(exported, replaced, old_batch, new_batch).Run();
}

Problem PinnedBatch(const Problem& cause, int64_t old_batch, int64_t new_batch) {
  return {"E0404",
          absl::StrCat("the network was exported for batch ", old_batch, " and cannot be taken for batch ", new_batch),
          cause.where, absl::StrCat(cause.what, "; ", cause.why), PinSearch::Fix()};
}

}  // namespace memcrest::shape
