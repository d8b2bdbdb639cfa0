// scaled_dot_product_attention(q, k, v, mask?): brings operands into the chosen kernel's shape and calls it
// (aten/src/ATen/native/transformers/attention.cpp). The kernels: attention_fused.cc, attention_math.cc.
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/attention_backends.h"

namespace memcrest {
namespace {

Dims WithLast(const Value& v, int64_t last) {
  Dims sizes = v.sizes();
  sizes.back() = last;
  return sizes;
}

Value Padded(Eager& rt, const Value& v, int64_t multiple) {
  const Dims sizes = WithLast(v, RoundUp(v.size(-1), multiple));
  return sizes == v.sizes() ? v : rt.Call("constant_pad_nd", {v}, {}, &sizes);
}

Value Sliced(Eager& rt, const Value& v, int64_t last) {
  const Dims sizes = WithLast(v, last);
  return sizes == v.sizes() ? v : rt.Call("slice", {v}, {{Key::kAxis, int64_t{v.rank() - 1}}}, &sizes);
}

// A bool mask becomes a float one in the query's type: where(mask, 0, -inf) of two scalar tensors.
Value FloatMask(Eager& rt, const Value& mask, DType dtype) {
  if (!mask || mask.dtype() != DType::kBool) return mask;
  const Value zero = rt.Empty({}, dtype), infinity = rt.Empty({}, dtype);
  return rt.Pointwise({mask}, dtype);
}

bool AlignedTo8(const Value& mask) {
  if (mask.size(-1) % 8 != 0 || mask.strides().back() != 1) return false;
  return std::all_of(mask.strides().begin(), mask.strides().end() - 1, [](int64_t s) { return s % 8 == 0; });
}

// The memory-efficient kernel reads the mask in groups of 8: other masks are padded into a copy and sliced back; then
// expanded.
Value EfficientMask(Eager& rt, const Value& mask, const Value& query, const Value& key) {
  if (!mask) return mask;
  const int64_t keys = mask.size(-1);
  const Value fit = AlignedTo8(mask) ? mask : Sliced(rt, Padded(rt, mask, 8), keys);
  const Dims full = {query.size(0), query.size(1), query.size(2), key.size(2)};
  return fit.sizes() == full ? fit : rt.Call("expand", {fit}, {{Key::kSizes, full}}, &full);
}

Value Flash(Eager& rt, const OpCall& call, absl::Span<const Value> in) {
  const int64_t head = in[0].size(-1);
  const Value padded[] = {Padded(rt, in[0], 8), Padded(rt, in[1], 8), Padded(rt, in[2], 8)};
  return Sliced(rt, rt.Run(Op("_scaled_dot_product_flash_attention"), padded, call.attrs)[0], head);
}

// Three-dimensional operands are one sample.
Value Batched(Eager& rt, const Value& v) {
  if (!v || v.rank() != 3) return v;
  const Dims sizes = {1, v.size(0), v.size(1), v.size(2)};
  return rt.Call("view", {v}, {{Key::kSizes, sizes}}, &sizes);
}

void Attention(Eager& rt, OpCall& call) {
  const bool single = call.in[0].rank() == 3;
  absl::InlinedVector<Value, 4> in = {Batched(rt, call.in[0]), Batched(rt, call.in[1]), Batched(rt, call.in[2]),
                                      Value()};
  const Value given = call.Has(3) ? call.in[3] : Value();
  const bool trains = rt.grad_enabled() && (in[0].requires_grad() || in[1].requires_grad() || in[2].requires_grad());
  const AttentionBackend backend =
      ChooseBackend(rt.device(), {.query = in[0],
                                  .key = in[1],
                                  .value = in[2],
                                  .masked = static_cast<bool>(given),
                                  .mask_trains = given && rt.grad_enabled() && given.requires_grad(),
                                  .trains = trains,
                                  .causal = call.attrs.Bool(Key::kCausal),
                                  .dropout = call.attrs.Float(Key::kP)});
  const Value mask = FloatMask(rt, given, in[0].dtype());
  in[3] = backend == AttentionBackend::kEfficient ? EfficientMask(rt, mask, in[0], in[1]) : mask;
  switch (backend) {
    case AttentionBackend::kCudnn:
      call.Out(0) = rt.Run(Op("_scaled_dot_product_cudnn_attention"), in, call.attrs)[0];
      break;
    case AttentionBackend::kFlash:
      call.Out(0) = Flash(rt, call, in);
      break;
    case AttentionBackend::kEfficient:
      call.Out(0) = rt.Run(Op("_scaled_dot_product_efficient_attention"), in, call.attrs)[0];
      break;
    case AttentionBackend::kMath:
      call.Out(0) = rt.Run(Op("_scaled_dot_product_attention_math"), in, call.attrs)[0];
      break;
  }
  if (single) {
    const Dims sizes(call.Out(0).sizes().begin() + 1, call.Out(0).sizes().end());
    call.Out(0) = rt.Call("view", {call.Out(0)}, {{Key::kSizes, sizes}}, &sizes);
  }
}

}  // namespace

void RegisterAttention(OpRegistry& registry) {
  registry.Add({.name = "scaled_dot_product_attention",
                .forward = Attention,
                .autocast = Autocast::kLower,
                .composite = true,
                .random = true,
                .doc = "one of four kernels, by device, types, mask, dropout and head size"});
}

}  // namespace memcrest
