// Results of reduction kernels: sizes, the fresh value, the kernel's scratch.
//
// Takes: a value and sorted, non-negative axes (kernel::ReducedAxes).  Gives: fresh row-major values without autograd.
#ifndef MEMCREST_OPS_REDUCTION_VALUES_H_
#define MEMCREST_OPS_REDUCTION_VALUES_H_

#include "src/ops/kernels.h"
#include "src/ops/reduce_scratch.h"

namespace memcrest {

Dims ReducedSizes(DimSpan sizes, const Dims& axes, bool keepdim);
// One reduction kernel: its scratch is alive together with the result.
Value ReducedValue(Eager& rt, const Value& v, const Dims& axes, bool keepdim, DType dtype, const ReduceKernel& kernel);
// sum or mean with a result of `dtype`; other input types than half precision are cast in a hidden copy first.
Value SummedValue(Eager& rt, const Value& v, const Dims& axes, bool keepdim, DType dtype);

}  // namespace memcrest

#endif  // MEMCREST_OPS_REDUCTION_VALUES_H_
