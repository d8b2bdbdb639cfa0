// Activations that exporters spell out: gelu (erf and tanh forms), silu, mish, hard-swish; rsqrt.
#include <cmath>

#include "src/lift/pattern.h"

namespace memcrest {
namespace {

Match Unary(const OnnxView& view, int node, const char* op, onnx::ValueId x, std::vector<int> nodes) {
  Match m;
  m.op = op;
  m.in = {x};
  m.out = view.node(node).outputs[0];
  m.nodes = std::move(nodes);
  m.nodes.push_back(node);
  return m;
}

// 0.5 * (x * (1 + erf(x / sqrt(2)))), in any association.
std::optional<Match> GeluErf(const OnnxView& view, int node) {
  const onnx::ValueId product = WithoutNumber(view, node, 0.5);
  const int mul = view.MakerOf(product, "Mul");
  if (mul < 0 || !view.UsedOnce(product)) return std::nullopt;
  const auto [add, x] = Split(view, mul, "Add");
  const onnx::ValueId e = WithoutNumber(view, add, 1);
  const int erf = view.MakerOf(e, "Erf");
  if (add < 0 || erf < 0) return std::nullopt;
  const onnx::ValueId scaled = view.In(erf, 0);
  const int div = view.Maker(scaled);
  if (div < 0 || view.In(div, 0) != x) return std::nullopt;
  const bool right = (view.node(div).op_type == "Div" && view.IsNumber(view.In(div, 1), std::sqrt(2.0))) ||
                     (view.node(div).op_type == "Mul" && view.IsNumber(view.In(div, 1), std::sqrt(0.5)));
  if (!right) return std::nullopt;
  return Unary(view, node, "gelu", x, {mul, add, erf, div});
}

// 1 + tanh(k (x + 0.044715 x*x*x)), the cube as products (hand-written forms use Pow); adds the nodes if it is one of x.
bool TanhTerm(const OnnxView& view, int add, onnx::ValueId x, std::vector<int>& nodes) {
  const int tanh = add < 0 ? -1 : view.MakerOf(WithoutNumber(view, add, 1), "Tanh");
  const int scale = tanh < 0 ? -1 : view.MakerOf(view.In(tanh, 0), "Mul");
  const int sum = scale < 0 ? -1 : view.MakerOf(WithoutNumber(view, scale, std::sqrt(2 / M_PI)), "Add");
  if (sum < 0) return false;
  const auto [cubic, same] = Split(view, sum, "Mul");
  const int cube = cubic < 0 || same != x ? -1 : view.MakerOf(WithoutNumber(view, cubic, 0.044715), "Mul");
  if (cube < 0) return false;
  const auto [square, again] = Split(view, cube, "Mul");
  if (square < 0 || again != x || view.In(square, 0) != x || view.In(square, 1) != x) return false;
  nodes.insert(nodes.end(), {add, tanh, scale, sum, cubic, cube, square});
  return true;
}

// F.gelu(approximate="tanh"): (0.5 x) * term or 0.5 * (x * term).
std::optional<Match> GeluTanh(const OnnxView& view, int node) {
  std::vector<int> nodes;
  if (const int product = view.MakerOf(WithoutNumber(view, node, 0.5), "Mul"); product >= 0) {
    const auto [add, x] = Split(view, product, "Add");
    if (add < 0 || !TanhTerm(view, add, x, nodes)) return std::nullopt;
    nodes.push_back(product);
    Match m = Unary(view, node, "gelu", x, nodes);
    m.attrs.Set(Key::kApproximate, std::string("tanh"));
    return m;
  }
  const auto [add, scaled] = Split(view, node, "Add");
  const int half = add < 0 ? -1 : view.MakerOf(scaled, "Mul");
  const onnx::ValueId x = half < 0 ? onnx::kNoValue : WithoutNumber(view, half, 0.5);
  if (x == onnx::kNoValue || !TanhTerm(view, add, x, nodes)) return std::nullopt;
  nodes.push_back(half);
  Match m = Unary(view, node, "gelu", x, nodes);
  m.attrs.Set(Key::kApproximate, std::string("tanh"));
  return m;
}

std::optional<Match> Gated(const OnnxView& view, int node) {
  for (const auto& [gate, op] : {std::pair<const char*, const char*>{"Sigmoid", "silu"}, {"HardSigmoid", "hardswish"}}) {
    const auto [g, x] = Split(view, node, gate);
    if (g >= 0 && view.In(g, 0) == x) return Unary(view, node, op, x, {g});
  }
  const auto [tanh, x] = Split(view, node, "Tanh");
  const int softplus = view.MakerOf(view.In(tanh, 0), "Softplus");
  if (tanh >= 0 && softplus >= 0 && view.In(softplus, 0) == x) return Unary(view, node, "mish", x, {tanh, softplus});
  return std::nullopt;
}

std::optional<Match> Rsqrt(const OnnxView& view, int node) {
  const bool reciprocal = view.node(node).op_type == "Reciprocal";
  if (!reciprocal && !view.IsNumber(view.In(node, 0), 1)) return std::nullopt;
  const onnx::ValueId root = view.In(node, reciprocal ? 0 : 1);
  const int sqrt = view.MakerOf(root, "Sqrt");
  if (sqrt < 0 || !view.UsedOnce(root) || view.Number(root).has_value()) return std::nullopt;
  return Unary(view, node, "rsqrt", view.In(sqrt, 0), {sqrt});
}

}  // namespace

void RegisterActivations(PatternRegistry& registry) {
  // Third: precedence; larger patterns first.
  registry.Add({"gelu-erf", "Mul", 80, GeluErf, "0.5 x (1 + erf(x / sqrt 2))"});
  registry.Add({"gelu-tanh", "Mul", 80, GeluTanh, "0.5 x (1 + tanh(...)) with the cube as products"});
  registry.Add({"gated", "Mul", 60, Gated, "x * sigmoid(x), x * hardsigmoid(x), x * tanh(softplus(x))"});
  registry.Add({"rsqrt", "Div", 60, Rsqrt, "1 / sqrt(x)"});
  registry.Add({"rsqrt-reciprocal", "Reciprocal", 60, Rsqrt, "reciprocal of a square root"});
}

}  // namespace memcrest
