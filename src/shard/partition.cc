#include "src/shard/partition.h"

#include <algorithm>
#include <numeric>

namespace memcrest {

RowShard ShardRows(DimSpan dims, int64_t ranks, int64_t rank) {
  RowShard s;
  const int64_t rows = dims.empty() ? 1 : dims[0];
  for (size_t i = 1; i < dims.size(); ++i) s.row_elements *= dims[i];
  s.stored_rows = CeilDiv(rows, ranks);
  s.own_rows = std::clamp<int64_t>(rows - rank * s.stored_rows, 0, s.stored_rows);
  return s;
}

std::vector<int64_t> GreedyPartition(absl::Span<const int64_t> elements, int64_t ranks) {
  std::vector<size_t> order(elements.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return elements[a] > elements[b]; });
  std::vector<int64_t> held(static_cast<size_t>(ranks)), rank_of(elements.size());
  for (const size_t i : order) {
    const auto least = std::min_element(held.begin(), held.end());
    *least += elements[i];
    rank_of[i] = least - held.begin();
  }
  return rank_of;
}

std::vector<std::vector<size_t>> Buckets(absl::Span<const Bytes> sizes, absl::Span<const Bytes> limits) {
  std::vector<std::vector<size_t>> buckets;
  Bytes filled = 0;
  bool open = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!open) {
      buckets.emplace_back();
      filled = 0;
    }
    buckets.back().push_back(i);
    filled += sizes[i];
    open = filled < limits[std::min(buckets.size(), limits.size()) - 1];
  }
  return buckets;
}

}  // namespace memcrest
