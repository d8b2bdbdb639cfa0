// x @ W.t() (+ b): MatMul with a transposed or folded two-dimensional weight, and the Add of a stored bias vector.
#include "src/lift/pattern.h"

namespace memcrest {
namespace {

// A stored floating tensor of that rank.
bool Stored(const OnnxView& view, onnx::ValueId v, size_t rank) {
  const onnx::Literal* t = view.LiteralOf(v);
  return t != nullptr && IsFloating(t->dtype) && t->dims.size() == rank;
}

// Cut out of a stored tensor (a packed weight of several projections).
bool CutOfStored(const OnnxView& view, onnx::ValueId v, size_t rank) {
  for (int depth = 0; depth < 4; ++depth) {
    const int n = view.Maker(v);
    if (n < 0) return false;
    const absl::string_view op = view.node(n).op_type;
    if (op != "Slice" && op != "Split") return false;
    v = view.In(n, 0);
    if (Stored(view, v, rank)) return true;
  }
  return false;
}

std::optional<Match> MatchProduct(const OnnxView& view, int node) {
  const onnx::ValueId x = view.In(node, 0), w = view.In(node, 1);
  if (view.LiteralOf(x) != nullptr) return std::nullopt;
  Match m;
  m.op = "linear";
  m.in = {x, w};
  m.out = view.node(node).outputs[0];
  m.nodes = {node};
  if (Stored(view, w, 2)) {
    // A weight under its own name was multiplied as it is (x @ W); a nameless one was folded from its transpose.
    if (view.value(view.Through(w)).name.find("::") == absl::string_view::npos) return std::nullopt;
    m.transposed_weights = {1};
    return m;
  }
  const int transpose = view.MakerOf(w, "Transpose");
  if (transpose < 0 || !(Stored(view, view.In(transpose, 0), 2) || CutOfStored(view, view.In(transpose, 0), 2))) return std::nullopt;
  m.in[1] = view.In(transpose, 0);
  if (view.UsedOnce(w)) m.nodes.push_back(transpose);
  return m;
}

std::optional<Match> MatchBiased(const OnnxView& view, int node) {
  const auto [product, bias] = Split(view, node, "MatMul");
  if (product < 0 || !(Stored(view, bias, 1) || CutOfStored(view, bias, 1))) return std::nullopt;
  std::optional<Match> m = MatchProduct(view, product);
  if (!m.has_value()) return std::nullopt;
  m->in.push_back(bias);
  m->out = view.node(node).outputs[0];
  m->nodes.push_back(node);
  return m;
}

}  // namespace

void RegisterLinear(PatternRegistry& registry) {
  // Third: precedence; larger patterns first.
  registry.Add({"linear", "Add", 50, MatchBiased, "MatMul by a transposed weight, then a stored bias"});
  registry.Add({"linear-no-bias", "MatMul", 40, MatchProduct, "MatMul by a transposed or folded weight"});
}

}  // namespace memcrest
