#include "src/base/dims.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "src/base/bytes.h"

namespace memcrest {

// A zero makes the product zero whatever the other sizes are; what does not fit in 64 bits is kept at the limit (sizes of a
// model are checked when they are bound).
int64_t NumElements(DimSpan sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  int64_t n = 1;
  for (const int64_t d : sizes) n = CheckedMul(n, d).value_or(kMaxElements);
  return n;
}

std::optional<int64_t> CheckedNumElements(DimSpan sizes) {
  int64_t n = 1;
  for (const int64_t d : sizes) {
    if (d < 0) return std::nullopt;
    const std::optional<int64_t> product = CheckedMul(n, d);
    if (!product.has_value() || *product > kMaxElements) return std::nullopt;
    n = *product;
  }
  return n;
}

Dims ContiguousStrides(DimSpan sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

Dims ChannelsLastStrides(DimSpan sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  const auto place = [&](size_t i) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  };
  place(1);
  for (size_t i = sizes.size(); i-- > 2;) place(i);
  place(0);
  return strides;
}

std::optional<Dims> Broadcast(DimSpan a, DimSpan b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t k = 1; k <= out.size(); ++k) {
    const int64_t x = k <= a.size() ? a[a.size() - k] : 1;
    const int64_t y = k <= b.size() ? b[b.size() - k] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - k] = x == 1 ? y : x;
  }
  return out;
}

std::string ToText(DimSpan sizes) { return sizes.empty() ? "scalar" : absl::StrJoin(sizes, "x"); }

}  // namespace memcrest
