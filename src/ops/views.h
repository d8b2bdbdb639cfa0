// What the families of views, copies and indexing share: result sizes, views with another element type, watched
// temporaries.
//
// Takes: an operator's call or values.  Gives: sizes, values on the same storage.  Views allocate nothing; their offset
// into the storage is not kept, because no byte count depends on it.
#ifndef MEMCREST_OPS_VIEWS_H_
#define MEMCREST_OPS_VIEWS_H_

#include <cstddef>

#include "src/eager/eager.h"
#include "src/eager/op.h"

namespace memcrest {

// Sizes of result `i`: the bound ones where the export shows them, `otherwise` elsewhere.
Dims SizesOr(const OpCall& call, size_t i, DimSpan otherwise);
// The dimension an attribute names, counted from the front; 0 where the attribute is absent.
size_t AxisOf(const Attrs& attrs, int rank, Key key = Key::kAxis);
// `sizes` without dimension `axis`, or with it set to `extent`.
Dims Without(DimSpan sizes, size_t axis);
Dims Resized(DimSpan sizes, size_t axis, int64_t extent);
// Same storage, other sizes, strides and element type (view_as_real and its kin); strides in elements of the new type.
Value ViewAs(const Value& base, DimSpan sizes, DimSpan strides, DType dtype);
// Gradient brought to `sizes`: reshape, or a fresh value of that size where an upper bound made the element counts
// differ.
Value Fitted(Eager& rt, const Value& gradient, DimSpan sizes);
// The part of `base` that has `sizes`, as narrow and slice cut it: strides of the base.
Value Cut(Eager& rt, const Value& base, DimSpan sizes);
// cfloat for float ... and back; other types stay.
DType ComplexOf(DType dtype);
DType RealOf(DType dtype);

// Formulas that work in place run out of place while a dispatcher watches (areAnyTensorSubclassLike): the zeros they
// start from are one more tensor, alive until the result is there, that the allocator never serves.
inline Ref<Storage> Watched(Eager& rt, Bytes bytes) {
  if (rt.stopped() || bytes <= 0) return Ref<Storage>();
  return rt.recorder().Alloc(bytes, rt.recorder().CategoryNow(), Seen::kDispatcherOnly);
}

}  // namespace memcrest

#endif  // MEMCREST_OPS_VIEWS_H_
