// Advanced indexing: what x[i, :, j] picks, how its result lies in memory, and what its kernels allocate for
// themselves.
//
// Takes: the indexed tensor and its index tensors, null where a dimension is taken whole; a boolean mask stands for as
// many index tensors as it has dimensions. Gives: sizes, strides, byte counts. How many elements a mask picks is data:
// `picked` is the bound.
#ifndef MEMCREST_OPS_INDEXED_H_
#define MEMCREST_OPS_INDEXED_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "src/eager/eager.h"

namespace memcrest {

struct Indexed {
  Dims result;           // sizes of x[...]
  Dims strides;          // as TensorIterator lays the result out
  Dims broadcast;        // common sizes of the index tensors
  int64_t count = 1;     // elements of `broadcast`
  size_t position = 0;   // where `broadcast` stands in `result`
  int64_t rows = 1;      // positions that the sort tells apart: elements of x outside the trailing whole dimensions
  bool adjacent = true;  // the indexed dimensions are neighbours
  bool moved = false;    // x is transposed (and then copied) before values are added into it
};

// `picked`: sizes of the result where known (null: a mask picks everything).
Indexed PlanIndexing(const Meta& x, absl::Span<const Value> indices, const Dims* picked);

// Kernel temporaries while indices are prepared: int64 copies of other types, copies of broadcast ones, positions in
// masks.
std::vector<HiddenBlock> PreparedIndices(Eager& rt, absl::Span<const Value> indices, const Indexed& plan);

// Kernel temporaries of index_put with accumulate=true: linear index, two sorted arrays and cub's own, and row-major
// copies of the values and of a transposed x (index_put_with_sort_kernel, Indexing.cu). Allocated and freed by the
// call.
void SortAndAdd(Eager& rt, const Value& x, absl::Span<const Value> indices, const Value& values, const Indexed& plan);

// Temporary storage of cub::DeviceRadixSort::SortPairs for n int64 keys with int64 values: one tile needs none; more
// take two buffers when several 8-bit passes are made, one histogram a pass and look-back counters a tile of 4608.
Bytes SortPairsScratch(int64_t n, int bits);

// Bits that tell n rows apart (cuda::cub::get_num_bits of the largest).
int BitsFor(int64_t rows);

}  // namespace memcrest

#endif  // MEMCREST_OPS_INDEXED_H_
