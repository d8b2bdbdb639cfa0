#include "src/ops/products.h"

#include <algorithm>
#include <utility>

namespace memcrest {
namespace {

bool ColumnMajor(const Meta& m) { return m.sizes.size() == 2 && m.strides[0] == 1 && m.strides[1] == m.sizes[0]; }

// The copy a kernel makes of an operand it cannot read; no dispatcher sees it.
HiddenBlock ReadableCopy(Eager& rt, const Value& v) { return rt.Hidden(CublasReadable(v.meta()) ? 0 : v.bytes()); }

}  // namespace

bool CublasReadable(const Meta& meta) {
  const size_t rank = meta.sizes.size();
  if (rank < 2 || IsDense(meta)) return true;
  const int64_t rows = meta.sizes[rank - 2], cols = meta.sizes[rank - 1];
  const int64_t row = meta.strides[rank - 2], col = meta.strides[rank - 1];
  return (col == 1 && row >= std::max<int64_t>(1, cols)) || (row == 1 && col >= std::max<int64_t>(1, rows));
}

Value Product(Eager& rt, const Value& a, const Value& b) {
  Dims sizes = a.sizes();
  sizes.back() = b.size(-1);
  Value result = rt.Empty(sizes, a.dtype());
  const HiddenBlock first = ReadableCopy(rt, a), second = ReadableCopy(rt, b);
  rt.UseCublas();
  return result;
}

Value Swapped(Eager& rt, const Value& v) { return rt.Transposed(v, -2, -1); }

Value LeftGradient(Eager& rt, const Value& grad, const Value& b, const Meta& a) {
  if (ColumnMajor(a)) return Swapped(rt, Product(rt, b, Swapped(rt, grad)));
  return Product(rt, grad, Swapped(rt, b));
}

Value RightGradient(Eager& rt, const Value& grad, const Value& a, const Meta& b) {
  if (ColumnMajor(b)) return Swapped(rt, Product(rt, Swapped(rt, grad), a));
  return Product(rt, Swapped(rt, a), grad);
}

Value MaybeMultiplied(Eager& rt, Value v, double factor) { return factor == 1.0 ? std::move(v) : rt.EmptyLike(v); }

}  // namespace memcrest
