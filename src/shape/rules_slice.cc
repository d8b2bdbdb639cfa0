// Rules of operators that cut and join: Concat, Split, Slice, Pad, Compress, Unique.
#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/str_cat.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// Host elements of inputs joined along `axis`, block by block.
void JoinHost(const RuleContext& c, size_t axis, BoundValue* out) {
  BoundValue joined;
  joined.has_ints = joined.has_floats = true;
  for (int i = 0; i < c.inputs(); ++i) {
    joined.has_ints &= c.In(i).has_ints || NumElements(c.Sizes(i)) == 0;
    joined.has_floats &= c.In(i).has_floats || NumElements(c.Sizes(i)) == 0;
  }
  if (!joined.has_ints && !joined.has_floats) return;
  const int64_t blocks = NumElements(DimSpan(out->sizes).first(axis));
  for (int64_t b = 0; b < blocks; ++b) {
    for (int i = 0; i < c.inputs(); ++i) {
      const BoundValue& in = c.In(i);
      const int64_t block = NumElements(in.sizes) / blocks;
      const auto append = [&](const auto& from, auto* to) {
        to->insert(to->end(), from.begin() + b * block, from.begin() + (b + 1) * block);
      };
      joined.has_ints ? append(in.ints, &joined.ints) : append(in.floats, &joined.floats);
    }
  }
  joined.has_ints ? SetInts(out, std::move(joined.ints)) : SetFloats(out, std::move(joined.floats));
}

void Concat(RuleContext& c) {
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", 1), c.Rank(0), &axis)) return;
  const size_t a = static_cast<size_t>(axis);
  Dims sizes = c.Sizes(0);
  for (int i = 1; i < c.inputs(); ++i) {
    const Dims& next = c.Sizes(i);
    bool fits = next.size() == sizes.size();
    for (size_t d = 0; fits && d < sizes.size(); ++d) fits = d == a || next[d] == sizes[d];
    if (!fits) {
      c.Fail(absl::StrCat("sizes ", ToText(sizes), " and ", ToText(next), " differ outside axis ", axis));
      return;
    }
    sizes[a] = Plus(sizes[a], next[a]);
  }
  BoundValue& out = c.Out(0, c.Type(0), std::move(sizes));
  if (!c.failed() && NumElements(out.sizes) > 0 && IsSmall(out.sizes)) JoinHost(c, a, &out);
}

// Sizes of the parts: stated (input or attribute), or equal ones of which the last may be smaller.
bool PartSizes(RuleContext& c, int64_t size, std::vector<int64_t>* parts) {
  const IntList stated = c.Ints(1, "split");
  const int64_t count = c.node().Int("num_outputs", c.outputs());
  if (stated.present && stated.known) {
    parts->assign(stated.values.begin(), stated.values.end());
    int64_t total = 0;
    for (const int64_t part : *parts) total = Plus(total, part);
    if (total != size) return c.Fail(absl::StrCat("parts of ", total, " elements in total for a dimension of ", size));
  } else {
    if (count < c.outputs() || count > onnx::kLiteralElements) return c.Fail("num_outputs does not fit the outputs");
    const int64_t part = CeilDiv(size, std::max<int64_t>(count, 1));
    for (int64_t i = 0; i < count; ++i) parts->push_back(std::clamp<int64_t>(size - i * part, 0, part));
  }
  return static_cast<int>(parts->size()) >= c.outputs() || c.Fail("more outputs than parts");
}

void Split(RuleContext& c) {
  int axis = 0;
  std::vector<int64_t> parts;
  if (!c.Axis(c.node().Int("axis", 0), c.Rank(0), &axis)) return;
  const size_t a = static_cast<size_t>(axis);
  if (!PartSizes(c, c.Sizes(0)[a], &parts)) return;
  const Dims strides = ContiguousStrides(c.Sizes(0));
  const bool unknown = c.Has(1) && !c.Ints(1).known;
  int64_t start = 0;
  for (int i = 0; i < c.outputs(); ++i) {
    Dims sizes = c.Sizes(0);
    sizes[a] = parts[static_cast<size_t>(i)];
    BoundValue& out = unknown ? c.Undetermined(i, c.Type(0), std::move(sizes)) : c.Out(i, c.Type(0), std::move(sizes));
    if (!c.failed() && !unknown && IsSmall(out.sizes)) TakeStrided(c.In(0), start * strides[a], strides, &out);
    start += parts[static_cast<size_t>(i)];
  }
}

// starts, ends, axes, steps: inputs from opset 10 on, attributes before.
struct SliceArguments {
  IntList starts, ends, axes, steps;
};

// The half-open range that one dimension keeps, as start and count; numpy's clamping.
void CutDimension(int64_t size, int64_t start, int64_t end, int64_t step, int64_t* first, int64_t* count) {
  const auto from_back = [&](int64_t i) { return i < 0 ? i + size : i; };
  if (step > 0) {
    start = std::clamp<int64_t>(from_back(start), 0, size);
    end = std::clamp<int64_t>(from_back(std::max(end, -size)), 0, size);
    *count = end > start ? (end - start - 1) / step + 1 : 0;
  } else {
    start = std::clamp<int64_t>(from_back(start), -1, size - 1);
    end = end < -size ? -1 : std::clamp<int64_t>(from_back(end), -1, size - 1);
    *count = start > end ? (start - end - 1) / -std::max(step, -INT64_MAX) + 1 : 0;
  }
  *first = start;
}

// Some bound is unknown: what may be cut is at most the whole dimension.
void SliceUnknown(RuleContext& c) { c.Bounded(0, c.Type(0), c.Sizes(0)); }

void Slice(RuleContext& c) {
  const SliceArguments args = {c.Ints(1, "starts"), c.Ints(2, "ends"), c.Ints(3, "axes"), c.Ints(4)};
  const bool unknown_axes = (args.axes.present && !args.axes.known) || (args.steps.present && !args.steps.known);
  if (!args.starts.known || !args.ends.known || unknown_axes) return SliceUnknown(c);
  const size_t n = args.starts.values.size();
  if (args.ends.values.size() != n || (args.axes.present && args.axes.values.size() != n) ||
      (args.steps.present && args.steps.values.size() != n)) {
    c.Fail("starts, ends, axes and steps differ in length");
    return;
  }
  Dims sizes = c.Sizes(0), strides = ContiguousStrides(sizes);
  int64_t offset = 0;
  for (size_t i = 0; i < n; ++i) {
    int axis = 0;
    const int64_t step = args.steps.present ? args.steps.values[i] : 1;
    if (!c.Axis(args.axes.present ? args.axes.values[i] : static_cast<int64_t>(i), c.Rank(0), &axis)) return;
    if (step == 0) {
      c.Fail("a step of 0");
      return;
    }
    const size_t a = static_cast<size_t>(axis);
    int64_t first = 0;
    CutDimension(sizes[a], args.starts.values[i], args.ends.values[i], step, &first, &sizes[a]);
    offset += first * strides[a];
    if (sizes[a] > 1) strides[a] = Times(strides[a], step);
  }
  BoundValue& out = c.Out(0, c.Type(0), std::move(sizes));
  if (!c.failed() && IsSmall(out.sizes)) TakeStrided(c.In(0), offset, strides, &out);
}

// Pads per dimension: [begins, ends] of the stated axes (input 3, opset 18 on), else of all.
void Pad(RuleContext& c) {
  const IntList pads = c.Ints(1, c.opset() < 2 ? "paddings" : "pads"), axes = c.Ints(3);
  Dims sizes = c.Sizes(0);
  if (!pads.known || (axes.present && !axes.known)) {
    c.Undetermined(0, c.Type(0), std::move(sizes));
    return;
  }
  const size_t n = axes.present ? axes.values.size() : sizes.size();
  if (pads.values.size() != 2 * n) {
    c.Fail(absl::StrCat(pads.values.size(), " pads for ", n, " dimensions"));
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    int axis = 0;
    if (!c.Axis(axes.present ? axes.values[i] : static_cast<int64_t>(i), c.Rank(0), &axis)) return;
    int64_t& size = sizes[static_cast<size_t>(axis)];
    size = Plus(size, Plus(pads.values[i], pads.values[i + n]));
  }
  c.Out(0, c.Type(0), std::move(sizes));
}

// Keeps the slices whose condition is true; without axis of the flattened input.
void Compress(RuleContext& c) {
  Dims sizes = c.Sizes(0);
  int axis = 0;
  const bool flat = c.node().Find("axis") == nullptr;
  if (flat) sizes = {NumElements(sizes)};
  if (!flat && !c.Axis(c.node().Int("axis", 0), c.Rank(0), &axis)) return;
  const BoundValue& condition = c.In(1);
  int64_t& kept = sizes[static_cast<size_t>(axis)];
  if (!condition.has_ints) {
    kept = std::min(kept, NumElements(condition.sizes));
    c.Bounded(0, c.Type(0), std::move(sizes));
    return;
  }
  kept = std::count_if(condition.ints.begin(), condition.ints.end(), [](int64_t x) { return x != 0; });
  c.Out(0, c.Type(0), std::move(sizes));
}

// Y, indices, inverse_indices, counts: all but the third as long as there are distinct elements (or slices).
void Unique(RuleContext& c) {
  Dims sizes = c.Sizes(0);
  int axis = 0;
  const bool flat = c.node().Find("axis") == nullptr;
  if (flat) sizes = {NumElements(sizes)};
  if (!flat && !c.Axis(c.node().Int("axis", 0), c.Rank(0), &axis)) return;
  int64_t& count = sizes[static_cast<size_t>(axis)];
  const int64_t all = count;
  const bool known = HasHost(c.In(0)) && (flat || c.Rank(0) == 1);
  if (c.In(0).has_ints && known)
    count = static_cast<int64_t>(std::set(c.In(0).ints.begin(), c.In(0).ints.end()).size());
  if (c.In(0).has_floats && known) {
    count = static_cast<int64_t>(std::set(c.In(0).floats.begin(), c.In(0).floats.end()).size());
  }
  for (const int i : {1, 3}) c.Out(i, DType::kInt64, {count}).upper_bound = !known;
  c.Out(2, DType::kInt64, {all});
  known ? c.Out(0, c.Type(0), std::move(sizes)) : c.Bounded(0, c.Type(0), std::move(sizes));
}

constexpr std::array kRules = {
    Rule{"Concat", Concat}, Rule{"Split", Split},          Rule{"Slice", Slice},
    Rule{"Pad", Pad},       Rule{"Compress", Compress, 2}, Rule{"Unique", Unique},
};

}  // namespace

absl::Span<const Rule> SliceRules() { return kRules; }

}  // namespace memcrest::shape
