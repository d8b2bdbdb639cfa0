// Sizes of what slides windows over images: list attributes that may hold one value for all dimensions.
//
// Takes: attributes, input sizes.  Gives: result sizes; the bound ones of the export win where they are known.
#ifndef MEMCREST_OPS_WINDOWS_H_
#define MEMCREST_OPS_WINDOWS_H_

#include "src/eager/op.h"

namespace memcrest {

// The i-th value of a list attribute; its last one beyond its end; `otherwise` where it is absent or empty.
int64_t WindowItem(const Attrs& attrs, Key key, size_t i, int64_t otherwise);
// Result sizes of pooling `x` over its last x.rank() - 2 dimensions (kKernel, kStride, kPadding, kDilation, kCeilMode).
Dims PooledSizes(const OpCall& call, DimSpan x);
// Result sizes of an adaptive pool or a resampling: the hint, or the last dimensions from kSizes.
Dims TargetSizes(const OpCall& call, DimSpan x);

}  // namespace memcrest

#endif  // MEMCREST_OPS_WINDOWS_H_
