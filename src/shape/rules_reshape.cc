// Rules of operators that move no element: Reshape, Squeeze, Transpose ..., and Shape and Size, where host values
// begin.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/shape/frozen_shape.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

void SetReshaped(RuleContext& c, Dims sizes) { CopyHost(c.In(0), &c.Out(0, c.Type(0), std::move(sizes))); }

// Frees the one element of the target that the exporter froze.
void Thaw(RuleContext& c, int64_t elements, Dims* sizes) {
  if (!c.Has(1)) return;
  const std::optional<size_t> frozen = FindFrozenElement(c.frame(), c.node().inputs[1], *sizes, elements);
  if (!frozen.has_value()) return;
  (*sizes)[*frozen] = 1;
  (*sizes)[*frozen] = elements / NumElements(*sizes);
  c.CountFrozen();
}

// A dimension of 0 copies the input's (unless allowzero), one of -1 takes what is left.
void Reshape(RuleContext& c) {
  const IntList shape = c.Ints(1, "shape");
  const Dims& in = c.Sizes(0);
  if (!shape.known) {
    c.Undetermined(0, c.Type(0), in);
    return;
  }
  const bool copy_zero = c.node().Int("allowzero", 0) == 0;
  Dims sizes;
  int64_t product = 1;  // of the stated sizes; more than there can be counts as one more
  int open = -1;
  for (const int64_t wanted : shape.values) {
    const size_t d = sizes.size();
    if (wanted == -1) open = static_cast<int>(d);
    sizes.push_back(wanted == 0 && copy_zero && d < in.size() ? in[d] : wanted);
    if (wanted != -1) product = CheckedMul(product, sizes.back()).value_or(kMaxElements + 1);
  }
  const int64_t elements = NumElements(in);
  if (open >= 0) sizes[static_cast<size_t>(open)] = product == 0 ? 0 : elements / product;
  if (open < 0 && product != elements && product > 0) Thaw(c, elements, &sizes);
  if (CheckedNumElements(sizes) != elements) {
    c.Fail(absl::StrCat(elements, " elements do not make up [", absl::StrJoin(shape.values, ", "), "]"));
    return;
  }
  SetReshaped(c, std::move(sizes));
}

void Flatten(RuleContext& c) {
  const Dims& in = c.Sizes(0);
  const int64_t axis = c.node().Int("axis", 1), rank = c.Rank(0);
  if (axis < -rank || axis > rank) {
    c.Fail(absl::StrCat("axis ", axis, " of a tensor of rank ", rank));
    return;
  }
  const size_t split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  SetReshaped(c, {NumElements(DimSpan(in).first(split)), NumElements(DimSpan(in).subspan(split))});
}

void Squeeze(RuleContext& c) {
  const IntList axes = c.Ints(1, "axes");
  const Dims& in = c.Sizes(0);
  std::vector<bool> drop(in.size());
  if (axes.present && axes.known) {
    if (!AxisFlags(c, axes.values, c.Rank(0), &drop)) return;
  } else {
    for (size_t d = 0; d < in.size(); ++d) drop[d] = in[d] == 1;
  }
  Dims sizes;
  for (size_t d = 0; d < in.size(); ++d) {
    if (!drop[d]) sizes.push_back(in[d]);
    if (!drop[d] || in[d] == 1) continue;
    c.Fail(absl::StrCat("dimension ", d, " has ", in[d], " elements and cannot be dropped"));
    return;
  }
  if (axes.present && !axes.known) {
    c.Undetermined(0, c.Type(0), std::move(sizes));
    return;
  }
  SetReshaped(c, std::move(sizes));
}

void Unsqueeze(RuleContext& c) {
  const IntList axes = c.Ints(1, "axes");
  const Dims& in = c.Sizes(0);
  if (!axes.present || !axes.known) {
    c.Undetermined(0, c.Type(0), in);
    return;
  }
  std::vector<bool> added;
  if (!AxisFlags(c, axes.values, c.Rank(0) + static_cast<int>(axes.values.size()), &added)) return;
  if (std::count(added.begin(), added.end(), true) != static_cast<std::ptrdiff_t>(axes.values.size())) {
    c.Fail("an axis is named twice");
    return;
  }
  Dims sizes;
  size_t next = 0;
  for (const bool is_new : added) sizes.push_back(is_new ? 1 : in[next++]);
  SetReshaped(c, std::move(sizes));
}

void Transpose(RuleContext& c) {
  const std::vector<int64_t>* perm = c.node().Ints("perm");
  const Dims &in = c.Sizes(0), from = ContiguousStrides(in);
  const size_t rank = in.size();
  if (perm != nullptr && perm->size() != rank) {
    c.Fail(absl::StrCat("perm has ", perm->size(), " numbers for a tensor of rank ", rank));
    return;
  }
  Dims sizes(rank), strides(rank);
  std::vector<bool> used(rank, false);
  for (size_t d = 0; d < rank; ++d) {
    int source = static_cast<int>(rank - 1 - d);
    if (perm != nullptr && !c.Axis((*perm)[d], c.Rank(0), &source)) return;
    const size_t s = static_cast<size_t>(source);
    if (used[s]) {
      c.Fail("perm names a dimension twice");
      return;
    }
    used[s] = true;
    sizes[d] = in[s];
    strides[d] = from[s];
  }
  TakeStrided(c.In(0), 0, strides, &c.Out(0, c.Type(0), std::move(sizes)));
}

void Expand(RuleContext& c) {
  const IntList shape = c.Ints(1);
  if (!shape.known) {
    c.Undetermined(0, c.Type(0), c.Sizes(0));
    return;
  }
  std::optional<Dims> sizes = Broadcast(c.Sizes(0), shape.values);
  if (!sizes.has_value()) {
    c.Fail(absl::StrCat("cannot be expanded to ", ToText(shape.values)));
    return;
  }
  BoundValue& out = c.Out(0, c.Type(0), *std::move(sizes));
  if (c.failed() || !IsSmall(out.sizes)) return;
  TakeStrided(c.In(0), 0, BroadcastStrides(c.Sizes(0), out.sizes.size()), &out);
}

// Repeats per dimension; before opset 6 a count and one axis.
bool ReadRepeats(RuleContext& c, Dims* repeats) {
  const size_t rank = c.Sizes(0).size();
  if (c.opset() < 6 && c.Has(2)) {
    const std::optional<int64_t> tiles = c.Scalar(1), axis = c.Scalar(2);
    if (!tiles.has_value() || !axis.has_value() || *axis < 0 || *axis >= c.Rank(0)) return false;
    repeats->assign(rank, 1);
    (*repeats)[static_cast<size_t>(*axis)] = *tiles;
    return true;
  }
  const IntList list = c.Ints(1);
  repeats->assign(list.values.begin(), list.values.end());
  return list.known && repeats->size() == rank;
}

void Tile(RuleContext& c) {
  Dims repeats;
  Dims sizes = c.Sizes(0);
  if (!ReadRepeats(c, &repeats)) {
    c.Undetermined(0, c.Type(0), std::move(sizes));
    return;
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] = Times(sizes[d], repeats[d]);
  }
  BoundValue& out = c.Out(0, c.Type(0), std::move(sizes));
  if (c.failed() || !IsSmall(out.sizes) || !HasHost(c.In(0))) return;
  const Dims own = ContiguousStrides(c.Sizes(0)), outer = ContiguousStrides(out.sizes);
  std::vector<int64_t> indices(static_cast<size_t>(NumElements(out.sizes)), 0);
  for (size_t k = 0; k < indices.size(); ++k) {
    for (size_t d = 0; d < own.size(); ++d) {
      const int64_t position = static_cast<int64_t>(k) / outer[d] % out.sizes[d];
      indices[k] += position % c.Sizes(0)[d] * own[d];
    }
  }
  TakeFlat(c.In(0), indices, &out);
}

// start and end select dimensions (opset 15 on) and are clamped.
void Shape(RuleContext& c) {
  const int64_t rank = c.Rank(0);
  const auto clamp = [&](int64_t d) { return std::clamp<int64_t>(d < 0 ? d + rank : d, 0, rank); };
  const int64_t start = clamp(c.node().Int("start", 0)), end = std::max(start, clamp(c.node().Int("end", rank)));
  const Dims& in = c.Sizes(0);
  SetInts(&c.Out(0, DType::kInt64, {end - start}), std::vector<int64_t>(in.begin() + start, in.begin() + end));
}

void Size(RuleContext& c) { SetInts(&c.Out(0, DType::kInt64, {}), {NumElements(c.Sizes(0))}); }

constexpr std::array kRules = {
    Rule{"Reshape", Reshape},     Rule{"Flatten", Flatten},     Rule{"Squeeze", Squeeze},
    Rule{"Unsqueeze", Unsqueeze}, Rule{"Transpose", Transpose}, Rule{"Expand", Expand, 2},
    Rule{"Tile", Tile, 2},        Rule{"Shape", Shape},         Rule{"Size", Size},
};

}  // namespace

absl::Span<const Rule> ReshapeRules() { return kRules; }

}  // namespace memcrest::shape
