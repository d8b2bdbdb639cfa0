#include "src/shape/frozen_shape.h"

#include <algorithm>
#include <vector>

namespace memcrest::shape {
namespace {

constexpr int kDeepest = 8;  // nodes from a Concat back to a literal

const onnx::Node* Producer(const onnx::Graph& graph, onnx::ValueId id) {
  const int node = graph.values[static_cast<size_t>(id)].node;
  return node < 0 ? nullptr : &graph.nodes[static_cast<size_t>(node)];
}

// Whether a value is a literal, or computed from literals alone.
bool IsConstant(const onnx::Graph& graph, onnx::ValueId id, int depth) {
  if (id == onnx::kNoValue || graph.values[static_cast<size_t>(id)].initializer >= 0) return true;
  const onnx::Node* node = Producer(graph, id);
  if (node == nullptr || depth == 0 || node->op_type == "Shape" || node->op_type == "Size") return false;
  return std::all_of(node->inputs.begin(), node->inputs.end(),
                     [&](onnx::ValueId input) { return IsConstant(graph, input, depth - 1); });
}

}  // namespace

std::optional<size_t> FindFrozenElement(const Frame& frame, onnx::ValueId target, absl::Span<const int64_t> sizes,
                                        int64_t elements) {
  const onnx::Node* concat = Producer(frame.graph, target);
  if (concat == nullptr || concat->op_type != "Concat") return std::nullopt;
  std::vector<bool> constant;  // per element
  for (const onnx::ValueId part : concat->inputs) {
    const int64_t count = part == onnx::kNoValue ? 0 : NumElements(frame.values[static_cast<size_t>(part)].sizes);
    constant.insert(constant.end(), static_cast<size_t>(count), IsConstant(frame.graph, part, kDeepest));
  }
  if (constant.size() != sizes.size() || std::count(constant.begin(), constant.end(), false) == 0) return std::nullopt;
  std::optional<size_t> found;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Dims rest(sizes.begin(), sizes.end());
    rest[i] = 1;
    const int64_t others = CheckedNumElements(rest).value_or(0);
    if (!constant[i] || sizes[i] <= 1 || others <= 0 || elements % others != 0) continue;
    if (found.has_value()) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace memcrest::shape
