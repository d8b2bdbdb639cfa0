#include "src/lift/onnx_host.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"

namespace memcrest {
namespace {

constexpr std::array<absl::string_view, 36> kHostOps = {
    "Gather", "Unsqueeze", "Squeeze", "Concat", "Slice", "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Cast", "Floor", "Ceil",
    "Round", "Min", "Max", "Sqrt", "Pow", "Reciprocal", "Equal", "Less", "Greater", "Where", "Not", "And", "Or", "Reshape",
    "Identity", "ReduceProd", "Abs", "LessOrEqual", "GreaterOrEqual", "Clip", "Transpose", "Log"};
constexpr std::array<absl::string_view, 7> kFactories = {"Range", "ConstantOfShape", "Expand", "Tile", "Trilu", "EyeLike", "CumSum"};

template <size_t N>
bool Among(const std::array<absl::string_view, N>& list, absl::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

}  // namespace

bool IsShapeOperand(const onnx::Node& n, size_t input) {
  const absl::string_view op = n.op_type;
  if (op == "Reshape" || op == "Expand" || op == "Tile" || op == "Unsqueeze" || op == "Squeeze" || op == "Split" || op == "TopK" ||
      op == "OneHot" || op == "CumSum" || op == "Trilu" || op == "Dropout" || op == "Clip" || op == "Pad") {
    return input >= 1;
  }
  if (op == "Slice" || op == "Resize" || op == "Upsample") return input >= 1;
  if (op == "Range" || op == "ConstantOfShape" || op == "Loop" || op == "If" || op == "AffineGrid") return op != "AffineGrid" || input == 1;
  return absl::StartsWith(op, "Reduce") && input >= 1;
}

HostValues::HostValues(const OnnxView& view)
    : view_(view), host_(view.graph().values.size()), factory_(view.graph().values.size()) {
  const onnx::Graph& g = view.graph();
  for (size_t v = 0; v < g.values.size(); ++v) {
    if (g.values[v].initializer < 0) continue;
    const onnx::Literal& t = g.initializers[static_cast<size_t>(g.values[v].initializer)];
    if (IsFloating(t.dtype) && absl::StrContains(t.name, ".")) continue;  // a module's own, however small
    host_[v] = t.has_data && (NumElements(t.dims) == 1 || (t.dims.size() <= 1 && !IsFloating(t.dtype) && t.dtype != DType::kBool));
  }
  for (const onnx::Node& n : g.nodes) {
    if (!Pure(n)) continue;
    bool factory = Among(kFactories, n.op_type);
    if (n.op_type == "Constant") {
      const onnx::Literal* t = view.LiteralOf(n.outputs[0]);
      factory = t != nullptr && NumElements(t->dims) > 1 && (t->dims.size() > 1 || IsFloating(t->dtype) || t->dtype == DType::kBool);
    }
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (n.inputs[i] != onnx::kNoValue && !IsShapeOperand(n, i)) factory = factory || factory_[static_cast<size_t>(n.inputs[i])];
    }
    for (const onnx::ValueId v : n.outputs) {
      if (v == onnx::kNoValue) continue;
      host_[static_cast<size_t>(v)] = true;
      factory_[static_cast<size_t>(v)] = factory;
    }
  }
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const onnx::Node& n = g.nodes[i];
    if (NodeIsHost(static_cast<int>(i)) || n.op_type == "Shape" || n.op_type == "Size") continue;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      if (n.inputs[k] != onnx::kNoValue && !IsShapeOperand(n, k)) NeedOnDevice(n.inputs[k]);
    }
  }
  for (const onnx::ValueId v : g.outputs) NeedOnDevice(v);
}

bool HostValues::Pure(const onnx::Node& n) const {
  if (n.op_type == "Shape" || n.op_type == "Size" || n.op_type == "Constant") return true;
  if (!Among(kHostOps, n.op_type) && !Among(kFactories, n.op_type)) return false;
  return std::all_of(n.inputs.begin(), n.inputs.end(), [&](onnx::ValueId v) { return IsHost(v); });
}

// A device operator reads it as data: if a factory made it, it is a tensor after all (and so is what it was made of).
void HostValues::NeedOnDevice(onnx::ValueId v) {
  if (host_[static_cast<size_t>(v)] && factory_[static_cast<size_t>(v)]) host_[static_cast<size_t>(v)] = false;
}

bool HostValues::NodeIsHost(int node) const {
  const onnx::Node& n = view_.node(node);
  if (n.outputs.empty()) return true;
  return std::all_of(n.outputs.begin(), n.outputs.end(), [&](onnx::ValueId v) { return IsHost(v); });
}

}  // namespace memcrest
