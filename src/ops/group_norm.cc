// group_norm (aten/src/ATen/native/cuda/group_norm_kernel.cu).
//
// Saves input, weight, mean and reciprocal deviation per sample and group, in the input's type. Kernels work row-major.
#include <utility>

#include "src/eager/eager.h"

namespace memcrest {
namespace {

constexpr size_t kX = 0, kW = 1, kMeanSlot = 2, kRstdSlot = 3;

Bytes CopyBytes(const Value& v) { return IsContiguous(v) ? 0 : v.bytes(); }
int64_t Groups(const Attrs& attrs) { return std::max<int64_t>(1, attrs.Int(Key::kGroups, 1)); }
int AccumulatedBytes(DType dtype) { return dtype == DType::kFloat64 ? 8 : 4; }

void GroupNormForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[kX];
  if (call.Recorded()) {
    call.Save(rt, kX, x);
    if (call.Has(kW)) call.Save(rt, kW, call.in[kW]);
  }
  call.Out(0) = rt.Empty(x.sizes(), x.dtype());
  const Dims statistic = {x.size(0), Groups(call.attrs)};
  const Value mean = rt.Empty(statistic, x.dtype()), rstd = rt.Empty(statistic, x.dtype());
  const int wide = AccumulatedBytes(x.dtype());
  const HiddenBlock contiguous = rt.Hidden(CopyBytes(x));
  const Bytes accumulated = IsLowPrecision(x.dtype()) ? mean.elements() * wide : 0;
  const HiddenBlock wide_mean = rt.Hidden(accumulated), wide_rstd = rt.Hidden(accumulated);
  const Bytes per_channel = x.size(0) * x.size(1) * wide;  // the affine map, folded per sample and channel
  const HiddenBlock scale = rt.Hidden(per_channel), shift = rt.Hidden(per_channel);
  call.Save(rt, kMeanSlot, mean);
  call.Save(rt, kRstdSlot, rstd);
}

void GroupNormBackward(Eager& rt, GradCall& grad) {
  const Value& x = grad.Saved(kX);
  const HiddenBlock gradient = rt.Hidden(CopyBytes(grad.Grad())), input = rt.Hidden(CopyBytes(x));
  if (grad.Need(kX)) grad.Set(kX, rt.Empty(x.sizes(), x.dtype()));
  for (const size_t i : {kW, size_t{2}}) {
    if (grad.Need(i)) grad.Set(i, rt.Empty(grad.In(i).sizes, grad.In(i).dtype));
  }
  const int wide = AccumulatedBytes(x.dtype());
  const Bytes per_channel = x.size(0) * x.size(1) * wide, per_group = x.size(0) * Groups(grad.attrs()) * wide;
  const HiddenBlock ds = rt.Hidden(per_channel), db = rt.Hidden(per_channel);
  const HiddenBlock c2 = rt.Hidden(per_group), c3 = rt.Hidden(per_group);
  const HiddenBlock c1 = rt.Hidden(grad.Saved(kW) ? per_channel : 0);
}

}  // namespace

void RegisterGroupNorm(OpRegistry& registry) {
  registry.Add({.name = "group_norm",
                .forward = GroupNormForward,
                .backward = GroupNormBackward,
                .autocast = Autocast::kFloat32,
                .doc = "saves input, weight, mean and reciprocal deviation per group"});
}

}  // namespace memcrest
