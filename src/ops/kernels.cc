#include "src/ops/kernels.h"

#include <algorithm>

namespace memcrest::kernel {
namespace {

int Category(DType d) { return IsComplex(d) ? 3 : IsFloating(d) ? 2 : IsIntegral(d) ? 1 : 0; }

// What a Python number alone would be; kUndefined if there is none.
DType NumberType(const Attrs& attrs) {
  const AttrValue* number = attrs.Find(Key::kScalar);
  if (number == nullptr) return DType::kUndefined;
  if (std::holds_alternative<double>(*number)) return DType::kFloat32;
  return std::holds_alternative<bool>(*number) ? DType::kBool : DType::kInt64;
}

// `low` counts only if its category is above that of `high`.
DType Outranked(DType high, DType low) {
  if (low == DType::kUndefined) return high;
  if (high == DType::kUndefined) return low;
  return Category(low) > Category(high) ? Promote(high, low) : high;
}

}  // namespace

Value Map(Eager& rt, const Value& a, DType dtype) { return rt.Pointwise(absl::MakeConstSpan(&a, 1), dtype); }

Value Map(Eager& rt, const Value& a, const Value& b, DType dtype) {
  const Value operands[] = {a, b};
  return rt.Pointwise(operands, dtype);
}

Value Map(Eager& rt, const Value& a, const Value& b, const Value& c, DType dtype) {
  const Value operands[] = {a, b, c};
  return rt.Pointwise(operands, dtype);
}

DType PromotedType(absl::Span<const Value> operands, const Attrs& attrs) {
  DType ranked = DType::kUndefined, single = DType::kUndefined;
  for (const Value& v : operands) {
    if (!v) continue;
    DType& into = v.rank() > 0 ? ranked : single;
    into = into == DType::kUndefined ? v.dtype() : Promote(into, v.dtype());
  }
  return Outranked(Outranked(ranked, single), NumberType(attrs));
}

Dims ReducedAxes(const Attrs& attrs, int rank) {
  Dims axes;
  if (const Dims* given = attrs.Ints(Key::kAxes); given != nullptr && !given->empty()) {
    axes = *given;
  } else if (attrs.Has(Key::kAxis)) {
    axes.push_back(attrs.Int(Key::kAxis));
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  for (int64_t& a : axes) a = NormalAxis(a, rank);
  std::sort(axes.begin(), axes.end());
  if (rank == 0) axes.clear();
  return axes;
}

Value Unreduced(Eager& rt, const Value& reduced, const Dims& axes, bool kept, int rank) {
  if (kept || rank == 0 || reduced.rank() == rank) return reduced;
  Dims sizes, strides;
  size_t from = 0;
  for (int i = 0; i < rank; ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    sizes.push_back(gone || from >= reduced.sizes().size() ? 1 : reduced.sizes()[from]);
    strides.push_back(gone || from >= reduced.sizes().size() ? 1 : reduced.strides()[from]);
    if (!gone) ++from;
  }
  return rt.View(reduced, sizes, strides);
}

Values HandOn(Eager& rt, absl::string_view op, const OpCall& call) { return rt.CallAll(op, call.in, call.attrs); }

}  // namespace memcrest::kernel
