// Rules of normalizations, dropout and losses.
#include <array>

#include "absl/strings/str_cat.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// Y, and in training the running mean and variance (opset 14 on), before that the batch's own too (five outputs).
void BatchNormalization(RuleContext& c) {
  const Dims& x = c.Sizes(0);
  const int64_t channels = x.size() > 1 ? x[1] : 1;
  if (NumElements(c.Sizes(1)) != channels && c.node().Int("spatial", 1) != 0) {
    c.Fail(absl::StrCat("the input has ", channels, " channels, the scale ", NumElements(c.Sizes(1))));
    return;
  }
  for (int i = 1; i < c.outputs(); ++i) c.Out(i, c.Type(c.Has(3) ? 3 : 1), c.Sizes(1));
  c.Same();
}

// Sizes of one statistic per row: dimensions from `axis` on are 1.
Dims RowSizes(const Dims& x, int axis) {
  Dims rows = x;
  std::fill(rows.begin() + axis, rows.end(), 1);
  return rows;
}

// Y and the statistics Mean, InvStdDev (only the latter if `one_statistic`). `x` is the normalized input.
void LayerNormRule(RuleContext& c, DType y_type, bool one_statistic) {
  int axis = 0;
  if (c.Rank(0) == 0 || !c.Axis(c.node().Int("axis", -1), c.Rank(0), &axis)) return;
  if (!Broadcast(c.Sizes(0), c.Sizes(1)).has_value()) {
    c.Fail(absl::StrCat("the scale of ", ToText(c.Sizes(1)), " does not broadcast to ", ToText(c.Sizes(0))));
    return;
  }
  const DType stash = DTypeOf(c.node().Int("stash_type", 1));
  const Dims rows = RowSizes(c.Sizes(0), axis);
  for (int i = 1; i < c.outputs() && i < (one_statistic ? 2 : 3); ++i) c.Out(i, stash, rows);
  c.Out(0, y_type, c.Sizes(0));
}

void LayerNormalization(RuleContext& c) { LayerNormRule(c, c.Type(0), false); }
// ONNX Runtime's name of RMS normalization.
void SimplifiedLayerNormalization(RuleContext& c) { LayerNormRule(c, c.Type(1), true); }
void RmsNormalization(RuleContext& c) { LayerNormRule(c, c.Type(1), true); }

void PerChannel(RuleContext& c) {
  if (c.Rank(0) < 2) {
    c.Fail("needs batch and channels");
    return;
  }
  const int64_t scales = NumElements(c.Sizes(1)), groups = c.node().Int("num_groups", 0);
  if (scales != c.Sizes(0)[1] && scales != groups) {  // opset 18's GroupNormalization scales groups
    c.Fail(absl::StrCat("the input has ", c.Sizes(0)[1], " channels, the scale ", scales));
    return;
  }
  c.Same();
}

// The mask is bool from opset 10 on, of the input's type before.
void Dropout(RuleContext& c) {
  c.Out(1, c.opset() >= 10 ? DType::kBool : c.Type(0), c.Sizes(0));
  c.Same();
}

bool IsReduced(const RuleContext& c) { return c.node().String("reduction", "mean") != "none"; }

bool FitsTarget(RuleContext& c) {
  const Dims &x = c.Sizes(0), &target = c.Sizes(1);
  if (x.size() < 2 || target.size() + 1 != x.size() || target[0] != x[0]) {
    return c.Fail(absl::StrCat("scores of ", ToText(x), " and targets of ", ToText(target), " do not fit"));
  }
  return true;
}

void NegativeLogLikelihoodLoss(RuleContext& c) {
  if (FitsTarget(c)) c.Out(0, c.Type(0), IsReduced(c) ? Dims{} : c.Sizes(1));
}

void SoftmaxCrossEntropyLoss(RuleContext& c) {
  if (!FitsTarget(c)) return;
  c.Out(1, c.Type(0), c.Sizes(0));
  c.Out(0, c.Type(0), IsReduced(c) ? Dims{} : c.Sizes(1));
}

constexpr std::array kRules = {
    Rule{"BatchNormalization", BatchNormalization, 2},
    Rule{"LayerNormalization", LayerNormalization, 2},
    Rule{"SimplifiedLayerNormalization", SimplifiedLayerNormalization, 2},
    Rule{"RMSNormalization", RmsNormalization, 2},
    Rule{"InstanceNormalization", PerChannel, 3},
    Rule{"GroupNormalization", PerChannel, 3},
    Rule{"LpNormalization", LikeFirst},
    Rule{"LRN", LikeFirst},
    Rule{"MeanVarianceNormalization", LikeFirst},
    Rule{"Dropout", Dropout},
    Rule{"NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss, 2},
    Rule{"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss, 2},
};

}  // namespace

absl::Span<const Rule> NormRules() { return kRules; }

}  // namespace memcrest::shape
