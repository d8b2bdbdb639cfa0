// Rules of reductions: Reduce*, ArgMax, ArgMin, and cumulative sums.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"
#include "src/shape/scalar_math.h"

namespace memcrest::shape {
namespace {

// Folds `in` over the dimensions in `drop`; elements of the result in order. Empty on overflow or an empty input.
template <typename T, typename Fold>
std::vector<T> FoldElements(const std::vector<T>& elements, const Dims& in, const std::vector<bool>& drop, Fold fold) {
  Dims kept = in;
  for (size_t d = 0; d < in.size(); ++d) kept[d] = drop[d] ? 1 : in[d];
  const std::vector<int64_t> targets = FlatIndices(0, BroadcastStrides(kept, in.size()), in);
  std::vector<T> result(static_cast<size_t>(NumElements(kept)));
  std::vector<bool> begun(result.size(), false);
  for (size_t i = 0; i < elements.size(); ++i) {
    const size_t target = static_cast<size_t>(targets[i]);
    const std::optional<T> folded = begun[target] ? std::optional<T>(fold(result[target], elements[i])) : elements[i];
    if (!folded.has_value()) return {};
    result[target] = *folded;
    begun[target] = true;
  }
  return result;
}

// axes as an input (ReduceSum from opset 13, others from 18) or an attribute; none means all, or none if the node says
// so.
void ReduceRule(RuleContext& c, IntBinary ints, FloatBinary floats) {
  const IntList axes = c.Ints(1, "axes");
  const bool keep = c.node().Int("keepdims", 1) != 0;
  const Dims& in = c.Sizes(0);
  std::vector<bool> drop(in.size(), true);
  if (axes.present && axes.known && !axes.values.empty()) {
    if (!AxisFlags(c, axes.values, c.Rank(0), &drop)) return;
  } else if (!axes.present || axes.known) {
    drop.assign(in.size(), c.node().Int("noop_with_empty_axes", 0) == 0);
  } else {
    drop.assign(in.size(), false);
  }
  Dims sizes;
  for (size_t d = 0; d < in.size(); ++d) {
    if (!drop[d]) sizes.push_back(in[d]);
    if (drop[d] && keep) sizes.push_back(1);
  }
  if (axes.present && !axes.known) {
    c.Undetermined(0, c.Type(0), std::move(sizes));
    return;
  }
  BoundValue& out = c.Out(0, c.Type(0), std::move(sizes));
  const BoundValue& from = c.In(0);
  if (c.failed() || ints == nullptr || !HasHost(from) || NumElements(in) == 0 || !IsSmall(in)) return;
  if (from.has_floats) return SetFloats(&out, FoldElements(from.floats, in, drop, floats));
  std::vector<int64_t> result = FoldElements(from.ints, in, drop, ints);
  if (!result.empty()) SetInts(&out, std::move(result));
}

template <IntBinary kInts, FloatBinary kFloats>
void Reduce(RuleContext& c) {
  ReduceRule(c, kInts, kFloats);
}

void ArgReduce(RuleContext& c) {
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", 0), c.Rank(0), &axis)) return;
  Dims sizes = c.Sizes(0);
  if (c.node().Int("keepdims", 1) != 0) {
    sizes[static_cast<size_t>(axis)] = 1;
  } else {
    sizes.erase(sizes.begin() + axis);
  }
  c.Out(0, DType::kInt64, std::move(sizes));
}

// CumSum of a short list of integers is computed; what is longer keeps its sizes.
void CumSum(RuleContext& c) {
  BoundValue& out = c.Same();
  const BoundValue& in = c.In(0);
  if (c.Rank(0) != 1 || !in.has_ints || !IsSmall(in.sizes)) return;
  const bool exclusive = c.node().Int("exclusive", 0) != 0, reverse = c.node().Int("reverse", 0) != 0;
  std::vector<int64_t> values = in.ints;
  if (reverse) std::reverse(values.begin(), values.end());
  int64_t sum = 0;
  for (int64_t& value : values) {
    const std::optional<int64_t> next = CheckedAdd(sum, value);
    if (!next.has_value()) return;
    value = exclusive ? sum : *next;
    sum = *next;
  }
  if (reverse) std::reverse(values.begin(), values.end());
  SetInts(&out, std::move(values));
}

constexpr std::array kRules = {
    Rule{"ReduceSum", Reduce<AddInt, AddFloat>},
    Rule{"ReduceProd", Reduce<MulInt, MulFloat>},
    Rule{"ReduceMin", Reduce<MinInt, MinFloat>},
    Rule{"ReduceMax", Reduce<MaxInt, MaxFloat>},
    Rule{"ReduceL1", Reduce<nullptr, nullptr>},
    Rule{"ReduceL2", Reduce<nullptr, nullptr>},
    Rule{"ReduceLogSum", Reduce<nullptr, nullptr>},
    Rule{"ReduceLogSumExp", Reduce<nullptr, nullptr>},
    Rule{"ReduceMean", Reduce<nullptr, nullptr>},
    Rule{"ReduceSumSquare", Reduce<nullptr, nullptr>},
    Rule{"ArgMax", ArgReduce},
    Rule{"ArgMin", ArgReduce},
    Rule{"CumSum", CumSum},
    Rule{"CumProd", LikeFirst},
};

}  // namespace

absl::Span<const Rule> ReduceRules() { return kRules; }

}  // namespace memcrest::shape
