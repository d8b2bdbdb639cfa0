// Attention of plain operators: the backend for what no fused kernel takes (_scaled_dot_product_attention_math).
//
// Half precision runs in float32. q and k^T are scaled before their product and saved scaled; the softmax's result is
// saved.
#include <cmath>
#include <utility>

#include "src/eager/eager.h"

namespace memcrest {
namespace {

Value Cast(Eager& rt, const Value& v, DType dtype) {
  return !v || v.dtype() == dtype ? v : rt.Call("to", {v}, {{Key::kDtype, dtype}});
}

// Keys and values of a group repeated for each of its query heads: an expanded view, cloned flat.
Value Repeated(Eager& rt, const Value& v, int64_t heads) {
  if (v.rank() < 3 || v.size(-3) == heads || v.size(-3) == 0) return v;
  Dims grouped = v.sizes();
  const size_t axis = grouped.size() - 3;
  const int64_t groups = grouped[axis], times = heads / groups;
  grouped.insert(grouped.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
  Dims spread = grouped, flat = v.sizes();
  spread[axis + 1] = times;
  flat[axis] = groups * times;
  const Value viewed = rt.Call("view", {v}, {{Key::kSizes, grouped}}, &grouped);
  return rt.Call("reshape", {rt.Call("expand", {viewed}, {{Key::kSizes, spread}}, &spread)}, {{Key::kSizes, flat}},
                 &flat);
}

Value Transposed(Eager& rt, const Value& v) {
  Dims perm;
  for (int i = 0; i < v.rank(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return rt.Call("transpose", {v}, {{Key::kPerm, perm}});
}

// tril(ones) as a bool, then where(mask, 0, -inf).
Value CausalMask(Eager& rt, int64_t queries, int64_t keys, DType dtype) {
  const Dims sizes = {queries, keys};
  const Value lower = [&] {
    const Value ones = rt.Empty(sizes, DType::kBool);
    return rt.Empty(sizes, DType::kBool);
  }();
  const Value zero = rt.Empty({}, dtype), infinity = rt.Empty({}, dtype);
  return rt.Empty(sizes, dtype);
}

void MathForward(Eager& rt, OpCall& call) {
  const DType given = call.in[0].dtype(), wide = IsLowPrecision(given) ? DType::kFloat32 : given;
  const Value q = Cast(rt, call.in[0], wide), k0 = Cast(rt, call.in[1], wide), v0 = Cast(rt, call.in[2], wide);
  const double root = std::sqrt(call.attrs.Float(Key::kScale, 1.0 / std::sqrt(static_cast<double>(q.size(-1)))));
  const Value scaled = rt.Call("mul", {q}, {{Key::kScalar, root}});
  Value mask = call.Has(3) ? call.in[3] : Value();
  if (call.attrs.Bool(Key::kCausal)) mask = CausalMask(rt, q.size(-2), k0.size(-2), wide);
  const Value k = Repeated(rt, k0, q.size(-3)), v = Repeated(rt, v0, q.size(-3));
  Value attention = rt.Call("matmul", {scaled, rt.Call("mul", {Transposed(rt, k)}, {{Key::kScalar, root}})});
  if (mask) attention = rt.Call("add", {attention, mask});
  attention = rt.Call("_safe_softmax", {attention});
  const double p = call.attrs.Float(Key::kP);
  if (p > 0) attention = rt.Call("dropout", {attention}, {{Key::kP, p}, {Key::kTraining, true}});
  const Value returned = Cast(rt, attention, given);  // the second result, which the caller drops
  const Value result = rt.Call("matmul", {attention, v});
  call.Out(0) = Cast(rt, result, given);
}

// ---- softmax whose fully masked rows are zero

void SafeSoftmaxForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Out(0) = rt.Empty(x.sizes(), x.dtype());
  const int64_t rows = x.size(-1) > 0 ? x.elements() / x.size(-1) : 0;
  const HiddenBlock masked = rt.Hidden(x.elements()), masked_rows = rt.Hidden(rows), zero = rt.Hidden(4);
  call.Save(rt, 0, call.Out(0));
}

void SafeSoftmaxBackward(Eager& rt, GradCall& grad) {
  const Value& y = grad.Saved(0);
  const HiddenBlock product = rt.Hidden(y.bytes());
  grad.Set(0, rt.Empty(y.sizes(), y.dtype()));
}

}  // namespace

void RegisterAttentionMath(OpRegistry& registry) {
  registry.Add({.name = "_scaled_dot_product_attention_math",
                .forward = MathForward,
                .composite = true,
                .random = true,
                .doc = "matmul, mask, softmax, dropout, matmul in float32"});
  registry.Add({.name = "_safe_softmax",
                .forward = SafeSoftmaxForward,
                .backward = SafeSoftmaxBackward,
                .doc = "saves its result"});
}

}  // namespace memcrest
