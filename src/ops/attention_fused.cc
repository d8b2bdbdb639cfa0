// The fused attention kernels: cuDNN, flash and memory-efficient (aten/src/ATen/native/transformers/cuda/attention.cu,
// attention_backward.cu, flash_attn/flash_api.cpp, mem_eff_attention/kernel_backward.h, cudnn/MHA.cpp).
//
// All save q, k, v, the result, the logsumexp of every row (float32) and the random state; cuDNN and memory-efficient
// the mask too.
#include <algorithm>
#include <numeric>
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/views.h"

namespace memcrest {
namespace {

enum Slot : size_t { kQ, kK, kV, kMask, kOut, kLse, kSeed, kOffset };
constexpr int kFloat = 4;  // bytes of the kernels' accumulators

// [B, H, S, D] of q with the lengths and widths of the others.
struct Shape {
  int64_t batch, heads, queries, head, keys, value_head;
};
Shape ShapeOf(const Meta& q, const Meta& k, const Meta& v) {
  return {q.sizes[0], q.sizes[1], q.sizes[2], q.sizes[3], k.sizes[2], v.sizes[3]};
}

void SaveInputs(Eager& rt, OpCall& call) {
  if (!call.Recorded()) return;
  for (size_t i = 0; i < 4; ++i) {
    if (call.Has(i)) call.Save(rt, i, call.in[i]);
  }
}

// Dense, with the dimensions in the order they have in `like`.
Value LikeLayout(Eager& rt, const Meta& like, const Dims& sizes) {
  Dims strides(sizes.size());
  absl::InlinedVector<size_t, 4> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return like.strides[a] > like.strides[b]; });
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(1, sizes[order[i]]);
  }
  return rt.EmptyStrided(sizes, strides, like.dtype);
}

// Stored [B, S, H, D], seen as [B, H, S, D].
Value SequenceFirst(Eager& rt, const Dims& sizes, DType dtype) {
  const Dims strides = {sizes[1] * sizes[2] * sizes[3], sizes[3], sizes[1] * sizes[3], 1};
  return rt.EmptyStrided(sizes, strides, dtype);
}
bool IsSequenceFirst(const Meta& m) {
  return IsContiguous(*MakeMeta({m.sizes[0], m.sizes[2], m.sizes[1], m.sizes[3]},
                                {m.strides[0], m.strides[2], m.strides[1], m.strides[3]}, m.dtype));
}
Bytes SequenceFirstCopy(const Value& v) { return IsSequenceFirst(v.meta()) ? 0 : v.bytes(); }

// What the operators return besides the result: only backward reads it, and a save policy keeps it.
void FurtherResults(OpCall& call, const Value& lse, const Value& seed, const Value& offset) {
  call.Out(3) = offset;
  call.Out(2) = seed;
  call.Out(1) = lse;
  call.non_differentiable |= 0b1110;
}

Value RowSums(Eager& rt, const Shape& s, int64_t queries) {
  const Dims sizes = {s.batch, s.heads, queries};
  return rt.Empty(sizes, DType::kFloat32);
}

// ---- cuDNN

void CudnnForward(Eager& rt, OpCall& call) {
  SaveInputs(rt, call);
  const Shape s = ShapeOf(call.in[kQ].meta(), call.in[kK].meta(), call.in[kV].meta());
  const Value seed = rt.Empty({}, DType::kInt64), offset = rt.Empty({}, DType::kInt64);
  call.Out(0) = LikeLayout(rt, call.in[kQ].meta(), {s.batch, s.heads, s.queries, s.value_head});
  const Value lse = call.Recorded() ? RowSums(rt, s, s.queries) : Value();
  call.Save(rt, kOut, call.Out(0));
  call.Save(rt, kLse, lse);
  call.Save(rt, kSeed, seed);
  call.Save(rt, kOffset, offset);
  FurtherResults(call, lse, seed, offset);
}

void CudnnBackward(Eager& rt, GradCall& grad) {
  const Value &q = grad.Saved(kQ), &k = grad.Saved(kK), &v = grad.Saved(kV);
  const Shape s = ShapeOf(q.meta(), k.meta(), v.meta());
  Value dq = LikeLayout(rt, q.meta(), q.sizes()), dk = LikeLayout(rt, k.meta(), k.sizes()),
        dv = LikeLayout(rt, v.meta(), v.sizes());
  const HiddenBlock arrived = rt.Hidden(IsDense(grad.Grad()) ? 0 : grad.Grad().bytes());
  // The query's gradient is summed in float32, next to the row sums of gradient times result.
  const HiddenBlock workspace = rt.Hidden(s.batch * s.heads * s.queries * (s.head + 1) * kFloat);
  grad.Set(kQ, std::move(dq));
  grad.Set(kK, std::move(dk));
  grad.Set(kV, std::move(dv));
}

// ---- flash

void FlashForward(Eager& rt, OpCall& call) {
  SaveInputs(rt, call);
  const Shape s = ShapeOf(call.in[kQ].meta(), call.in[kK].meta(), call.in[kV].meta());
  call.Out(0) = LikeLayout(rt, call.in[kQ].meta(), call.in[kQ].sizes());
  const Value lse = RowSums(rt, s, s.queries);
  // With dropout the kernel replaces the state it made first.
  const HiddenBlock replaced = rt.Hidden(call.attrs.Float(Key::kP) > 0 ? 2 * 8 : 0);
  const Value state = rt.Empty({2}, DType::kInt64), unused = rt.Empty({}, DType::kInt64);
  call.Save(rt, kOut, call.Out(0));
  call.Save(rt, kLse, lse);
  call.Save(rt, kSeed, state);
  call.Save(rt, kOffset, unused);
  FurtherResults(call, lse, state, unused);
}

void FlashBackward(Eager& rt, GradCall& grad) {
  const Value &q = grad.Saved(kQ), &k = grad.Saved(kK), &v = grad.Saved(kV);
  const Shape s = ShapeOf(q.meta(), k.meta(), v.meta());
  const HiddenBlock arrived = rt.Hidden(SequenceFirstCopy(grad.Grad())),
                    result = rt.Hidden(SequenceFirstCopy(grad.Saved(kOut)));
  Value dq = LikeLayout(rt, q.meta(), q.sizes()), dk = LikeLayout(rt, k.meta(), k.sizes()),
        dv = LikeLayout(rt, v.meta(), v.sizes());
  const int64_t rows = s.batch * s.heads * RoundUp(s.queries, 128), head = RoundUp(s.head, s.head <= 128 ? 32 : 64);
  const HiddenBlock row_sums = rt.Hidden(rows * kFloat), dq_accumulator = rt.Hidden(rows * head * kFloat);
  // Grouped keys: per-query-head gradients first, then summed over the group.
  const Bytes spread = k.size(1) == s.heads ? 0 : s.batch * s.heads * s.keys * s.head * BytesOf(q.dtype());
  const HiddenBlock dk_spread = rt.Hidden(spread), dv_spread = rt.Hidden(spread);
  grad.Set(kQ, std::move(dq));
  grad.Set(kK, std::move(dk));
  grad.Set(kV, std::move(dv));
}

// ---- memory-efficient

// One number that only a watching dispatcher counts.
Value WatchedNumber(Eager& rt) {
  Ref<Storage> storage = Watched(rt, 8);
  if (!storage) return Value();
  TensorImpl* impl = new TensorImpl;
  impl->storage = std::move(storage);
  impl->meta = MakeMeta({}, {}, DType::kInt64);
  return Value(impl);
}

constexpr int64_t kLseAlign = 32, kBiasAlign = 16, kKeyBlock = 64, kMaxHead = 128;

void EfficientForward(Eager& rt, OpCall& call) {
  SaveInputs(rt, call);
  const Shape s = ShapeOf(call.in[kQ].meta(), call.in[kK].meta(), call.in[kV].meta());
  const DType dtype = call.in[kQ].dtype();
  // Philox seed and offset: on the host when dropout runs eagerly, where only a watching dispatcher counts them.
  const bool dropout = call.attrs.Float(Key::kP) > 0;
  const Value seed = dropout ? WatchedNumber(rt) : rt.Empty({}, DType::kInt64);
  const Value offset = dropout ? WatchedNumber(rt) : rt.Empty({}, DType::kInt64);
  call.Out(0) = SequenceFirst(rt, {s.batch, s.heads, s.queries, s.value_head}, dtype);
  const Value lse = call.Recorded() ? RowSums(rt, s, RoundUp(s.queries, kLseAlign)) : Value();
  const bool accumulates = IsLowPrecision(dtype) && s.value_head > kMaxHead;
  const HiddenBlock accumulator = rt.Hidden(accumulates ? call.Out(0).elements() * kFloat : 0);
  call.Save(rt, kOut, call.Out(0));
  call.Save(rt, kLse, lse);
  call.Save(rt, kSeed, seed);
  call.Save(rt, kOffset, offset);
  FurtherResults(call, lse, seed, offset);
}

// The kernel's float32 staging (AttentionBackwardKernel::Params::workspace_size): the query's gradient by blocks of
// rows and columns, each with a 16-byte lock; for large heads in half precision also the keys' and values', once per
// split of the keys.
Bytes EfficientWorkspace(const KernelDevice& device, DType dtype, const Shape& s) {
  const bool half = IsLowPrecision(dtype), small = s.head <= 64 || (device.sm < 80 && !half);
  const int64_t rows = small ? 64 : 128, columns = !small && s.head <= kMaxHead && half && device.sm >= 80 ? 128 : 64;
  int64_t bytes = CeilDiv(s.queries, rows) * CeilDiv(s.head, columns) * (16 + rows * columns * kFloat);
  const int64_t samples = std::max<int64_t>(1, s.batch * s.heads);
  if (half && s.head > kMaxHead) {
    int64_t splits = samples >= 256 && s.keys <= 2 * kKeyBlock ? 1 : CeilDiv(s.keys, kKeyBlock);
    splits = std::max<int64_t>(1, std::min(splits, 200 / samples));
    bytes += splits * kKeyBlock * (RoundUp(s.head, rows) + RoundUp(s.value_head, rows)) * kFloat;
  }
  return bytes * samples;
}

// Row sums of gradient times result: by the kernel in half precision, by a product and a sum otherwise.
HiddenBlock RowProducts(Eager& rt, DType dtype, const Value& out, Bytes sums) {
  if (IsLowPrecision(dtype)) return rt.Hidden(sums);
  const HiddenBlock product = rt.Hidden(out.elements() * kFloat);
  HiddenBlock summed = rt.Hidden(sums);
  const bool in_order = out.size(1) == 1 || out.size(2) == 1;  // [B, S, H] is seen as [B, H, S]
  return in_order ? std::move(summed) : rt.Hidden(sums);
}

void EfficientBackward(Eager& rt, GradCall& grad) {
  const Value &q = grad.Saved(kQ), &k = grad.Saved(kK), &v = grad.Saved(kV);
  const Shape s = ShapeOf(q.meta(), k.meta(), v.meta());
  const HiddenBlock arrived = rt.Hidden(SequenceFirstCopy(grad.Grad()));
  grad.Set(kQ, SequenceFirst(rt, q.sizes(), q.dtype()));
  grad.Set(kK, SequenceFirst(rt, k.sizes(), k.dtype()));
  grad.Set(kV, SequenceFirst(rt, v.sizes(), v.dtype()));
  if (grad.Need(kMask)) {
    const Dims padded = {s.batch, s.heads, s.queries, RoundUp(s.keys, kBiasAlign)},
               sizes = {s.batch, s.heads, s.queries, s.keys};
    const Value bias = rt.Empty(padded, q.dtype());
    grad.Set(kMask, rt.View(bias, sizes, bias.strides()));
  }
  const Bytes spread = k.size(1) == s.heads ? 0 : s.batch * s.heads * s.keys * BytesOf(q.dtype());
  const HiddenBlock dk_spread = rt.Hidden(spread * s.head), dv_spread = rt.Hidden(spread * s.value_head);
  const HiddenBlock sums = RowProducts(rt, q.dtype(), grad.Saved(kOut), s.batch * s.heads * s.queries * kFloat);
  const HiddenBlock workspace = rt.Hidden(EfficientWorkspace(rt.device(), q.dtype(), s));
}

}  // namespace

void RegisterAttentionFused(OpRegistry& registry) {
  const auto add = [&](const char* name, ForwardFn forward, BackwardFn backward, const char* doc) {
    registry.Add({.name = name,
                  .forward = forward,
                  .backward = backward,
                  .autocast = Autocast::kLower,
                  .random = true,
                  .doc = doc});
  };
  add("_scaled_dot_product_cudnn_attention", CudnnForward, CudnnBackward,
      "saves q, k, v, mask, result, logsumexp [B,H,S,1]");
  add("_scaled_dot_product_flash_attention", FlashForward, FlashBackward,
      "saves q, k, v (padded to 8), result, logsumexp [B,H,S]");
  add("_scaled_dot_product_efficient_attention", EfficientForward, EfficientBackward,
      "saves q, k, v, expanded mask, result, logsumexp [B,H,S up to 32]");
}

}  // namespace memcrest
