// What PyTorch's reduction kernels allocate for themselves: the buffer for partial results of thread blocks.
//
// Takes: the input's strided layout, the reduced axes, what kernel it is, the device.  Gives: bytes taken from the
// caching allocator while the kernel is launched; 0 for most shapes.  Follows TensorIterator's order of dimensions, its
// split for 32-bit indexing, and setReduceConfig / global_memory_size (aten/src/ATen/native/cuda/Reduce.cuh).  Ignores
// alignment of the first element: storages start at multiples of 512 bytes; a view with an odd offset may get another
// vector width.
#ifndef MEMCREST_OPS_REDUCE_SCRATCH_H_
#define MEMCREST_OPS_REDUCE_SCRATCH_H_

#include "src/base/bytes.h"
#include "src/base/dims.h"
#include "src/base/dtype.h"
#include "src/eager/eager.h"
#include "src/eager/value.h"

namespace memcrest {

// A kernel as gpu_reduce_kernel is instantiated for it.
struct ReduceKernel {
  int partial_bytes = 4;          // sizeof(arg_t): what one thread carries
  int input_vector = 4;           // input_vec_size
  bool partial_in_output = true;  // can_accumulate_in_output
};

// sum, mean, prod, vector norms: partial results in the accumulation type (float32 for half precision).
ReduceKernel SumKernel(DType input, DType result);
// amax, amin: partial results in the input's type. max, min with an axis, argmax, argmin: a value and an int64 index.
ReduceKernel ExtremeKernel(DType input, bool with_index);
// var, std: Welford's mean, sum of squares and counts.
ReduceKernel MomentKernel(DType input);
// any, all.
ReduceKernel BoolKernel();

// `axes` empty: all. Axes may be negative.
Bytes ReductionScratch(const KernelDevice& device, const Meta& input, DimSpan axes, const ReduceKernel& kernel);
// The same for a sum: what Eager::reduction_scratch is set to. `result` is the sum's type.
Bytes SumScratch(const KernelDevice& device, const Meta& input, DimSpan axes, DType result);

}  // namespace memcrest

#endif  // MEMCREST_OPS_REDUCE_SCRATCH_H_
