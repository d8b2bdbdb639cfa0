#include "src/ops/reduction_values.h"

#include <algorithm>

namespace memcrest {

Dims ReducedSizes(DimSpan sizes, const Dims& axes, bool keepdim) {
  Dims result;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!gone) {
      result.push_back(sizes[i]);
    } else if (keepdim) {
      result.push_back(1);
    }
  }
  return result;
}

Value ReducedValue(Eager& rt, const Value& v, const Dims& axes, bool keepdim, DType dtype, const ReduceKernel& kernel) {
  Value result = rt.Empty(ReducedSizes(v.sizes(), axes, keepdim), dtype);
  const HiddenBlock scratch = rt.Hidden(ReductionScratch(rt.device(), v.meta(), axes, kernel));
  return result;
}

// make_reduction casts the input beforehand unless the kernel reads half precision and writes float32
// (ReduceOpsUtils.h).
Value SummedValue(Eager& rt, const Value& v, const Dims& axes, bool keepdim, DType dtype) {
  const bool direct = v.dtype() == dtype || (IsLowPrecision(v.dtype()) && dtype == DType::kFloat32);
  if (direct) return ReducedValue(rt, v, axes, keepdim, dtype, SumKernel(v.dtype(), dtype));
  Value result = rt.Empty(ReducedSizes(v.sizes(), axes, keepdim), dtype);
  const MetaRef cast = MakeMeta(v.sizes(), LikeStrides(v.meta()), dtype);
  const HiddenBlock copy = rt.Hidden(cast->elements * BytesOf(dtype));
  const HiddenBlock scratch = rt.Hidden(ReductionScratch(rt.device(), *cast, axes, SumKernel(dtype, dtype)));
  return result;
}

}  // namespace memcrest
