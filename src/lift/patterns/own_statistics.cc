// Batch norm by the statistics of its own input: no running statistics are kept, so the exporter computes mean and variance
// beside the node.  Of a stored input it is weight standardisation, F.batch_norm(weight.reshape(1, out, -1), weight =
// (gain * scale).view(-1)): what the exporter folded was the reshaped weight, its transpose for the statistics, and the gain.
#include "absl/strings/match.h"
#include "src/lift/pattern.h"

namespace memcrest {
namespace {

// A stored tensor that the exporter computed: it has no name of its own.
const onnx::Literal* Folded(const OnnxView& view, onnx::ValueId v) {
  const onnx::Literal* t = view.LiteralOf(v);
  return t != nullptr && IsFloating(t->dtype) && absl::StrContains(t->name, "::") ? t : nullptr;
}

// `t` is `x` with its channels last, stored or not. Adds the node.
bool SameElements(const OnnxView& view, onnx::ValueId t, onnx::ValueId x, std::vector<int>& nodes) {
  if (view.Through(t) == view.Through(x)) return true;
  const onnx::Literal *a = Folded(view, t), *b = Folded(view, x);
  if (a != nullptr && b != nullptr) return NumElements(a->dims) == NumElements(b->dims);
  const int transpose = view.MakerOf(t, "Transpose");
  if (transpose < 0 || view.Through(view.In(transpose, 0)) != view.Through(x)) return false;
  nodes.push_back(transpose);
  return true;
}

// mean(t), mean((t - mean(t))^2)
bool OwnStatistics(const OnnxView& view, int node, std::vector<int>& nodes) {
  const int mean = view.MakerOf(view.In(node, 3), "ReduceMean"), var = view.MakerOf(view.In(node, 4), "ReduceMean");
  const int square = var < 0 ? -1 : view.MakerOf(view.In(var, 0), "Mul");
  const int sub = square < 0 ? -1 : view.MakerOf(view.In(square, 0), "Sub");
  const int kept = sub < 0 ? -1 : view.MakerOf(view.In(sub, 1), "ReduceMean");
  if (mean < 0 || kept < 0 || view.MakerOf(view.In(square, 1), "Sub") != sub) return false;
  if (view.In(mean, 0) != view.In(sub, 0) || view.In(kept, 0) != view.In(sub, 0)) return false;
  nodes.insert(nodes.end(), {mean, var, square, sub});
  if (kept != mean) nodes.push_back(kept);
  return SameElements(view, view.In(sub, 0), view.In(node, 0), nodes);
}

// The weight's own sizes: those that the standardised weight gets back.
Dims WeightDims(const OnnxView& view, int node, const onnx::Literal& stored) {
  for (const int user : view.Users(view.node(node).outputs[0])) {
    const std::optional<std::vector<int64_t>> sizes =
        view.node(user).op_type == "Reshape" ? view.Ints(view.In(user, 1)) : std::nullopt;
    if (sizes.has_value() && !sizes->empty()) return Dims(sizes->begin(), sizes->end());
  }
  return stored.dims;
}

std::optional<Match> OwnStatisticsNorm(const OnnxView& view, int node) {
  Match m;
  if (!OwnStatistics(view, node, m.nodes)) return std::nullopt;
  m.op = "batch_norm";
  m.in = {view.In(node, 0), view.In(node, 1), view.In(node, 2), onnx::kNoValue, onnx::kNoValue};
  m.out = view.node(node).outputs[0];
  m.nodes.push_back(node);
  // ONNX's default epsilon.
  m.attrs = {{Key::kTraining, true}, {Key::kEps, static_cast<double>(view.node(node).Float("epsilon", 1e-5))}};
  const onnx::Literal* const weight = Folded(view, m.in[0]);
  if (weight != nullptr) {
    m.folded.push_back({0, "weight", WeightDims(view, node, *weight), false});
    if (const onnx::Literal* const gain = Folded(view, m.in[1])) {
      Dims own(m.folded[0].own.size(), 1);  // one number a channel, shaped to multiply the weight
      own[0] = NumElements(gain->dims);
      m.folded.push_back({1, "gain", own, true});
    }
  }
  for (const size_t i : {size_t{1}, size_t{2}}) {  // ones and zeros that the exporter made up
    if (view.MakerOf(m.in[i], "Constant") >= 0) m.in[i] = onnx::kNoValue;
  }
  return m;
}

}  // namespace

void RegisterOwnStatistics(PatternRegistry& registry) {
  // Third: precedence; larger patterns first.
  registry.Add({"own-statistics", "BatchNormalization", 90, OwnStatisticsNorm,
                "batch norm by the mean and variance of its input; of a stored input: weight standardisation"});
}

}  // namespace memcrest
