#include "src/ops/layout.h"

#include <algorithm>

namespace memcrest {

bool SuggestsChannelsLast(const Meta& meta) {
  const size_t rank = meta.sizes.size();
  if (rank != 4 && rank != 5) return false;
  int64_t least = 0;
  if (meta.strides[1] == 0) return false;
  // Channels first, then the innermost image dimension outwards, then the batch: strides must not decrease.
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
    if (meta.sizes[d] == 0 || meta.strides[d] < least) return false;
    if (d == 0 && least == meta.strides[1]) return false;
    least = meta.strides[d] * std::max<int64_t>(meta.sizes[d], 1);
  }
  return true;
}

Dims StridesIn(DimSpan sizes, bool channels_last) {
  return channels_last && (sizes.size() == 4 || sizes.size() == 5) ? ChannelsLastStrides(sizes)
                                                                   : ContiguousStrides(sizes);
}

bool ContiguousIn(const Meta& meta, bool channels_last) {
  const Dims wanted = StridesIn(meta.sizes, channels_last);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (meta.sizes[i] != 1 && meta.strides[i] != wanted[i]) return false;
  }
  return true;
}

Value AsFormat(Eager& rt, const Value& v, bool channels_last) {
  return ContiguousIn(v.meta(), channels_last)
             ? v
             : rt.EmptyStrided(v.sizes(), StridesIn(v.sizes(), channels_last), v.dtype());
}

Bytes FormatCopyBytes(const Meta& meta, bool channels_last) {
  return ContiguousIn(meta, channels_last) ? 0 : (meta.elements * BitsOf(meta.dtype) + 7) / 8;
}

}  // namespace memcrest
