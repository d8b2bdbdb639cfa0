// Dropout in training: native_dropout keeps a mask of one byte an element; the feature and in-place forms keep a noise
// tensor.
//
// Source: aten/src/ATen/native/Dropout.cpp. With p = 0 or outside training the input itself is the result.
#include "src/ops/kernels.h"
#include "src/ops/layout.h"

namespace memcrest {
namespace {

bool Off(const Attrs& attrs) { return !attrs.Bool(Key::kTraining, true) || attrs.Float(Key::kP, 0.5) == 0; }

// noise [N, C, 1, ...] of the feature forms, in the input's type.
Value FeatureNoise(Eager& rt, const Value& x) {
  Dims sizes = x.sizes();
  for (size_t i = 2; i < sizes.size(); ++i) sizes[i] = 1;
  return rt.Empty(sizes, x.dtype());
}

Value Times(Eager& rt, const Value& x, const Value& noise, bool inplace) {
  return rt.Call("mul", {x, noise}, Attrs{{Key::kInplace, inplace}});
}

void DropoutForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const bool inplace = call.attrs.Bool(Key::kInplace);
  if (Off(call.attrs)) {
    call.Out(0) = x;
  } else if (call.attrs.Float(Key::kP, 0.5) == 1) {
    call.Out(0) = Times(rt, x, rt.Zeros({}, x.dtype()), inplace);
  } else if (inplace) {
    call.Out(0) = Times(rt, x, rt.EmptyLike(x), true);
  } else {
    call.Out(0) = rt.CallAll("native_dropout", {x})[0];
  }
}

void NativeForward(Eager& rt, OpCall& call) {
  call.Out(1) = rt.EmptyLike(call.in[0], DType::kBool);  // the mask is made first (dropout_cuda in Dropout.cu)
  call.Out(0) = rt.EmptyLike(call.in[0]);
  call.non_differentiable = 2;
  call.Save(rt, 0, call.Out(1));
}

// The gradient is laid out as suggest_memory_format() of what arrived.
void NativeBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Meta& g = grad.Grad().meta();
  grad.Set(0, rt.EmptyStrided(g.sizes, StridesIn(g.sizes, SuggestsChannelsLast(g)), g.dtype));
}

void FeatureForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Out(0) = Off(call.attrs) ? x : Times(rt, x, FeatureNoise(rt, x), call.attrs.Bool(Key::kInplace));
}

// x * noise + shift; the shift is computed from the noise and added in place.
void Alpha(Eager& rt, OpCall& call, const Value& noise) {
  const Value shift = rt.EmptyLike(noise);
  const Value scaled = Times(rt, call.in[0], noise, call.attrs.Bool(Key::kInplace));
  call.Out(0) = rt.Call("add", {scaled, shift}, Attrs{{Key::kInplace, true}});
}

void AlphaForward(Eager& rt, OpCall& call) {
  if (Off(call.attrs)) {
    call.Out(0) = call.in[0];
  } else {
    Alpha(rt, call, rt.EmptyLike(call.in[0]));
  }
}

void FeatureAlphaForward(Eager& rt, OpCall& call) {
  if (Off(call.attrs)) {
    call.Out(0) = call.in[0];
  } else {
    Alpha(rt, call, FeatureNoise(rt, call.in[0]));
  }
}

void BernoulliForward(Eager& rt, OpCall& call) { call.Out(0) = rt.EmptyLike(call.in[0]); }
void ZerosBackward(Eager& rt, GradCall& grad) {
  if (grad.HasGrad()) grad.Set(0, rt.EmptyLike(grad.Grad()));
}

OpEntry Composite(const char* name, ForwardFn forward, const char* doc) {
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.composite = true;
  entry.random = true;
  entry.doc = doc;
  return entry;
}

}  // namespace

void RegisterDropout(OpRegistry& r) {
  r.Add(Composite("dropout", DropoutForward, "native_dropout; in place: times a full-size noise tensor"));
  r.Add(Composite("feature_dropout", FeatureForward, "times noise of one value a channel"));
  r.Add(Composite("alpha_dropout", AlphaForward, "times a full-size noise tensor, plus a shift"));
  r.Add(Composite("feature_alpha_dropout", FeatureAlphaForward, "times noise of one value a channel, plus a shift"));
  OpEntry native;
  native.name = "native_dropout";
  native.forward = NativeForward;
  native.backward = NativeBackward;
  native.random = true;
  native.doc = "saves a bool mask";
  r.Add(native);
  OpEntry bernoulli;
  bernoulli.name = "bernoulli";
  bernoulli.forward = BernoulliForward;
  bernoulli.backward = ZerosBackward;
  bernoulli.random = true;
  bernoulli.doc = "saves nothing; its gradient is zeros";
  r.Add(bernoulli);
}

}  // namespace memcrest
