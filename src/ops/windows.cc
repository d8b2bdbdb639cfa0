#include "src/ops/windows.h"

#include <algorithm>

namespace memcrest {

int64_t WindowItem(const Attrs& attrs, Key key, size_t i, int64_t otherwise) {
  const Dims* list = attrs.Ints(key);
  if (list == nullptr || list->empty()) return attrs.Int(key, otherwise);
  return (*list)[std::min(i, list->size() - 1)];
}

Dims PooledSizes(const OpCall& call, DimSpan x) {
  if (call.Hint(0) != nullptr) return *call.Hint(0);
  const Attrs& attrs = call.attrs;
  const size_t spatial = x.size() > 2 ? x.size() - 2 : 0, first = x.size() - spatial;
  Dims sizes(x.begin(), x.end());
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t kernel = WindowItem(attrs, Key::kKernel, i, 1), pad = WindowItem(attrs, Key::kPadding, i, 0);
    const int64_t stride = std::max<int64_t>(1, WindowItem(attrs, Key::kStride, i, kernel));
    const int64_t reach = WindowItem(attrs, Key::kDilation, i, 1) * (kernel - 1) + 1,
                  room = x[first + i] + 2 * pad - reach;
    int64_t& out = sizes[first + i];
    out = std::max<int64_t>(0, (attrs.Bool(Key::kCeilMode) ? CeilDiv(room, stride) : room / stride) + 1);
    // The last window must start inside the image or its left padding.
    if (attrs.Bool(Key::kCeilMode) && (out - 1) * stride >= x[first + i] + pad) --out;
  }
  return sizes;
}

Dims TargetSizes(const OpCall& call, DimSpan x) {
  if (call.Hint(0) != nullptr) return *call.Hint(0);
  Dims sizes(x.begin(), x.end());
  const Dims* wanted = call.attrs.Ints(Key::kSizes);
  if (wanted == nullptr) return sizes;
  const size_t n = std::min(wanted->size(), sizes.size());
  std::copy(wanted->end() - static_cast<std::ptrdiff_t>(n), wanted->end(),
            sizes.end() - static_cast<std::ptrdiff_t>(n));
  return sizes;
}

}  // namespace memcrest
