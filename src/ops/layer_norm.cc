// layer_norm and rms_norm (aten/src/ATen/native/cuda/layer_norm_kernel.cu, native/layer_norm.cpp).
//
// Saves the input as it was given, weight, and per row the mean (layer_norm) and the reciprocal deviation in float32.
// rms_norm falls apart into element-wise operators where the types of input and weight differ.
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"

namespace memcrest {
namespace {

constexpr size_t kX = 0, kW = 1;
constexpr size_t kMeanSlot = 2, kRstdSlot = 3;

size_t NormalizedRank(const Attrs& attrs, const Meta& x) {
  const size_t rank = x.sizes.size();
  return std::min(rank, static_cast<size_t>(std::max<int64_t>(1, attrs.Int(Key::kNormalizedRank, 1))));
}

// Sizes of the statistics: the rows' dimensions, then ones.
Dims StatisticSizes(const Attrs& attrs, const Meta& x) {
  Dims sizes = x.sizes;
  for (size_t i = sizes.size() - NormalizedRank(attrs, x); i < sizes.size(); ++i) sizes[i] = 1;
  return sizes;
}

DType Accumulated(DType dtype) { return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

Bytes CopyBytes(const Value& v) { return IsContiguous(v) ? 0 : v.bytes(); }

void Normalize(Eager& rt, OpCall& call, bool centered) {
  const Value& x = call.in[kX];
  if (call.Recorded()) {
    call.Save(rt, kX, x);
    if (call.Has(kW)) call.Save(rt, kW, call.in[kW]);
  }
  const HiddenBlock contiguous = rt.Hidden(CopyBytes(x));
  call.Out(0) = rt.Empty(x.sizes(), x.dtype());
  const Dims rows = StatisticSizes(call.attrs, x.meta());
  const Value mean = centered ? rt.Empty(rows, Accumulated(x.dtype())) : Value();
  const Value rstd = rt.Empty(rows, Accumulated(x.dtype()));
  call.Save(rt, kMeanSlot, mean);
  call.Save(rt, kRstdSlot, rstd);
}
void LayerNormForward(Eager& rt, OpCall& call) { Normalize(rt, call, true); }
void FusedRmsForward(Eager& rt, OpCall& call) { Normalize(rt, call, false); }

// Many short rows: weight gradients are summed in two steps over blocks of 32 rows (LaunchGammaBetaBackwardCUDAKernel).
constexpr int64_t kBlockRows = 32, kManyRows = 64 * 1024, kWarp = 32;

void WeightGradientsByBlocks(Eager& rt, GradCall& grad, int64_t rows, int64_t width, const bool (&wanted)[2]) {
  Value blocks[2];
  const Dims partial = {CeilDiv(rows, kBlockRows), width};
  for (int i = 0; i < 2; ++i) {
    if (wanted[i]) blocks[i] = rt.Empty(partial, grad.In(kW).dtype);
  }
  for (int i = 0; i < 2; ++i) {
    if (!wanted[i]) continue;
    const size_t input = kW + static_cast<size_t>(i);
    const Value sum = rt.Reduce(blocks[i], {0}, false);
    grad.Set(input, rt.View(sum, grad.In(input).sizes, ContiguousStrides(grad.In(input).sizes)));
  }
}

void NormBackward(Eager& rt, GradCall& grad) {
  const Value& x = grad.Saved(kX);
  const int64_t rows = NumElements(StatisticSizes(grad.attrs(), x.meta())), width = rows > 0 ? x.elements() / rows : 0;
  const HiddenBlock contiguous = rt.Hidden(CopyBytes(x));
  if (grad.Need(kX)) grad.Set(kX, rt.Empty(x.sizes(), x.dtype()));
  const bool wanted[2] = {grad.Need(kW), grad.Need(2)};
  for (const size_t i : {kW, size_t{2}}) {
    if (grad.Need(i)) grad.Set(i, rt.Empty(grad.In(i).sizes, grad.In(i).dtype));
  }
  const HiddenBlock arrived = rt.Hidden(CopyBytes(grad.Grad()));
  if (rows > kManyRows && width / kWarp < rt.device().multiprocessors / 2)
    WeightGradientsByBlocks(rt, grad, rows, width, wanted);
}

// ---- rms_norm

Value Cast(Eager& rt, const Value& v, DType dtype) {
  return v.dtype() == dtype ? v : rt.Call("to", {v}, {{Key::kDtype, dtype}});
}

// x * rsqrt(mean(x^2) + eps) * weight in float32, cast back.
Value CompositeRms(Eager& rt, const OpCall& call) {
  const Value& x = call.in[kX];
  Dims axes;
  for (int i = x.rank() - static_cast<int>(NormalizedRank(call.attrs, x.meta())); i < x.rank(); ++i) axes.push_back(i);
  const Value wide = Cast(rt, x, Accumulated(x.dtype()));
  const Value scale = [&] {
    const Value square = rt.Call("pow", {wide}, {{Key::kScalar, 2.0}});
    const Value mean = rt.Call("mean", {square}, {{Key::kAxes, axes}, {Key::kKeepDims, true}});
    return rt.Call("rsqrt", {rt.Call("add", {mean}, {{Key::kScalar, 1e-6}, {Key::kInplace, true}})});
  }();
  Value normal = rt.Call("mul", {wide, scale});
  if (call.Has(kW)) normal = rt.Call("mul", {normal, call.in[kW]});
  return Cast(rt, normal, x.dtype());
}

void RmsNorm(Eager& rt, OpCall& call) {
  if (call.Has(kW) && call.in[kW].dtype() != call.in[kX].dtype()) {
    call.Out(0) = CompositeRms(rt, call);
    return;
  }
  static const OpEntry& fused = Op("_fused_rms_norm");
  call.Out(0) = rt.Run(fused, call.in, call.attrs)[0];
}

}  // namespace

void RegisterLayerNorm(OpRegistry& registry) {
  registry.Add({.name = "layer_norm",
                .forward = LayerNormForward,
                .backward = NormBackward,
                .autocast = Autocast::kFloat32,
                .doc = "saves input, weight, mean and reciprocal deviation per row"});
  registry.Add({.name = "_fused_rms_norm",
                .forward = FusedRmsForward,
                .backward = NormBackward,
                .autocast = Autocast::kFloat32,
                .doc = "saves input, weight and reciprocal deviation per row"});
  registry.Add({.name = "rms_norm",
                .forward = RmsNorm,
                .autocast = Autocast::kFloat32,
                .composite = true,
                .doc = "fused where input and weight have one type"});
}

}  // namespace memcrest
