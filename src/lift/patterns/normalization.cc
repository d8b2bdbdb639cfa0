// Norms that older opsets spell out: layer norm before opset 17, group norm as a reshaped instance norm.
#include "src/lift/pattern.h"

namespace memcrest {
namespace {

bool Stored(const OnnxView& view, onnx::ValueId v) {
  const onnx::Literal* t = view.LiteralOf(v);
  return t != nullptr && IsFloating(t->dtype) && NumElements(t->dims) > 1;
}

// (x - mean) / sqrt(mean((x - mean)^2) + eps); gives x and adds the nodes.
onnx::ValueId Normalized(const OnnxView& view, int div, std::vector<int>& nodes, int64_t& rank, double& eps) {
  if (div < 0 || view.node(div).op_type != "Div") return onnx::kNoValue;
  const int sub = view.MakerOf(view.In(div, 0), "Sub"), sqrt = view.MakerOf(view.In(div, 1), "Sqrt");
  const int add = view.MakerOf(view.In(sqrt, 0), "Add");
  const int var = add < 0 ? -1 : view.MakerOf(view.In(add, 0), "ReduceMean");
  const int pow = view.MakerOf(view.In(var, 0), "Pow"), mean = view.MakerOf(view.In(sub, 1), "ReduceMean");
  if (sub < 0 || var < 0 || pow < 0 || mean < 0 || view.Maker(view.In(pow, 0)) != sub) return onnx::kNoValue;
  if (view.In(mean, 0) != view.In(sub, 0) || !view.IsNumber(view.In(pow, 1), 2)) return onnx::kNoValue;
  const std::optional<double> e = view.Number(view.In(add, 1));
  if (!e.has_value()) return onnx::kNoValue;
  eps = *e;
  const std::vector<int64_t>* axes = view.node(mean).Ints("axes");
  const std::optional<std::vector<int64_t>> given = axes != nullptr ? std::nullopt : view.Ints(view.In(mean, 1));
  rank = axes != nullptr ? static_cast<int64_t>(axes->size()) : given.has_value() ? static_cast<int64_t>(given->size()) : 1;
  nodes.insert(nodes.end(), {div, sub, sqrt, add, var, pow, mean});
  return view.In(sub, 0);
}

std::optional<Match> LayerNorm(const OnnxView& view, int node) {
  const auto [mul, bias] = Split(view, node, "Mul");
  if (mul < 0 || !Stored(view, bias)) return std::nullopt;
  const auto [div, weight] = Split(view, mul, "Div");
  if (div < 0 || !Stored(view, weight)) return std::nullopt;
  Match m;
  int64_t rank = 1;
  double eps = 0;
  const onnx::ValueId x = Normalized(view, div, m.nodes, rank, eps);
  if (x == onnx::kNoValue) return std::nullopt;
  m.op = "layer_norm";
  m.in = {x, weight, bias};
  m.out = view.node(node).outputs[0];
  m.attrs = {{Key::kNormalizedRank, rank}, {Key::kEps, eps}};
  m.nodes.insert(m.nodes.end(), {mul, node});
  return m;
}

// A stored tensor, perhaps with dimensions of one appended for broadcasting; kNoValue if computed. Adds the node passed.
onnx::ValueId StoredBehind(const OnnxView& view, onnx::ValueId v, std::vector<int>& nodes) {
  if (view.LiteralOf(v) != nullptr) return v;
  const int n = view.MakerOf(v, "Unsqueeze");
  if (n < 0 || view.LiteralOf(view.In(n, 0)) == nullptr) return onnx::kNoValue;
  if (view.UsedOnce(v)) nodes.push_back(n);
  return view.In(n, 0);
}

// Reshape to [N, groups, -1], InstanceNormalization with ones and zeros, Reshape back, * weight + bias.
std::optional<Match> GroupNorm(const OnnxView& view, int node) {
  const auto [mul, added] = Split(view, node, "Mul");
  const auto [back, scaled] = mul < 0 ? std::pair<int, onnx::ValueId>(-1, onnx::kNoValue) : Split(view, mul, "Reshape");
  const int norm = back < 0 ? -1 : view.MakerOf(view.In(back, 0), "InstanceNormalization");
  const int there = norm < 0 ? -1 : view.MakerOf(view.In(norm, 0), "Reshape");
  const onnx::Literal* ones = norm < 0 ? nullptr : view.LiteralOf(view.In(norm, 1));
  if (there < 0 || ones == nullptr || ones->dims.empty()) return std::nullopt;
  Match m;
  const onnx::ValueId weight = StoredBehind(view, scaled, m.nodes), bias = StoredBehind(view, added, m.nodes);
  if (weight == onnx::kNoValue || bias == onnx::kNoValue) return std::nullopt;
  m.op = "group_norm";
  m.in = {view.In(there, 0), weight, bias};
  m.out = view.node(node).outputs[0];
  m.attrs = {{Key::kGroups, ones->dims[0]}, {Key::kEps, view.node(norm).Float("epsilon", 1e-5)}};
  m.nodes.insert(m.nodes.end(), {there, norm, back, mul, node});
  return m;
}

}  // namespace

void RegisterNormalization(PatternRegistry& registry) {
  // Third: precedence; larger patterns first.
  registry.Add({"layer-norm", "Add", 90, LayerNorm, "(x - mean) / sqrt(var + eps) * w + b"});
  registry.Add({"group-norm", "Add", 90, GroupNorm, "instance norm of a reshaped input, then weight and bias"});
}

}  // namespace memcrest
