// Concrete tensor sizes and strides, in elements.
//
// Takes: lists of sizes.  Gives: Dims, element counts with overflow checks, contiguous strides, broadcasting.
// A dimension of 0 is legal (an empty tensor); an unknown size never appears here: see SymDim in onnx/model.h.
#ifndef MEMCREST_BASE_DIMS_H_
#define MEMCREST_BASE_DIMS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace memcrest {

using Dims = absl::InlinedVector<int64_t, 5>;
using DimSpan = absl::Span<const int64_t>;

// Largest element count that the simulator takes for one tensor: 2^56 (a size nobody can hold, far from overflow in any sum).
inline constexpr int64_t kMaxElements = int64_t{1} << 56;

// Product of the sizes; 1 for rank 0. Sizes are validated (<= kMaxElements in total) when shapes are bound.
int64_t NumElements(DimSpan sizes);
// The same with overflow and limit reported as nullopt.
std::optional<int64_t> CheckedNumElements(DimSpan sizes);
// Row-major strides, as torch.empty(sizes) has.
Dims ContiguousStrides(DimSpan sizes);
// Strides of memory_format=channels_last (rank 4) or channels_last_3d (rank 5).
Dims ChannelsLastStrides(DimSpan sizes);
// NumPy broadcasting; nullopt where sizes disagree.
std::optional<Dims> Broadcast(DimSpan a, DimSpan b);
// "8x1024x768"; "scalar" for rank 0.
std::string ToText(DimSpan sizes);
// axis in [-rank, rank) to [0, rank); out-of-range values are clamped (callers validated them).
inline int NormalAxis(int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  return axis < 0 ? 0 : axis >= rank ? (rank > 0 ? rank - 1 : 0) : static_cast<int>(axis);
}

}  // namespace memcrest

#endif  // MEMCREST_BASE_DIMS_H_
