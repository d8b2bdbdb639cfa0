// Rules of operators that address elements by indices: Gather*, Scatter*, TopK, OneHot, NonZero, and those that keep
// sizes.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// Flat positions of data[..., indices, ...] along `axis`; empty if an index is out of range.
std::vector<int64_t> GatherPositions(const BoundValue& data, const std::vector<int64_t>& indices, size_t axis) {
  const int64_t inner = NumElements(DimSpan(data.sizes).subspan(axis + 1));
  const int64_t outer = NumElements(DimSpan(data.sizes).first(axis)), size = data.sizes[axis];
  std::vector<int64_t> positions;
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : indices) {
      const int64_t i = index < 0 ? index + size : index;
      if (i < 0 || i >= size) return {};
      for (int64_t k = 0; k < inner; ++k) positions.push_back((o * size + i) * inner + k);
    }
  }
  return positions;
}

void Gather(RuleContext& c) {
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", 0), c.Rank(0), &axis)) return;
  const Dims &data = c.Sizes(0), &indices = c.Sizes(1);
  Dims sizes(data.begin(), data.begin() + axis);
  Append(&sizes, indices.begin(), indices.end());
  Append(&sizes, data.begin() + axis + 1, data.end());
  BoundValue& out = c.Out(0, c.Type(0), std::move(sizes));
  if (c.failed() || !HasHost(c.In(0)) || !c.In(1).has_ints || !IsSmall(out.sizes)) return;
  const std::vector<int64_t> positions = GatherPositions(c.In(0), c.In(1).ints, static_cast<size_t>(axis));
  if (static_cast<int64_t>(positions.size()) == NumElements(out.sizes)) TakeFlat(c.In(0), positions, &out);
}

void GatherElements(RuleContext& c) {
  if (c.Rank(0) != c.Rank(1)) {
    c.Fail("data and indices differ in rank");
    return;
  }
  BoundValue& out = c.Out(0, c.Type(0), c.Sizes(1));
  if (c.Rank(0) != 1 || !HasHost(c.In(0)) || !c.In(1).has_ints || !IsSmall(out.sizes)) return;
  const std::vector<int64_t> positions = GatherPositions(c.In(0), c.In(1).ints, 0);
  if (static_cast<int64_t>(positions.size()) == NumElements(out.sizes)) TakeFlat(c.In(0), positions, &out);
}

// Flat start of the slice that each index tuple (the last dimension of `indices`) addresses; empty if out of range.
std::vector<int64_t> TuplePositions(DimSpan data, const BoundValue& indices) {
  const size_t depth = static_cast<size_t>(indices.sizes.back());
  const Dims strides = ContiguousStrides(data);
  std::vector<int64_t> positions;
  if (depth == 0) return positions;
  for (size_t at = 0; at + depth <= indices.ints.size(); at += depth) {
    int64_t position = 0;
    for (size_t d = 0; d < depth; ++d) {
      const int64_t i = indices.ints[at + d] < 0 ? indices.ints[at + d] + data[d] : indices.ints[at + d];
      if (i < 0 || i >= data[d]) return {};
      position += i * strides[d];
    }
    positions.push_back(position);
  }
  return positions;
}

bool HasTuples(RuleContext& c, int64_t batch_dims) {
  const Dims &data = c.Sizes(0), &indices = c.Sizes(1);
  if (indices.empty() || batch_dims < 0 || batch_dims >= c.Rank(1)) return c.Fail("indices of too low a rank");
  if (batch_dims + indices.back() > c.Rank(0)) {
    return c.Fail(absl::StrCat("index tuples of ", indices.back(), " into a tensor of rank ", data.size()));
  }
  return true;
}

// indices[..., depth]: each tuple addresses a slice of data behind `batch_dims` common dimensions.
void GatherNd(RuleContext& c) {
  const int64_t batch_dims = c.node().Int("batch_dims", 0);
  if (!HasTuples(c, batch_dims)) return;
  const Dims &data = c.Sizes(0), &indices = c.Sizes(1);
  const int64_t depth = indices.back();
  Dims sizes(indices.begin(), indices.end() - 1);
  Append(&sizes, data.begin() + batch_dims + depth, data.end());
  BoundValue& out = c.Out(0, c.Type(0), std::move(sizes));
  if (c.failed() || batch_dims != 0 || !HasHost(c.In(0)) || !c.In(1).has_ints || !IsSmall(out.sizes)) return;
  const int64_t inner = NumElements(DimSpan(data).subspan(static_cast<size_t>(depth)));
  std::vector<int64_t> positions;
  for (const int64_t start : TuplePositions(data, c.In(1))) {
    for (int64_t k = 0; k < inner; ++k) positions.push_back(start + k);
  }
  if (static_cast<int64_t>(positions.size()) == NumElements(out.sizes)) TakeFlat(c.In(0), positions, &out);
}

// Host elements of data with updates written over those at `positions`, `inner` elements each.
void WriteHost(const BoundValue& data, const BoundValue& updates, absl::Span<const int64_t> positions, int64_t inner,
               BoundValue* out) {
  const auto write = [&](const auto& from, auto* to) {
    if (static_cast<int64_t>(from.size()) != static_cast<int64_t>(positions.size()) * inner) return false;
    for (size_t i = 0; i < from.size(); ++i) {
      (*to)[static_cast<size_t>(positions[i / static_cast<size_t>(inner)] + static_cast<int64_t>(i) % inner)] = from[i];
    }
    return true;
  };
  CopyHost(data, out);
  if (data.has_ints) out->has_ints = updates.has_ints && write(updates.ints, &out->ints);
  if (data.has_floats) out->has_floats = updates.has_floats && write(updates.floats, &out->floats);
}

bool Overwrites(const RuleContext& c) { return c.node().String("reduction", "none") == "none"; }

void ScatterNd(RuleContext& c) {
  if (!HasTuples(c, 0)) return;
  BoundValue& out = c.Same();
  const BoundValue &data = c.In(0), &indices = c.In(1);
  if (!Overwrites(c) || !HasHost(data) || !indices.has_ints || !IsSmall(out.sizes)) return;
  const int64_t inner = NumElements(DimSpan(data.sizes).subspan(static_cast<size_t>(indices.sizes.back())));
  if (inner > 0) WriteHost(data, c.In(2), TuplePositions(data.sizes, indices), inner, &out);
}

// ScatterElements and its first name Scatter.
void ScatterElements(RuleContext& c) {
  BoundValue& out = c.Same();
  const BoundValue &data = c.In(0), &indices = c.In(1);
  if (c.Rank(0) != 1 || !Overwrites(c) || !HasHost(data) || !indices.has_ints || !IsSmall(out.sizes)) return;
  WriteHost(data, c.In(2), GatherPositions(data, indices.ints, 0), 1, &out);
}

// Values and indices. k is an attribute before opset 10; where it is unknown, the whole dimension bounds it.
void TopK(RuleContext& c) {
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", -1), c.Rank(0), &axis)) return;
  Dims sizes = c.Sizes(0);
  int64_t& size = sizes[static_cast<size_t>(axis)];
  const std::optional<int64_t> k = c.Has(1) ? c.Scalar(1) : std::optional(c.node().Int("k", 1));
  if (k.has_value() && (*k < 0 || *k > size)) {
    c.Fail(absl::StrCat("k is ", *k, " of ", size, " elements"));
    return;
  }
  size = k.value_or(size);
  BoundValue& indices = c.Out(1, DType::kInt64, sizes);
  indices.upper_bound = !k.has_value();
  k.has_value() ? c.Out(0, c.Type(0), std::move(sizes)) : c.Bounded(0, c.Type(0), std::move(sizes));
}

// indices, depth, values[off, on]: depth becomes a dimension at `axis`.
void OneHot(RuleContext& c) {
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", -1), c.Rank(0) + 1, &axis)) return;
  const BoundValue& depth = c.In(1);
  Dims sizes = c.Sizes(0);
  const bool known = HasHost(depth) && NumElements(depth.sizes) == 1;
  sizes.insert(sizes.begin() + axis, known ? FromDouble(AsDouble(depth, 0)) : 1);
  known ? c.Out(0, c.Type(2), std::move(sizes)) : c.Undetermined(0, c.Type(2), std::move(sizes));
}

// [rank, count] positions of the elements that are not zero.
void NonZero(RuleContext& c) {
  const BoundValue& in = c.In(0);
  const int64_t rank = std::max(c.Rank(0), 1);
  if (!HasHost(in)) {
    c.Bounded(0, DType::kInt64, {rank, NumElements(in.sizes)});
    return;
  }
  std::vector<int64_t> found;
  const size_t n = in.has_ints ? in.ints.size() : in.floats.size();
  for (size_t i = 0; i < n; ++i) {
    if (AsDouble(in, i) != 0) found.push_back(static_cast<int64_t>(i));
  }
  BoundValue& out = c.Out(0, DType::kInt64, {rank, static_cast<int64_t>(found.size())});
  if (!IsSmall(out.sizes)) return;
  const Dims sizes = in.sizes.empty() ? Dims{1} : in.sizes, strides = ContiguousStrides(sizes);
  std::vector<int64_t> positions;
  for (size_t d = 0; d < sizes.size(); ++d) {
    for (const int64_t i : found) positions.push_back(i / strides[d] % sizes[d]);
  }
  SetInts(&out, std::move(positions));
}

constexpr std::array kRules = {
    Rule{"Gather", Gather, 2},
    Rule{"GatherElements", GatherElements, 2},
    Rule{"GatherND", GatherNd, 2},
    Rule{"ScatterND", ScatterNd, 3},
    Rule{"ScatterElements", ScatterElements, 3},
    Rule{"Scatter", ScatterElements, 3},
    Rule{"TopK", TopK},
    Rule{"OneHot", OneHot, 3},
    Rule{"NonZero", NonZero},
    Rule{"ReverseSequence", LikeFirst},
    Rule{"Trilu", LikeFirst},
};

}  // namespace

absl::Span<const Rule> IndexRules() { return kRules; }

}  // namespace memcrest::shape
