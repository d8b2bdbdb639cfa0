// Reductions, arg-reductions and sorting of plain exports; and the one place that decides who lifts a node.
#include <array>
#include <string>

#include "src/lift/plain_ops.h"

namespace memcrest {
namespace {

struct Reduction {
  absl::string_view onnx;
  const char* op;
};
constexpr std::array<Reduction, 9> kReductions = {{{"ReduceMean", "mean"}, {"ReduceSum", "sum"}, {"ReduceProd", "prod"}, {"ReduceMax", "amax"},
                                                   {"ReduceMin", "amin"}, {"ReduceL2", "norm"}, {"ReduceL1", "norm"},
                                                   {"ReduceLogSumExp", "logsumexp"}, {"ReduceSumSquare", "norm"}}};

void Reduce(PlainState& s, const char* op) {
  const onnx::Node& n = s.node();
  Attrs attrs{{Key::kKeepDims, n.Int("keepdims", 1) != 0}};
  if (const std::optional<Dims> axes = s.IntsOf("axes", 1)) attrs.Set(Key::kAxes, *axes);
  s.Emit(op, {s.In(0)}, attrs, {n.outputs[0]});
}

}  // namespace

bool LiftReduction(PlainState& s) {
  const onnx::Node& n = s.node();
  for (const Reduction& r : kReductions) {
    if (r.onnx != n.op_type) continue;
    Reduce(s, r.op);
    return true;
  }
  if (n.op_type == "ArgMax" || n.op_type == "ArgMin") {
    Attrs attrs{{Key::kAxis, n.Int("axis", 0)}, {Key::kKeepDims, n.Int("keepdims", 1) != 0}};
    s.Emit(n.op_type == "ArgMax" ? "argmax" : "argmin", {s.In(0)}, attrs, {n.outputs[0]});
    return true;
  }
  if (n.op_type == "TopK") {
    s.Emit("topk", {s.In(0)}, {{Key::kAxis, n.Int("axis", -1)}}, n.outputs);
    return true;
  }
  return false;
}

// Every operand is a number or a size: the host computed the result, readers see a number.
bool OnlyNumbers(PlainState& s) {
  bool any = false;
  for (size_t i = 0; i < s.node().inputs.size(); ++i) {
    if (s.view.In(s.current, i) == onnx::kNoValue || IsShapeOperand(s.node(), i)) continue;
    if (s.In(i) != kNone) return false;
    any = true;
  }
  return any;
}

void LiftOne(PlainState& s) {
  if (OnlyNumbers(s)) return;
  if (LiftPointwise(s) || LiftLayers(s) || LiftMovement(s) || LiftReduction(s)) return;
  std::vector<TensorId> in;
  for (size_t i = 0; i < s.node().inputs.size(); ++i) in.push_back(s.In(i));
  s.Emit("?", in, {}, s.node().outputs);
}

}  // namespace memcrest
