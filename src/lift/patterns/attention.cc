// scaled_dot_product_attention: softmax(q*s @ (k*s).t() + mask) [dropout] @ v with the scale split over both operands, as both
// exporters write it. Attention by hand scales once, after the product or on one side, and stays several operators.
#include <cmath>

#include "src/lift/pattern.h"

namespace memcrest {
namespace {

struct Scaled {
  onnx::ValueId value = onnx::kNoValue;
  int node = -1;
};

// x * s where s is a number or computed on the host (sqrt of a size).
Scaled Unscaled(const OnnxView& view, onnx::ValueId v) {
  const int mul = view.MakerOf(v, "Mul");
  if (mul < 0 || !view.UsedOnce(v)) return {};
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const onnx::ValueId s = view.In(mul, i);
    int maker = view.Maker(s);
    while (maker >= 0 && view.node(maker).op_type == "Cast") maker = view.Maker(view.In(maker, 0));
    const bool root = maker >= 0 && view.node(maker).op_type == "Sqrt";
    if (root || view.Number(s).has_value()) return {view.In(mul, 1 - i), mul};
  }
  return {};
}

// Where(condition, 0, -inf), either way round: how SDPA makes a number of a bool mask. The lowest finite number is not
// -inf: models write it themselves (masked_fill with finfo.min), and then the Where is an operator of its own.
bool ChoosesMinusInfinity(const OnnxView& view, int where) {
  const std::optional<double> a = view.Number(view.In(where, 1)), b = view.Number(view.In(where, 2));
  if (!a.has_value() || !b.has_value()) return false;
  return (*a == 0 && std::isinf(*b) && *b < 0) || (*b == 0 && std::isinf(*a) && *a < 0);
}

// The mask behind the addition: a bool condition chosen between 0 and -inf, or the added tensor itself.
onnx::ValueId MaskOf(const OnnxView& view, onnx::ValueId added, bool& causal, std::vector<int>& nodes) {
  const int where = view.MakerOf(added, "Where");
  if (where < 0 || !ChoosesMinusInfinity(view, where)) return added;
  const onnx::ValueId condition = view.In(where, 0);
  const int equal = view.MakerOf(condition, "Equal");
  const int trilu = equal < 0 ? -1 : view.MakerOf(view.In(equal, 0), "Trilu");
  const bool own = view.UsedOnce(added);  // a mask that other calls read as well stays where it is
  if (own) nodes.push_back(where);
  if (trilu < 0) return condition;
  causal = true;
  if (!own || !view.UsedOnce(condition)) return onnx::kNoValue;
  nodes.insert(nodes.end(), {equal, trilu});
  const int expand = view.MakerOf(view.In(trilu, 0), "Expand");
  if (expand >= 0) nodes.push_back(expand);
  return onnx::kNoValue;
}

// Softmax, perhaps guarded against rows that are masked out (Where(IsNaN(p), 0, p)), perhaps with dropout.
int SoftmaxBehind(const OnnxView& view, onnx::ValueId v, double& p, std::vector<int>& nodes) {
  int n = view.Maker(v);
  if (n >= 0 && view.node(n).op_type == "Dropout") {
    p = view.Number(view.In(n, 1)).value_or(view.node(n).Float("ratio", 0.5));
    nodes.push_back(n);
    n = view.Maker(view.In(n, 0));
  }
  if (n >= 0 && view.node(n).op_type == "Where") {
    const int nan = view.MakerOf(view.In(n, 0), "IsNaN");
    if (nan < 0) return -1;
    nodes.insert(nodes.end(), {n, nan});
    n = view.Maker(view.In(n, 2));
  }
  return n >= 0 && view.node(n).op_type == "Softmax" ? n : -1;
}

// The key's own permutation: the product needs it transposed once more in the last two dimensions.
void Untranspose(const OnnxView& view, onnx::ValueId key, Match& m) {
  const int transpose = view.MakerOf(key, "Transpose");
  m.in[1] = key;
  const std::vector<int64_t>* perm = transpose < 0 ? nullptr : view.node(transpose).Ints("perm");
  if (perm == nullptr || perm->size() < 2) return;
  Dims own(perm->begin(), perm->end());
  std::swap(own[own.size() - 1], own[own.size() - 2]);
  m.in[1] = view.In(transpose, 0);
  m.permuted.emplace_back(1, own);
  if (view.UsedOnce(key)) m.nodes.push_back(transpose);
}

std::optional<Match> Attention(const OnnxView& view, int node) {
  Match m;
  double p = 0;
  const int softmax = SoftmaxBehind(view, view.In(node, 0), p, m.nodes);
  if (softmax < 0) return std::nullopt;
  int scores = view.Maker(view.In(softmax, 0));
  onnx::ValueId added = onnx::kNoValue;
  if (scores >= 0 && view.node(scores).op_type == "Add") {
    const auto [product, mask] = Split(view, scores, "MatMul");
    if (product < 0) return std::nullopt;
    m.nodes.push_back(scores);
    scores = product;
    added = mask;
  }
  if (scores < 0 || view.node(scores).op_type != "MatMul") return std::nullopt;
  const Scaled q = Unscaled(view, view.In(scores, 0)), k = Unscaled(view, view.In(scores, 1));
  if (q.node < 0 || k.node < 0) return std::nullopt;
  bool causal = false;
  const onnx::ValueId mask = added == onnx::kNoValue ? added : MaskOf(view, added, causal, m.nodes);
  m.op = "scaled_dot_product_attention";
  m.in = {q.value, k.value, view.In(node, 1), mask};
  m.out = view.node(node).outputs[0];
  m.nodes.insert(m.nodes.end(), {softmax, scores, q.node, k.node, node});
  m.attrs = {{Key::kP, p}, {Key::kCausal, causal}};
  Untranspose(view, k.value, m);
  return m;
}

}  // namespace

void RegisterAttention(PatternRegistry& registry) {
  // Third: precedence; larger patterns first.
  registry.Add({"attention", "MatMul", 100, Attention, "softmax(q s @ (k s).t() + mask) @ v, the scale on both operands"});
}

}  // namespace memcrest
