// upsample (interpolate) and grid_sampler (aten/src/ATen/native/cuda/UpSample*.cu, GridSampler.cu).
//
// Upsampling saves sizes only; grid sampling the input and the grid.
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/layout.h"
#include "src/ops/windows.h"

namespace memcrest {
namespace {

void UpsampleForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Dims sizes = TargetSizes(call, x.sizes());
  call.Out(0) = rt.EmptyStrided(sizes, StridesIn(sizes, SuggestsChannelsLast(x.meta())), x.dtype());
}

// The gradient has the format of what arrives, which the kernel makes contiguous in it.
void UpsampleBackward(Eager& rt, GradCall& grad) {
  const Meta& arrived = grad.Grad().meta();
  const bool channels_last = SuggestsChannelsLast(arrived);
  grad.Set(0, rt.EmptyStrided(grad.In(0).sizes, StridesIn(grad.In(0).sizes, channels_last), grad.In(0).dtype));
  const HiddenBlock copy = rt.Hidden(FormatCopyBytes(arrived, channels_last));
}

// mode=area is an adaptive average pool and no member of autocast's float32 list.
void Interpolate(Eager& rt, OpCall& call) {
  const Dims sizes = TargetSizes(call, call.in[0].sizes());
  const bool area = call.attrs.Text(Key::kMode) == "area";
  call.Out(0) = rt.Call(area ? "adaptive_avg_pool" : "_upsample", {call.in[0]}, area ? Attrs() : call.attrs, &sizes);
}

void GridForward(Eager& rt, OpCall& call) {
  const Value &x = call.in[0], &grid = call.in[1];
  if (call.Recorded()) {
    call.Save(rt, 0, x);
    call.Save(rt, 1, grid);
  }
  Dims sizes(x.sizes().begin(), x.sizes().begin() + 2);
  sizes.insert(sizes.end(), grid.sizes().begin() + 1, grid.sizes().end() - 1);
  call.Out(0) = rt.Empty(sizes, x.dtype());
}

void GridBackward(Eager& rt, GradCall& grad) {
  if (grad.Need(0)) grad.Set(0, rt.Zeros(grad.In(0).sizes, grad.In(0).dtype));
  grad.Set(1, rt.Empty(grad.In(1).sizes, grad.In(1).dtype));  // made whether or not it is wanted
}

}  // namespace

void RegisterResampling(OpRegistry& registry) {
  registry.Add(
      {.name = "upsample", .forward = Interpolate, .composite = true, .doc = "_upsample; area: adaptive_avg_pool"});
  registry.Add({.name = "_upsample",
                .forward = UpsampleForward,
                .backward = UpsampleBackward,
                .autocast = Autocast::kFloat32,
                .doc = "saves sizes only"});
  registry.Add({.name = "grid_sampler",
                .forward = GridForward,
                .backward = GridBackward,
                .autocast = Autocast::kPromote,
                .doc = "saves input and grid"});
}

}  // namespace memcrest
