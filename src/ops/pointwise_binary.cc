// Element-wise functions of two or more tensors, or of a tensor and a Python number: arithmetic, powers, comparisons.
//
// Formulas: tools/autograd/derivatives.yaml; the order of gradients is that of the generated code (by argument name). A
// number is Key::kScalar, kScalarFirst when it stands on the left; it is never a tensor and costs nothing.
#include "src/ops/inplace.h"
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

using kernel::FloatType;
using kernel::Map;
using kernel::Mask;
using kernel::Number;
using kernel::PromotedType;

bool WithNumber(const OpCall& call) { return call.attrs.Has(Key::kScalar); }
bool WithNumber(const GradCall& grad) { return grad.inputs() < 2 || grad.node.in[1].get() == nullptr; }
bool Scaled(const Attrs& attrs) { return attrs.Float(Key::kAlpha, 1) != 1; }

// The result of all operands; in place it is input 0's storage.
void Result(Eager& rt, OpCall& call, DType dtype) {
  call.Out(0) = call.attrs.Bool(Key::kInplace) ? rt.Alias(call.in[0]) : rt.Pointwise(call.in, dtype);
}

// Input 0 as the formula will read it: in place, a clone of what it was.
void SaveFirst(Eager& rt, OpCall& call, size_t slot) {
  call.Save(rt, slot, call.attrs.Bool(Key::kInplace) ? rt.EmptyLike(call.in[0]) : call.in[0]);
}

void PlainForward(Eager& rt, OpCall& call) { Result(rt, call, PromotedType(call.in, call.attrs)); }
void CompareForward(Eager& rt, OpCall& call) { call.Out(0) = rt.Pointwise(call.in, DType::kBool); }

// ---- add, sub

Value TimesAlpha(Eager& rt, const Value& v, const Attrs& attrs) { return Scaled(attrs) ? Map(rt, v) : v; }

void AddBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, TimesAlpha(rt, grad.Grad(), grad.attrs()));
  if (grad.Need(0)) grad.Set(0, grad.Grad());
}

void SubBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, TimesAlpha(rt, Map(rt, grad.Grad()), grad.attrs()));
  if (grad.Need(0)) grad.Set(0, grad.attrs().Bool(Key::kScalarFirst) ? Map(rt, grad.Grad()) : grad.Grad());
}

void RsubBackward(Eager& rt, GradCall& grad) {  // other - self
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, grad.Grad());
  if (grad.Need(0)) grad.Set(0, Map(rt, grad.Grad()));
}

// ---- mul, div

void MulForward(Eager& rt, OpCall& call) {
  if (call.Has(1)) {
    if (call.Need(1)) SaveFirst(rt, call, 0);
    if (call.Need(0)) call.Save(rt, 1, call.in[1]);
  }
  PlainForward(rt, call);
}

void MulBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, Map(rt, grad.Grad(), grad.Saved(0)));
  if (grad.Need(0)) grad.Set(0, WithNumber(grad) ? Map(rt, grad.Grad()) : Map(rt, grad.Grad(), grad.Saved(1)));
}

// number / x is x.reciprocal() * number in Python; everything else is one kernel.
void DivForward(Eager& rt, OpCall& call) {
  if (!call.attrs.Bool(Key::kScalarFirst)) {
    call.Out(0) = kernel::HandOn(rt, "div.Tensor", call)[0];
    return;
  }
  Attrs number;
  number.Set(Key::kScalar, call.attrs.Float(Key::kScalar, 1));
  call.Out(0) = rt.Call("mul", {rt.Call("reciprocal", {call.in[0]})}, std::move(number));
}

void DivKernelForward(Eager& rt, OpCall& call) {
  if (call.Has(1)) {
    if (call.Need(1)) SaveFirst(rt, call, 0);
    call.Save(rt, 1, call.in[1]);
  }
  Result(rt, call, FloatType(PromotedType(call.in, call.attrs)));
}

// other: -grad * ((self / other) / other)
void DivBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (WithNumber(grad)) {
    if (grad.Need(0)) grad.Set(0, Map(rt, grad.Grad()));
    return;
  }
  const auto other = [&](const Value& self, const Value& by) {
    const Value once = Map(rt, self, by), twice = Map(rt, once, by), negative = Map(rt, grad.Grad());
    return Map(rt, negative, twice);
  };
  if (grad.Need(1)) grad.Set(1, other(grad.Saved(0), grad.Saved(1)));
  if (grad.Need(0)) grad.Set(0, Map(rt, grad.Grad(), grad.Saved(1)));
}

// ---- pow

void PowForward(Eager& rt, OpCall& call) {
  const bool number = WithNumber(call), base_is_number = number && call.attrs.Bool(Key::kScalarFirst);
  if (!base_is_number) call.Save(rt, 0, call.in[0]);
  if (call.Has(1)) call.Save(rt, 1, call.in[1]);
  PlainForward(rt, call);
  if (base_is_number || call.Need(1)) call.Save(rt, 2, call.Out(0));
}

// exponent number: grad * (exponent * self.pow(exponent - 1)), zeros for exponent 0. Base number: grad * (result *
// log(base)).
void PowNumberBackward(Eager& rt, GradCall& grad) {
  const bool base = grad.attrs().Bool(Key::kScalarFirst);
  if (!base && grad.attrs().Float(Key::kScalar) == 0) {
    grad.Set(0, Map(rt, grad.Grad()));
  } else if (base) {
    grad.Set(0, Map(rt, grad.Grad(), Map(rt, grad.Saved(2))));
  } else {
    grad.Set(0, Map(rt, grad.Grad(), Map(rt, Map(rt, grad.Saved(0)))));
  }
}

// where(cond, 0, grad * (result * self.log())): cond holds where base and exponent are both zero or above.
Value PowExponentGradient(Eager& rt, const GradCall& grad) {
  const Value& self = grad.Saved(0);
  const auto condition = [&] {
    const Value zero_base = Mask(rt, self), positive = Mask(rt, grad.Saved(1));
    return Mask(rt, zero_base, positive);
  };
  const Value cond = condition();
  const Value logarithm = Map(rt, self), product = Map(rt, grad.Saved(2), logarithm);
  const Value zero = Number(rt, product.dtype()), chosen = Map(rt, cond, product, product.dtype());
  return Map(rt, grad.Grad(), chosen);
}

// where(exponent == 0, 0, grad * (exponent * self.pow(exponent - 1)))
Value PowBaseGradient(Eager& rt, const GradCall& grad) {
  const Value& exponent = grad.Saved(1);
  const Value less = Map(rt, exponent), power = Map(rt, grad.Saved(0), less);
  const Value times = Map(rt, exponent, power), product = Map(rt, grad.Grad(), times);
  const Value zero = Number(rt, product.dtype()), cond = Mask(rt, exponent);
  return Map(rt, cond, product, product.dtype());
}

void PowBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (WithNumber(grad)) return PowNumberBackward(rt, grad);
  if (grad.Need(1)) grad.Set(1, PowExponentGradient(rt, grad));
  if (grad.Need(0)) grad.Set(0, PowBaseGradient(rt, grad));
}

// ---- maximum, minimum

void ExtremeForward(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[0]);
  if (call.Has(1)) call.Save(rt, 1, call.in[1]);
  PlainForward(rt, call);
}

// at::where(self == other, grad / 2, grad).masked_fill(self < other, 0)
Value ExtremeGradient(Eager& rt, const GradCall& grad) {
  const Value beyond = Mask(rt, grad.Saved(0), grad.Saved(1)), half = Map(rt, grad.Grad());
  const Value equal = Mask(rt, grad.Saved(0), grad.Saved(1));
  const Value chosen = Map(rt, equal, half, half.dtype());
  return Map(rt, chosen, beyond, chosen.dtype());
}

void ExtremeBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, ExtremeGradient(rt, grad));
  if (grad.Need(0)) grad.Set(0, ExtremeGradient(rt, grad));
}

// ---- fmod, remainder, atan2

void RemainderForward(Eager& rt, OpCall& call) {
  if (call.Need(1)) {
    SaveFirst(rt, call, 0);
    call.Save(rt, 1, call.in[1]);
  }
  PlainForward(rt, call);
}

// other: -grad * self.div(other, rounding)
void RemainderBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const auto other = [&] {
    const Value quotient = Map(rt, grad.Saved(0), grad.Saved(1)), negative = Map(rt, grad.Grad());
    return Map(rt, negative, quotient);
  };
  if (grad.Need(1)) grad.Set(1, other());
  if (grad.Need(0)) grad.Set(0, grad.Grad());
}

void Atan2Forward(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[0]);
  call.Save(rt, 1, call.in[1]);
  Result(rt, call, FloatType(PromotedType(call.in, call.attrs)));
}

// One reciprocal of self^2 + other^2 serves both gradients.
void Atan2Backward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value &self = grad.Saved(0), &other = grad.Saved(1);
  const auto reciprocal = [&] {
    const auto norm = [&] {
      const Value a = Map(rt, self), b = Map(rt, other);
      return Map(rt, a, b);
    };
    const Value sum = norm(), inverse = Map(rt, sum), zero = Mask(rt, sum);
    return Map(rt, inverse, zero, inverse.dtype());
  };
  const Value recip = reciprocal();
  if (grad.Need(0)) grad.Set(0, Map(rt, grad.Grad(), Map(rt, other, recip)));
  if (grad.Need(1)) grad.Set(1, Map(rt, grad.Grad(), Map(rt, Map(rt, self), recip)));
}

OpEntry Entry(const char* name, ForwardFn forward, BackwardFn backward, const char* doc,
              Autocast autocast = Autocast::kPlain) {
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.backward = backward;
  entry.autocast = autocast;
  entry.differentiable = backward != nullptr;
  entry.doc = doc;
  return entry;
}

}  // namespace

void RegisterPointwiseBinary(OpRegistry& r) {
  r.Add(Entry("add", PlainForward, InplaceAware<AddBackward>, "saves nothing; both gradients are the same tensor"));
  r.Add(Entry("sub", PlainForward, InplaceAware<SubBackward>, "saves nothing"));
  r.Add(Entry("rsub", PlainForward, RsubBackward, "saves nothing"));
  r.Add(Entry("mul", MulForward, InplaceAware<MulBackward>, "saves each operand that the other's gradient needs"));
  r.Add(Entry("div.Tensor", DivKernelForward, InplaceAware<DivBackward>,
              "saves the divisor, and the dividend if the divisor needs a gradient"));
  OpEntry div = Entry("div", DivForward, nullptr, "div.Tensor; number / x is reciprocal, then mul");
  div.composite = true;
  r.Add(div);
  r.Add(Entry("pow", PowForward, PowBackward, "saves its operands; the result for the exponent's gradient",
              Autocast::kFloat32));
  r.Add(Entry("maximum", ExtremeForward, ExtremeBackward, "saves both operands"));
  r.Add(Entry("minimum", ExtremeForward, ExtremeBackward, "saves both operands"));
  r.Add(Entry("fmod", RemainderForward, RemainderBackward, "saves both operands if the second needs a gradient"));
  r.Add(Entry("remainder", RemainderForward, RemainderBackward, "saves both operands if the second needs a gradient"));
  r.Add(Entry("atan2", Atan2Forward, Atan2Backward, "saves both operands", Autocast::kPromote));
  r.Add(Entry("floor_divide", PlainForward, nullptr, "no gradient"));
  for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"}) {
    r.Add(Entry(name, CompareForward, nullptr, "a bool result"));
  }
  for (const char* name : {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}) {
    r.Add(Entry(name, PlainForward, nullptr, "an integer or bool result"));
  }
}

}  // namespace memcrest
