#include "src/lift/position_tables.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace memcrest {
namespace {

bool ScalesByNetwork(const PlainState& state) {
  const std::vector<onnx::Literal>& stored = state.view.graph().initializers;
  return std::any_of(stored.begin(), stored.end(), [](const onnx::Literal& t) { return absl::StrContains(t.name, "logit_scale"); });
}

// Softmax reads what the constant is added to, perhaps after a mask was added too.
bool FeedsSoftmax(const OnnxView& view, onnx::ValueId v, int depth = 5) {
  if (depth == 0) return false;
  for (const int user : view.Users(v)) {
    const onnx::Node& node = view.node(user);
    if (node.op_type == "Softmax") return true;
    const bool passes = node.op_type == "Add" || node.op_type == "Reshape";
    if (passes && FeedsSoftmax(view, node.outputs[0], depth - 1)) return true;
  }
  return false;
}

}  // namespace

int64_t TableRows(int64_t n) {
  for (int64_t side = 1; side * side <= n; ++side) {
    if (side * side == n) return (2 * side - 1) * (2 * side - 1);
    if (side * side + 1 == n) return (2 * side - 1) * (2 * side - 1) + 3;
  }
  return 0;
}

bool TableSizes(const Dims& dims, int64_t& tokens, int64_t& heads, bool& heads_first) {
  heads_first = false;
  if (dims.size() == 2) {
    for (tokens = 1; tokens * tokens < dims[0]; ++tokens) {
    }
    heads = dims[1];
    return tokens * tokens == dims[0];
  }
  if (dims.size() != 3) return false;
  heads_first = dims[1] == dims[2];
  tokens = dims[1];
  heads = heads_first ? dims[0] : dims[2];
  return heads_first || dims[0] == dims[1];
}

TensorId RestorePositionTable(PlainState& state, onnx::ValueId v) {
  const onnx::Literal* const stored = state.view.LiteralOf(v);
  if (stored == nullptr || !IsFloating(stored->dtype) || !absl::StrContains(stored->name, "::")) return kNone;
  Dims dims = stored->dims;
  if (dims.size() == 4 && dims[0] == 1) dims.erase(dims.begin());
  int64_t tokens = 0, heads = 0;
  bool heads_first = false;
  if (dims.size() != 3 || !TableSizes(dims, tokens, heads, heads_first) || !heads_first) return kNone;
  if (TableRows(tokens) == 0 || !FeedsSoftmax(state.view, v) || ScalesByNetwork(state)) return kNone;
  const TensorId table = state.NewParam("relative_position_bias_table", {TableRows(tokens), heads}, stored->dtype);
  const TensorId index = state.NewParam("relative_position_index", {tokens, tokens}, DType::kInt64, true);
  state.evidence = Evidence::kPattern;
  const TensorId picked = state.EmitInner("index", {table, index}, {});
  const TensorId turned = state.EmitInner("permute", {picked}, {{Key::kPerm, Dims{2, 0, 1}}});
  const TensorId copied = state.EmitInner("contiguous", {turned}, {});
  return state.EmitInner("view", {copied}, {{Key::kSizes, stored->dims}});
}

}  // namespace memcrest
