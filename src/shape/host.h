// Host values: the few integers and floats that a graph computes its sizes from.
//
// Takes: bound values that carry elements. Gives: element moves (strided views, gathers), broadcasting, rounding to a
// dtype. Only results of at most kComputeElements elements are computed: what is larger is a device tensor, not a size.
// Elements moved from literals may be more (a literal keeps up to onnx::kLiteralElements).
#ifndef MEMCREST_SHAPE_HOST_H_
#define MEMCREST_SHAPE_HOST_H_

#include <vector>

#include "absl/types/span.h"
#include "src/base/dims.h"
#include "src/base/dtype.h"
#include "src/shape/shapes.h"

namespace memcrest::shape {

inline constexpr int64_t kComputeElements = 64;

inline bool HasHost(const BoundValue& v) { return v.has_ints || v.has_floats; }
// Whether an output of these sizes gets a host value.
inline bool IsSmall(DimSpan sizes) { return NumElements(sizes) <= kComputeElements; }

void SetInts(BoundValue* out, std::vector<int64_t> ints);
void SetFloats(BoundValue* out, std::vector<double> floats);  // rounded to out->dtype
// The same elements in the same order (Reshape, Identity ...).
void CopyHost(const BoundValue& from, BoundValue* out);
// out[i0, i1 ...] = from.flat[offset + sum(i * strides)] for out->sizes; offsets must stay inside.
void TakeStrided(const BoundValue& from, int64_t offset, DimSpan strides, BoundValue* out);
// out.flat[k] = from.flat[indices[k]].
void TakeFlat(const BoundValue& from, absl::Span<const int64_t> indices, BoundValue* out);
// Strides that read `from` broadcast to `rank` dimensions: 0 where it is stretched.
Dims BroadcastStrides(DimSpan from, size_t rank);
// Flat source positions of a view of `sizes`.
std::vector<int64_t> FlatIndices(int64_t offset, DimSpan strides, DimSpan sizes);

// `value` as `dtype` stores it; exact for float64, nearest for float32, other dtypes as float32.
double RoundTo(DType dtype, double value);
// Element `i` of either kind as a double.
inline double AsDouble(const BoundValue& v, size_t i) {
  return v.has_ints ? static_cast<double>(v.ints[i]) : v.floats[i];
}

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_HOST_H_
