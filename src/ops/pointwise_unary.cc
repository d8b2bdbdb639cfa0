// Element-wise functions of one tensor: activations, mathematics, tests.
//
// Formulas: tools/autograd/derivatives.yaml. Most gradients are a chain of kernels over the saved tensor whose last one
// takes the gradient in; a row says what is saved and how many kernels there are. In place (Key::kInplace) the result
// is the input's storage; a formula that needs the old input saves a clone of it, as autograd does.
#include <array>

#include "src/ops/inplace.h"
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

using kernel::FloatType;
using kernel::Map;
using kernel::Mask;
using kernel::Number;

enum class Keep : uint8_t {
  kNothing,
  kInput,
  kResult,
  kResultInPlace
};                                            // the last: the result when in place, else the input
enum class Type : uint8_t { kSame, kFloat };  // of the result for integer inputs

template <Keep keep, Type type>
void Forward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const bool inplace = call.attrs.Bool(Key::kInplace);
  if (keep == Keep::kInput || (keep == Keep::kResultInPlace && !inplace)) {
    call.Save(rt, 0, inplace && call.Recorded() ? rt.EmptyLike(x) : x);
  }
  call.Out(0) = inplace ? rt.Alias(x) : Map(rt, x, type == Type::kFloat ? FloatType(x.dtype()) : x.dtype());
  if (keep == Keep::kResult || (keep == Keep::kResultInPlace && inplace)) call.Save(rt, 0, call.Out(0));
}

// `kernels` results one after another; all but the last are of the saved tensor alone and die when the last is there.
template <size_t kernels>
void Backward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value& saved = grad.Saved(0);
  std::array<Value, kernels> made;
  for (size_t i = 0; i + 1 < made.size(); ++i) made[i] = Map(rt, saved);
  Value result = kernels > 1 ? Map(rt, grad.Grad(), made[made.size() - 2])
                 : saved     ? Map(rt, grad.Grad(), saved)
                             : Map(rt, grad.Grad());
  for (size_t i = made.size(); i-- > 0;) made[i].reset();
  grad.Set(0, std::move(result));
}

template <Keep keep, size_t kernels, Type type = Type::kFloat>
OpEntry Row(const char* name, const char* doc, Autocast autocast = Autocast::kPlain) {
  OpEntry entry;
  entry.name = name;
  entry.forward = Forward<keep, type>;
  entry.backward = InplaceAware<Backward<kernels>>;
  entry.autocast = autocast;
  entry.doc = doc;
  return entry;
}

OpEntry Same(const char* name, ForwardFn forward, const char* doc) {  // without a gradient
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.differentiable = false;
  entry.doc = doc;
  return entry;
}

void TestForward(Eager& rt, OpCall& call) { call.Out(0) = Mask(rt, call.in[0]); }

void IsInfForward(Eager& rt, OpCall& call) {
  const HiddenBlock magnitude = rt.Hidden(call.in[0].bytes());  // isinf: self.abs() == inf, both inside the kernel
  call.Out(0) = Mask(rt, call.in[0]);
}

void NotForward(Eager& rt, OpCall& call) { call.Out(0) = Map(rt, call.in[0]); }

// grad * self.isfinite(), which is (self == self) * (self.abs() != inf).
void NanToNumBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const auto finite = [&](const Value& x) {
    Value magnitude = Map(rt, x);
    Value below = Mask(rt, magnitude), number = Mask(rt, x);
    return Mask(rt, number, below);
  };
  grad.Set(0, Map(rt, grad.Grad(), finite(grad.Saved(0)), grad.Grad().dtype()));
}

// where(mask, grad, 0); clamp with both bounds makes two masks.
template <int masks>
void ClampBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value zero = Number(rt, grad.Grad().dtype());
  const Value above = Mask(rt, grad.Saved(0));
  const Value below = masks > 1 ? Mask(rt, grad.Saved(0)) : Value();
  grad.Set(0, Map(rt, above, grad.Grad(), grad.Grad().dtype()));
}

template <int masks>
OpEntry Clamp(const char* name) {
  OpEntry entry = Row<Keep::kInput, 1, Type::kSame>(name, "saves its input");
  entry.backward = InplaceAware<ClampBackward<masks>>;
  return entry;
}

void SoftsignForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Value one_more = rt.Call("add", {rt.Call("abs", {x})}, Attrs{{Key::kScalar, int64_t{1}}});
  call.Out(0) = rt.Call("div", {x, one_more});
}

void TanhshrinkForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Out(0) = rt.Call("sub", {x, rt.Call("tanh", {x})});
}

OpEntry Composite(const char* name, ForwardFn forward, const char* doc) {
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.composite = true;
  entry.doc = doc;
  return entry;
}

void RegisterActivations(OpRegistry& r) {
  r.Add(Row<Keep::kResult, 1, Type::kSame>("relu", "saves its result"));
  r.Add(Row<Keep::kResult, 1>("sigmoid", "saves its result"));
  r.Add(Row<Keep::kResult, 1>("tanh", "saves its result"));
  for (const char* name :
       {"gelu", "silu", "mish", "hardswish", "hardsigmoid", "softshrink", "hardshrink", "logsigmoid"}) {
    r.Add(Row<Keep::kInput, 1>(name, "saves its input (in place: a clone of it)"));
  }
  for (const char* name : {"hardtanh", "relu6", "threshold"}) {
    r.Add(Row<Keep::kInput, 1, Type::kSame>(name, "saves its input (in place: a clone of it)"));
  }
  for (const char* name : {"leaky_relu", "elu", "selu", "celu"}) {
    r.Add(Row<Keep::kResultInPlace, 1>(name, "saves its input; in place its result"));
  }
  r.Add(Row<Keep::kInput, 1>("softplus", "saves its input", Autocast::kFloat32));
  r.Add(Composite("softsign", SoftsignForward, "x / (|x| + 1)"));
  r.Add(Composite("tanhshrink", TanhshrinkForward, "x - tanh(x)"));
  r.Add(Clamp<2>("clamp"));
  r.Add(Clamp<1>("clamp_min"));
  r.Add(Clamp<1>("clamp_max"));
}

void RegisterMathematics(OpRegistry& r) {
  constexpr Autocast kFloat32 = Autocast::kFloat32;
  r.Add(Row<Keep::kResult, 1>("exp", "saves its result", kFloat32));
  r.Add(Row<Keep::kResult, 2>("expm1", "saves its result", kFloat32));
  r.Add(Row<Keep::kInput, 1>("log", "saves its input", kFloat32));
  for (const char* name : {"log2", "log10", "log1p"}) r.Add(Row<Keep::kInput, 2>(name, "saves its input", kFloat32));
  r.Add(Row<Keep::kResult, 2>("sqrt", "saves its result"));
  r.Add(Row<Keep::kResult, 3>("rsqrt", "saves its result", kFloat32));
  r.Add(Row<Keep::kResult, 3>("reciprocal", "saves its result", kFloat32));
  r.Add(Row<Keep::kInput, 2>("sin", "saves its input"));
  r.Add(Row<Keep::kInput, 3>("cos", "saves its input"));
  r.Add(Row<Keep::kResult, 3>("tan", "saves its result", kFloat32));
  r.Add(Row<Keep::kInput, 5>("asin", "saves its input", kFloat32));
  r.Add(Row<Keep::kInput, 6>("acos", "saves its input", kFloat32));
  r.Add(Row<Keep::kInput, 3>("atan", "saves its input"));
  r.Add(Row<Keep::kInput, 2>("sinh", "saves its input", kFloat32));
  r.Add(Row<Keep::kInput, 2>("cosh", "saves its input", kFloat32));
  for (const char* name : {"asinh", "acosh"}) r.Add(Row<Keep::kInput, 4>(name, "saves its input"));
  r.Add(Row<Keep::kInput, 4>("atanh", "saves its input"));
  r.Add(Row<Keep::kInput, 5>("erf", "saves its input"));
  r.Add(Row<Keep::kInput, 5>("erfc", "saves its input"));
  r.Add(Row<Keep::kInput, 2, Type::kSame>("abs", "saves its input"));
  r.Add(Row<Keep::kNothing, 1, Type::kSame>("neg", "saves nothing"));
  for (const char* name : {"floor", "ceil", "round", "trunc", "sign"}) {
    r.Add(Row<Keep::kNothing, 1, Type::kSame>(name, "saves nothing; its gradient is zeros"));
  }
  OpEntry nan_to_num = Row<Keep::kInput, 1, Type::kSame>("nan_to_num", "saves its input");
  nan_to_num.backward = NanToNumBackward;
  r.Add(nan_to_num);
}

}  // namespace

void RegisterPointwiseUnary(OpRegistry& registry) {
  RegisterActivations(registry);
  RegisterMathematics(registry);
  registry.Add(Same("isnan", TestForward, "a bool result"));
  registry.Add(Same("isinf", IsInfForward, "a bool result; a hidden copy"));
  registry.Add(Same("logical_not", TestForward, "a bool result"));
  registry.Add(Same("bitwise_not", NotForward, "a result of its input's type"));
}

}  // namespace memcrest
