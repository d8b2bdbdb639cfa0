// Pooling of one to three dimensions (aten/src/ATen/native/cuda/*Pool*.cu). One-dimensional pools run as flat images.
//
// max pools save the input and int64 indices, which are made whether or not a gradient is wanted; average pools the
// input.
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/layout.h"
#include "src/ops/windows.h"

namespace memcrest {
namespace {

bool Format(const Meta& x) { return SuggestsChannelsLast(x); }

Value InFormat(Eager& rt, const Dims& sizes, bool channels_last, DType dtype) {
  return rt.EmptyStrided(sizes, StridesIn(sizes, channels_last), dtype);
}

void MaxForward(Eager& rt, OpCall& call, const Dims& sizes, bool channels_last) {
  const Value& x = call.in[0];
  call.Save(rt, 0, x);
  call.non_differentiable = 0b10;
  call.Out(0) = InFormat(rt, sizes, channels_last, x.dtype());
  call.Out(1) = InFormat(rt, sizes, channels_last, DType::kInt64);
  const HiddenBlock copy = rt.Hidden(FormatCopyBytes(x.meta(), channels_last));
  call.Save(rt, 1, call.Out(1));
}

void AverageForward(Eager& rt, OpCall& call, const Dims& sizes, bool channels_last) {
  const Value& x = call.in[0];
  call.Save(rt, 0, x);
  call.Out(0) = InFormat(rt, sizes, channels_last, x.dtype());
  const HiddenBlock copy = rt.Hidden(FormatCopyBytes(x.meta(), channels_last));
}

// The kernel works in one format; the input's gradient has the input's.
void BackwardIn(Eager& rt, GradCall& grad, bool channels_last, bool reads_input) {
  if (!grad.HasGrad()) return;
  const Meta& x = grad.Saved(0).meta();
  grad.Set(0, InFormat(rt, x.sizes, Format(x), x.dtype));
  const HiddenBlock arrived = rt.Hidden(FormatCopyBytes(grad.Grad().meta(), channels_last));
  const HiddenBlock input = rt.Hidden(reads_input ? FormatCopyBytes(x, channels_last) : 0);
}

// ---- windows

void MaxPoolForward(Eager& rt, OpCall& call) {
  MaxForward(rt, call, PooledSizes(call, call.in[0].sizes()), Format(call.in[0].meta()));
}
void AvgPoolForward(Eager& rt, OpCall& call) {
  AverageForward(rt, call, PooledSizes(call, call.in[0].sizes()), Format(call.in[0].meta()));
}
void PoolBackward(Eager& rt, GradCall& grad) { BackwardIn(rt, grad, Format(grad.Saved(0).meta()), true); }

// ---- adaptive

void AdaptiveMaxForward(Eager& rt, OpCall& call) { MaxForward(rt, call, TargetSizes(call, call.in[0].sizes()), false); }
void AdaptiveMaxBackward(Eager& rt, GradCall& grad) { BackwardIn(rt, grad, false, true); }

void AdaptiveAvgKernel(Eager& rt, OpCall& call) {
  AverageForward(rt, call, TargetSizes(call, call.in[0].sizes()), Format(call.in[0].meta()));
}
void AdaptiveAvgBackward(Eager& rt, GradCall& grad) { BackwardIn(rt, grad, Format(grad.Saved(0).meta()), false); }

// To a single place: the mean over the image.
void AdaptiveAvg(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Dims sizes = TargetSizes(call, x.sizes());
  const size_t first = static_cast<size_t>(std::max(1, std::min(2, x.rank() - 1)));
  Dims axes;
  for (size_t i = first; i < sizes.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  const bool single =
      std::all_of(sizes.begin() + static_cast<std::ptrdiff_t>(first), sizes.end(), [](int64_t s) { return s == 1; });
  call.Out(0) = single ? rt.Call("mean", {x}, {{Key::kAxes, axes}, {Key::kKeepDims, true}})
                       : rt.Call("_adaptive_avg_pool", {x}, {}, &sizes);
}

// ---- lp_pool: (sign(a) * relu(|a|) * window) ^ (1/p) of a = avg_pool(x ^ p); max_unpool

void LpPool(Eager& rt, OpCall& call) {
  const double p = call.attrs.Float(Key::kP, 2);
  const Dims sizes = PooledSizes(call, call.in[0].sizes());
  const Value mean = rt.Call("avg_pool", {rt.Call("pow", {call.in[0]}, {{Key::kScalar, p}})}, call.attrs, &sizes);
  const Value sum =
      rt.Call("mul", {rt.Call("mul", {rt.Call("sign", {mean}), rt.Call("relu", {rt.Call("abs", {mean})})})},
              {{Key::kScalar, 2.0}});
  call.Out(0) = rt.Call("pow", {sum}, {{Key::kScalar, 1.0 / p}});
}

void MaxUnpoolForward(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[1]);
  call.Out(0) = rt.Empty(TargetSizes(call, call.in[0].sizes()), call.in[0].dtype());
}
void MaxUnpoolBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.Empty(grad.In(0).sizes, grad.In(0).dtype)); }

}  // namespace

void RegisterPooling(OpRegistry& registry) {
  const auto primitive = [&](const char* name, ForwardFn forward, BackwardFn backward, const char* doc) {
    registry.Add({.name = name, .forward = forward, .backward = backward, .doc = doc});
  };
  primitive("max_pool", MaxPoolForward, PoolBackward, "saves input and int64 indices");
  primitive("avg_pool", AvgPoolForward, PoolBackward, "saves input");
  primitive("adaptive_max_pool", AdaptiveMaxForward, AdaptiveMaxBackward, "saves input and int64 indices");
  primitive("_adaptive_avg_pool", AdaptiveAvgKernel, AdaptiveAvgBackward, "saves input");
  primitive("max_unpool", MaxUnpoolForward, MaxUnpoolBackward, "saves indices");
  registry.Add({.name = "adaptive_avg_pool",
                .forward = AdaptiveAvg,
                .composite = true,
                .doc = "mean over the image, or a pool"});
  registry.Add({.name = "lp_pool", .forward = LpPool, .composite = true, .doc = "pow, avg_pool, pow"});
}

}  // namespace memcrest
