// Memory formats of image tensors as kernels choose them: by strides, tolerant of dimensions of size 1.
//
// Takes: metas of rank 3 to 5.  Gives: the suggested format, tests against a format, bytes of a layout copy.
// Source: c10/core/MemoryFormat.h (is_channels_last_strides_2d/3d), Tensor::is_contiguous(memory_format).
#ifndef MEMCREST_OPS_LAYOUT_H_
#define MEMCREST_OPS_LAYOUT_H_

#include "src/eager/eager.h"

namespace memcrest {

// suggest_memory_format() == channels_last; ambiguous strides (one channel, 1x1 images in row-major order) are
// row-major.
bool SuggestsChannelsLast(const Meta& meta);
// Is it contiguous in that format? Dimensions of size 1 do not count. Ranks other than 4 and 5 have only the row-major
// format.
bool ContiguousIn(const Meta& meta, bool channels_last);
Dims StridesIn(DimSpan sizes, bool channels_last);
// Itself, or a copy in that format.
Value AsFormat(Eager& rt, const Value& v, bool channels_last);
// The same when a kernel does it for itself: the copy's bytes, 0 if none is needed.
Bytes FormatCopyBytes(const Meta& meta, bool channels_last);

}  // namespace memcrest

#endif  // MEMCREST_OPS_LAYOUT_H_
