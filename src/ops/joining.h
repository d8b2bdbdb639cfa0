// Joining tensors along a dimension: cat and stack, and the layout of what they make.
//
// Takes: values, some absent.  Gives: one fresh result.  Aliases nothing.
#ifndef MEMCREST_OPS_JOINING_H_
#define MEMCREST_OPS_JOINING_H_

#include "absl/types/span.h"
#include "src/eager/eager.h"

namespace memcrest {

// A fresh value of `sizes` as at::cat lays it out: channels-last if all `parts` are, row-major otherwise.
Value JoinedLike(Eager& rt, absl::Span<const Value> parts, DimSpan sizes, DType dtype);

}  // namespace memcrest

#endif  // MEMCREST_OPS_JOINING_H_
