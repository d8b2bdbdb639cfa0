// Rules of sequences and optionals, whose elements are followed one by one.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

void SetSequence(RuleContext& c, SequenceValue value) {
  c.OutSequence(0, std::make_shared<const SequenceValue>(std::move(value)));
}

// nullptr (after failing) if input 0 is no sequence.
Sequence Input(RuleContext& c) {
  if (c.IsSequence(0)) return c.InSlot(0).sequence;
  c.Fail("needs a sequence");
  return nullptr;
}

void SequenceEmpty(RuleContext& c) {
  const DType dtype = DTypeOf(c.node().Int("dtype", 1));
  SetSequence(c, {{}, dtype, true, false});
}

void SequenceConstruct(RuleContext& c) {
  SequenceValue value;
  value.dtype = c.Type(0);
  for (int i = 0; i < c.inputs(); ++i) value.items.push_back(c.In(i));
  SetSequence(c, std::move(value));
}

// Where an unknown position goes does not matter to what is held: the end.
void SequenceInsert(RuleContext& c) {
  const Sequence in = Input(c);
  if (in == nullptr) return;
  const int64_t n = static_cast<int64_t>(in->items.size());
  const int64_t at = c.Scalar(2).value_or(n);
  SequenceValue value = *in;
  value.items.insert(value.items.begin() + std::clamp<int64_t>(at < 0 ? at + n : at, 0, n), c.In(1));
  SetSequence(c, std::move(value));
}

void SequenceErase(RuleContext& c) {
  const Sequence in = Input(c);
  if (in == nullptr) return;
  const int64_t n = static_cast<int64_t>(in->items.size()), at = c.Scalar(1).value_or(-1);
  if (n == 0 || at < -n || at >= n) {
    c.Fail(absl::StrCat("position ", at, " of a sequence of ", n));
    return;
  }
  SequenceValue value = *in;
  value.items.erase(value.items.begin() + (at < 0 ? at + n : at));
  SetSequence(c, std::move(value));
}

// An unknown position takes the largest element.
void SequenceAt(RuleContext& c) {
  const Sequence in = Input(c);
  if (in == nullptr) return;
  const int64_t n = static_cast<int64_t>(in->items.size());
  const std::optional<int64_t> at = c.Scalar(1);
  if (n == 0 || (at.has_value() && (*at < -n || *at >= n))) {
    c.Fail(absl::StrCat("position ", at.value_or(0), " of a sequence of ", n));
    return;
  }
  if (at.has_value()) {
    return c.OutSlot(0, {State::kTensor, in->items[static_cast<size_t>(*at < 0 ? *at + n : *at)], nullptr});
  }
  const auto largest = std::max_element(
      in->items.begin(), in->items.end(),
      [](const BoundValue& a, const BoundValue& b) { return NumElements(a.sizes) < NumElements(b.sizes); });
  c.Bounded(0, largest->dtype, largest->sizes);
}

void SequenceLength(RuleContext& c) {
  const Sequence in = Input(c);
  if (in == nullptr) return;
  SetInts(&c.Out(0, DType::kInt64, {}), {static_cast<int64_t>(in->items.size())});
}

// Chunks of a scalar `split` size, of listed sizes, or single slices (which keepdims=0 squeezes).
void SplitToSequence(RuleContext& c) {
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", 0), c.Rank(0), &axis)) return;
  const size_t a = static_cast<size_t>(axis);
  const int64_t size = c.Sizes(0)[a];
  const IntList split = c.Ints(1);
  const bool squeeze = !c.Has(1) && c.node().Int("keepdims", 1) == 0, listed = c.Has(1) && c.Rank(1) == 1;
  std::vector<int64_t> parts(split.values.begin(), split.values.end());
  if (!listed || !split.known) {
    const int64_t part = std::max<int64_t>(c.Scalar(1).value_or(1), 1);
    parts.clear();
    for (int64_t at = 0; at < size && static_cast<int64_t>(parts.size()) < onnx::kLiteralElements; at += part) {
      parts.push_back(std::min(part, size - at));
    }
  }
  SequenceValue value;
  value.dtype = c.Type(0);
  for (const int64_t part : parts) {
    BoundValue item = c.In(0);
    item.has_ints = item.has_floats = false;
    item.sizes[a] = part;
    if (squeeze) item.sizes.erase(item.sizes.begin() + axis);
    value.items.push_back(std::move(item));
  }
  SetSequence(c, std::move(value));
}

// Joins along an existing axis or stacks along a new one.
void ConcatFromSequence(RuleContext& c) {
  const Sequence in = Input(c);
  if (in == nullptr) return;
  if (in->items.empty()) return c.Fallback();
  const bool stack = c.node().Int("new_axis", 0) != 0;
  Dims sizes = in->items[0].sizes;
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", 0), static_cast<int>(sizes.size()) + (stack ? 1 : 0), &axis)) return;
  const size_t a = static_cast<size_t>(axis);
  bool ints = sizes.size() <= 1;
  std::vector<int64_t> joined;
  if (stack) sizes.insert(sizes.begin() + axis, static_cast<int64_t>(in->items.size()));
  for (size_t i = 0; i < in->items.size(); ++i) {
    const BoundValue& item = in->items[i];
    if (item.sizes.size() + (stack ? 1 : 0) != sizes.size()) {
      c.Fail("elements differ in rank");
      return;
    }
    if (!stack && i > 0) sizes[a] += item.sizes[a];
    ints = ints && item.has_ints && joined.size() <= static_cast<size_t>(kComputeElements);
    if (ints) joined.insert(joined.end(), item.ints.begin(), item.ints.end());
  }
  BoundValue& out = c.Out(0, in->items[0].dtype, std::move(sizes));
  if (ints && axis == 0 && IsSmall(out.sizes)) SetInts(&out, std::move(joined));
  out.upper_bound = !in->length_known;
}

// An optional is what it holds; an empty one is a sequence that says so.
void Optional(RuleContext& c) {
  if (c.Has(0)) return c.OutSlot(0, c.InSlot(0));
  SetSequence(c, {{}, DType::kUndefined, true, true});
}

bool IsEmptyOptional(const RuleContext& c) { return c.IsSequence(0) && c.InSlot(0).sequence->empty_optional; }

void OptionalGetElement(RuleContext& c) {
  if (IsEmptyOptional(c)) {
    c.Fail("the optional is empty");
    return;
  }
  c.OutSlot(0, c.InSlot(0));
}

void OptionalHasElement(RuleContext& c) {
  SetInts(&c.Out(0, DType::kBool, {}), {c.Has(0) && !IsEmptyOptional(c) ? 1 : 0});
}

constexpr std::array kRules = {
    Rule{"SequenceEmpty", SequenceEmpty, 0},
    Rule{"SequenceConstruct", SequenceConstruct},
    Rule{"SequenceInsert", SequenceInsert, 2, true},
    Rule{"SequenceErase", SequenceErase, 1, true},
    Rule{"SequenceAt", SequenceAt, 2, true},
    Rule{"SequenceLength", SequenceLength, 1, true},
    Rule{"SplitToSequence", SplitToSequence},
    Rule{"ConcatFromSequence", ConcatFromSequence, 1, true},
    Rule{"Optional", Optional, 0, true},
    Rule{"OptionalGetElement", OptionalGetElement, 1, true},
    Rule{"OptionalHasElement", OptionalHasElement, 0, true},
};

}  // namespace

absl::Span<const Rule> SequenceRules() { return kRules; }

}  // namespace memcrest::shape
