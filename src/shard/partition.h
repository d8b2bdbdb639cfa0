// How parameters are cut over ranks, in elements: no bytes, no order of events.
//
// Takes: sizes of parameters, number of ranks.  Gives: rows of a shard, whole-parameter partitions, buckets.
#ifndef MEMCREST_SHARD_PARTITION_H_
#define MEMCREST_SHARD_PARTITION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "src/base/bytes.h"
#include "src/base/dims.h"

namespace memcrest {

// Dimension 0 cut into `ranks` equal chunks as torch.chunk does: every rank stores ceil(d0 / ranks) rows (the last ranks
// with padding), `own` of them real. A scalar has one row.
struct RowShard {
  int64_t stored_rows = 0, own_rows = 0;
  int64_t row_elements = 1;
  int64_t stored() const { return stored_rows * row_elements; }
  int64_t own() const { return own_rows * row_elements; }
};
RowShard ShardRows(DimSpan dims, int64_t ranks, int64_t rank);

// ZeroRedundancyOptimizer: parameters by falling size, each to the rank that has least so far (the lowest of equals).
// Gives the rank of each parameter. (torch/distributed/optim/zero_redundancy_optimizer.py, _partition_parameters)
std::vector<int64_t> GreedyPartition(absl::Span<const int64_t> elements, int64_t ranks);

// DDP's buckets over tensors of one type, in the given order: a bucket is closed by the tensor that fills it; the first limit
// is for the first bucket, the last one for all that follow. (torch/csrc/distributed/c10d/reducer.cpp,
// compute_bucket_assignment_by_size)
std::vector<std::vector<size_t>> Buckets(absl::Span<const Bytes> sizes, absl::Span<const Bytes> limits);

// A range of a flat buffer.
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end > begin ? end - begin : 0; }
};
inline Range Intersection(Range a, Range b) { return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end}; }

}  // namespace memcrest

#endif  // MEMCREST_SHARD_PARTITION_H_
