// batch_norm: cuDNN's kernel for float32 and for float16 with float32 weights, the native one otherwise; instance_norm
// on top.
//
// Saves input (row-major or channels_last copy for cuDNN), weight, running statistics, and the batch statistics it
// makes. Source: aten/src/ATen/native/Normalization.cpp, cudnn/BatchNorm.cpp, cuda/Normalization.cuh. cuDNN's reserve
// is empty for the plain (not fused) batch norm.
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/layout.h"

namespace memcrest {
namespace {

constexpr size_t kX = 0, kW = 1, kMean = 3, kVar = 4;  // inputs; slots are the same, then the statistics
constexpr size_t kSaveMean = 5, kSaveInvstd = 6;

// cuDNN takes only what it is fast and exact for (_select_batch_norm_backend).
bool UsesCudnn(const Meta& x, const Meta* w) {
  return w != nullptr && x.dtype != DType::kBFloat16 && w->dtype != DType::kBFloat16 && x.sizes.size() > 2 &&
         (x.dtype != DType::kFloat16 || w->dtype == DType::kFloat32);
}

bool Training(const Attrs& attrs, bool has_running) { return attrs.Bool(Key::kTraining, true) || !has_running; }

// Does the native kernel treat channels as the innermost dimension?
bool NativeChannelsLast(const Meta& x) {
  return (x.sizes.size() == 2 && IsContiguous(x)) ||
         (!IsContiguous(x) && SuggestsChannelsLast(x) && ContiguousIn(x, true));
}

int64_t LastPow2(int64_t n) {
  int64_t p = 1;
  while (p * 2 <= n) p *= 2;
  return std::max<int64_t>(1, p);
}

// Scratch of the cooperative channels-last reductions: `values` floats per channel and block row, if more than one
// block row is launched (flexible_launch_configs).
Bytes StagingBytes(const Meta& x, int64_t values) {
  constexpr int64_t kBlock = 512, kPerThread = 16, kMaxRows = 128, kTile = 32;
  const int64_t channels = std::max<int64_t>(1, x.sizes[1]), rows = x.elements / channels;
  int64_t block_x = std::min(LastPow2(channels), kTile);
  const int64_t block_y = std::min(LastPow2(CeilDiv(rows, kPerThread)), kBlock / block_x);
  if (block_x * block_y != kBlock) block_x = std::min(LastPow2(channels), kBlock / block_y);
  const int64_t grid_y = std::min(CeilDiv(rows, block_y * kPerThread), kMaxRows);
  return grid_y < 8 ? 0 : values * channels * grid_y * 4;
}

Value PerChannel(Eager& rt, const Meta& x, DType dtype) {
  const Dims channels = {x.sizes[1]};
  return rt.Empty(channels, dtype);
}

void Cudnn(Eager& rt, OpCall& call, const Value& x) {
  call.Out(0) = rt.EmptyStrided(x.sizes(), StridesIn(x.sizes(), SuggestsChannelsLast(x.meta())), x.dtype());
  if (!Training(call.attrs, call.Has(kMean))) return;
  Value mean = PerChannel(rt, x.meta(), call.in[kW].dtype()), invstd = PerChannel(rt, x.meta(), call.in[kW].dtype());
  call.Save(rt, kSaveMean, mean);
  call.Save(rt, kSaveInvstd, invstd);
}

void Native(Eager& rt, OpCall& call, const Value& x) {
  const DType statistics = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  call.Out(0) = rt.EmptyLike(x);
  const Value mean = PerChannel(rt, x.meta(), statistics), invstd = PerChannel(rt, x.meta(), statistics);
  const bool training = Training(call.attrs, call.Has(kMean)), inner = NativeChannelsLast(x.meta());
  const HiddenBlock staging = rt.Hidden(training && inner ? StagingBytes(x.meta(), 4) : 0);
  const HiddenBlock strided = rt.Hidden(IsContiguous(x) || inner ? 0 : x.elements() * 4);
  call.Save(rt, kSaveMean, mean);
  call.Save(rt, kSaveInvstd, invstd);
}

void BatchNormForward(Eager& rt, OpCall& call) {
  const bool cudnn = UsesCudnn(call.in[kX].meta(), call.Has(kW) ? &call.in[kW].meta() : nullptr);
  const Value x = cudnn ? AsFormat(rt, call.in[kX], SuggestsChannelsLast(call.in[kX].meta())) : call.in[kX];
  call.Save(rt, kX, x);
  for (const size_t i : {kW, kMean, kVar}) {
    if (call.Has(i)) call.Save(rt, i, call.in[i]);
  }
  cudnn ? Cudnn(rt, call, x) : Native(rt, call, x);
}

// Native backward with channels innermost: two sums per channel first, the input's gradient last.
void InnerBackward(Eager& rt, GradCall& grad, const Meta& x) {
  const Value mean_dy = PerChannel(rt, x, DType::kFloat32), mean_dy_xmu = PerChannel(rt, x, DType::kFloat32);
  if (grad.Need(kW)) grad.Set(kW, rt.EmptyLike(grad.In(kW)));
  if (grad.Need(2)) grad.Set(2, rt.EmptyLike(grad.In(2)));
  { const HiddenBlock staging = rt.Hidden(StagingBytes(x, 2)); }
  if (grad.Need(kX)) grad.Set(kX, rt.EmptyLike(x));
}

void NativeBackward(Eager& rt, GradCall& grad, const Meta& x) {
  const Meta& g = grad.Grad().meta();
  if (NativeChannelsLast(x) && IsDense(g)) return InnerBackward(rt, grad, x);
  const bool strided = !IsContiguous(x) && !NativeChannelsLast(x);
  const HiddenBlock first = rt.Hidden(strided ? grad.Saved(kX).bytes() : 0),
                    second = rt.Hidden(strided ? grad.Grad().bytes() : 0);
  if (grad.Need(kX)) grad.Set(kX, strided ? rt.Empty(x.sizes, x.dtype) : rt.EmptyLike(x));
  if (grad.Need(kW)) grad.Set(kW, rt.EmptyLike(grad.In(kW)));
  if (grad.Need(2)) grad.Set(2, rt.EmptyLike(grad.In(2)));
}

void BatchNormBackward(Eager& rt, GradCall& grad) {
  const Meta& x = grad.Saved(kX).meta();
  const Value& w = grad.Saved(kW);
  const bool has_running = static_cast<bool>(grad.Saved(kMean));
  if (!UsesCudnn(x, w ? &w.meta() : nullptr) || !Training(grad.attrs(), has_running))
    return NativeBackward(rt, grad, x);
  const Value g = AsFormat(rt, grad.Grad(), SuggestsChannelsLast(x));
  // cuDNN always computes all three.
  Value dx = rt.EmptyStrided(x.sizes, StridesIn(x.sizes, SuggestsChannelsLast(x)), x.dtype);
  Value dw = rt.EmptyLike(w.meta()), db = rt.EmptyLike(w.meta());
  grad.Set(kX, std::move(dx));
  grad.Set(kW, std::move(dw));
  grad.Set(2, std::move(db));
}

// ---- instance_norm: batch_norm of [1, N*C, ...] with everything per channel repeated N times

Value Repeated(Eager& rt, const Value& v, int64_t times) {
  if (!v) return v;
  const Dims sizes = {times * v.size(0)}, factor = {times};
  return rt.Call("repeat", {v}, {{Key::kSizes, factor}}, &sizes);
}

void InstanceNorm(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const int64_t batch = x.size(0);
  Dims merged = x.sizes();
  merged[0] = 1;
  merged[1] = batch * x.size(1);
  absl::InlinedVector<Value, 5> in(5);
  for (size_t i = 1; i < 5; ++i) in[i] = call.Has(i) ? Repeated(rt, call.in[i], batch) : Value();
  in[0] = rt.Call("view", {rt.Call("contiguous", {x})}, {{Key::kSizes, merged}}, &merged);
  const Value y = rt.Call("batch_norm", in, {{Key::kTraining, call.attrs.Bool(Key::kTraining, true)}});
  const Dims sizes = x.sizes();
  call.Out(0) = rt.Call("view", {y}, {{Key::kSizes, sizes}}, &sizes);
}

}  // namespace

void RegisterBatchNorm(OpRegistry& registry) {
  registry.Add({.name = "batch_norm",
                .forward = BatchNormForward,
                .backward = BatchNormBackward,
                .doc = "saves input, weight, running and batch statistics"});
  registry.Add({.name = "instance_norm",
                .forward = InstanceNorm,
                .composite = true,
                .doc = "batch_norm of one sample with N*C channels"});
}

}  // namespace memcrest
