#include "src/lift/plain_recurrent.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

bool Rearranges(absl::string_view op) {
  return op == "Slice" || op == "Concat" || op == "Unsqueeze" || op == "Squeeze" || op == "Transpose" || op == "Identity" || op == "Reshape";
}

// The stored tensors that `v` is rearranged from, in the order met; false if anything else takes part.
bool Roots(const OnnxView& view, ValueId v, std::vector<ValueId>& roots, std::vector<int>* nodes) {
  std::vector<ValueId> stack = {v};
  for (int steps = 0; !stack.empty() && steps < 1000; ++steps) {
    const ValueId at = view.Through(stack.back());
    stack.pop_back();
    if (view.LiteralOf(at) != nullptr) {
      if (IsFloating(view.LiteralOf(at)->dtype) && std::find(roots.begin(), roots.end(), at) == roots.end()) roots.push_back(at);
      continue;
    }
    const int n = view.Maker(at);
    if (n < 0 || !Rearranges(view.node(n).op_type)) return false;
    if (nodes != nullptr) nodes->push_back(n);
    const bool concat = view.node(n).op_type == "Concat";
    const size_t count = concat ? view.node(n).inputs.size() : 1;
    for (size_t i = count; i-- > 0;) stack.push_back(view.In(n, i));
  }
  return stack.empty();
}

bool IsRecurrent(absl::string_view op) { return op == "LSTM" || op == "GRU" || op == "RNN"; }

// Weights folded into one constant [directions, gates * hidden, width]: made up again as the module's matrices and vectors.
std::vector<TensorId> MadeUp(PlainState& s, int64_t gates, int64_t directions, int64_t hidden, bool bias) {
  const onnx::Literal* w = s.view.LiteralOf(s.view.In(s.current, 1));
  const int64_t width = w != nullptr && w->dims.size() == 3 ? w->dims[2] : hidden;
  const DType type = w != nullptr ? w->dtype : DType::kFloat32;
  std::vector<TensorId> weights;
  for (int64_t d = 0; d < directions; ++d) {
    const std::string end = absl::StrCat("_", s.current, d > 0 ? "_reverse" : "");
    weights.push_back(s.NewParam(absl::StrCat("weight_ih", end), Dims{gates * hidden, width}, type));
    weights.push_back(s.NewParam(absl::StrCat("weight_hh", end), Dims{gates * hidden, hidden}, type));
    if (!bias) continue;
    weights.push_back(s.NewParam(absl::StrCat("bias_ih", end), Dims{gates * hidden}, type));
    weights.push_back(s.NewParam(absl::StrCat("bias_hh", end), Dims{gates * hidden}, type));
  }
  return weights;
}

bool Named(const PlainState& s, const std::vector<ValueId>& roots) {
  return !roots.empty() && std::all_of(roots.begin(), roots.end(), [&](ValueId v) {
    return s.view.value(v).name.find("::") == absl::string_view::npos;
  });
}

}  // namespace

std::vector<bool> RecurrentWeightNodes(const OnnxView& view) {
  std::vector<bool> covered(view.graph().nodes.size());
  for (size_t i = 0; i < covered.size(); ++i) {
    if (!IsRecurrent(view.node(static_cast<int>(i)).op_type)) continue;
    for (const size_t k : {size_t{1}, size_t{2}, size_t{3}}) {
      std::vector<ValueId> roots;
      std::vector<int> nodes;
      const ValueId v = view.In(static_cast<int>(i), k);
      if (v == kNoValue || !Roots(view, v, roots, &nodes)) continue;
      for (const int n : nodes) covered[static_cast<size_t>(n)] = true;
    }
  }
  return covered;
}

void LiftRecurrent(PlainState& s) {
  const onnx::Node& n = s.node();
  const int64_t gates = n.op_type == "LSTM" ? 4 : n.op_type == "GRU" ? 3 : 1;
  const bool both = n.String("direction", "forward") == "bidirectional";
  const int64_t hidden = n.Int("hidden_size", 1);
  std::vector<ValueId> roots;
  const bool known = Roots(s.view, s.view.In(s.current, 1), roots, nullptr) && Roots(s.view, s.view.In(s.current, 2), roots, nullptr);
  const bool bias = s.view.In(s.current, 3) != kNoValue;
  const bool biases = !bias || Roots(s.view, s.view.In(s.current, 3), roots, nullptr);
  std::vector<TensorId> weights;
  if (known && biases && Named(s, roots)) {
    for (const ValueId v : roots) weights.push_back(s.Operand(v));
  } else {
    weights = MadeUp(s, gates, both ? 2 : 1, hidden, bias);
  }
  std::vector<TensorId> in = {s.In(0), s.In(5)};
  if (gates == 4) in.push_back(s.In(6));
  in.insert(in.end(), weights.begin(), weights.end());
  Attrs attrs{{Key::kHidden, hidden}, {Key::kLayers, int64_t{1}}, {Key::kBidirectional, both}, {Key::kBatchFirst, false}, {Key::kGates, gates}};
  // ONNX's result is [time, directions, batch, hidden]: one more dimension than the module's; its own rule sizes it.
  const TensorId y = s.EmitInner(gates == 4 ? "lstm" : gates == 3 ? "gru" : "rnn", in, attrs);
  s.Emit("view", {y}, {}, {n.outputs[0]});
  for (size_t i = 1; i < n.outputs.size(); ++i) {
    if (n.outputs[i] != kNoValue) s.Emit("zeros", {}, {{Key::kDtype, DType::kFloat32}}, {n.outputs[i]});
  }
}

}  // namespace memcrest
