// Element-wise selection, interpolation and fused arithmetic: where, masked_fill, lerp, addcmul, addcdiv, prelu, glu.
//
// Formulas: tools/autograd/derivatives.yaml.
#include "src/ops/inplace.h"
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

using kernel::Map;
using kernel::Mask;
using kernel::Number;
using kernel::PromotedType;

// ---- where

void WhereForward(Eager& rt, OpCall& call) {
  const bool numbers = !call.Has(1) && !call.Has(2);  // of two numbers: the type asked for
  const DType asked = numbers ? call.attrs.Type(Key::kDtype) : DType::kUndefined;
  const DType dtype = asked != DType::kUndefined ? asked : PromotedType(call.in.subspan(1), call.attrs);
  call.Save(rt, 0, call.in[0]);
  const Value number = call.attrs.Has(Key::kScalar) ? Number(rt, dtype) : Value();  // scalar_tensor
  call.Out(0) = rt.Pointwise(call.in, dtype);
}

Value Chosen(Eager& rt, const GradCall& grad) {  // where(condition, grad, 0) or the other way round
  const Value zero = Number(rt, grad.Grad().dtype());
  return Map(rt, grad.Saved(0), grad.Grad(), grad.Grad().dtype());
}

void WhereBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(2)) grad.Set(2, Chosen(rt, grad));
  if (grad.Need(1)) grad.Set(1, Chosen(rt, grad));
}

// ---- masked_fill(x, mask, value?)

void MaskedFillForward(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[1]);
  call.Out(0) =
      call.attrs.Bool(Key::kInplace) ? rt.Alias(call.in[0]) : Map(rt, call.in[0], call.in[1], call.in[0].dtype());
}

void MaskedFillBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(0)) grad.Set(0, Map(rt, grad.Grad(), grad.Saved(0), grad.Grad().dtype()));
  if (grad.Need(2)) grad.Set(2, Chosen(rt, grad));  // then summed to the value's size
}

// ---- lerp(start, end, weight?)

void LerpForward(Eager& rt, OpCall& call) {
  if (call.Has(2)) {
    if (call.Need(2)) call.Save(rt, 0, call.in[0]);
    if (call.Need(2)) call.Save(rt, 1, call.in[1]);
    call.Save(rt, 2, call.in[2]);
  }
  call.Out(0) =
      call.attrs.Bool(Key::kInplace) ? rt.Alias(call.in[0]) : rt.Pointwise(call.in, PromotedType(call.in, Attrs()));
}

void LerpBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value& weight = grad.Saved(2);
  const auto times = [&](const Value& factor) { return factor ? Map(rt, grad.Grad(), factor) : Map(rt, grad.Grad()); };
  if (grad.Need(1)) grad.Set(1, times(weight));
  if (grad.Need(0)) grad.Set(0, times(weight ? Map(rt, weight) : Value()));
  if (grad.Need(2)) grad.Set(2, Map(rt, grad.Grad(), Map(rt, grad.Saved(1), grad.Saved(0))));
}

// ---- addcmul, addcdiv(x, tensor1, tensor2)

void AddcmulForward(Eager& rt, OpCall& call) {
  if (call.Need(2)) call.Save(rt, 0, call.in[1]);
  if (call.Need(1)) call.Save(rt, 1, call.in[2]);
  call.Out(0) = call.attrs.Bool(Key::kInplace) ? rt.Alias(call.in[0]) : rt.Pointwise(call.in);
}

void AddcmulBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, Map(rt, grad.Grad(), Map(rt, grad.Saved(1))));  // grad * (tensor2 * value)
  if (grad.Need(2)) grad.Set(2, Map(rt, grad.Grad(), Map(rt, grad.Saved(0))));
  if (grad.Need(0)) grad.Set(0, grad.Grad());
}

void AddcdivForward(Eager& rt, OpCall& call) {
  if (call.Need(2)) call.Save(rt, 0, call.in[1]);
  if (call.Need(1) || call.Need(2)) call.Save(rt, 1, call.in[2]);
  call.Out(0) = call.attrs.Bool(Key::kInplace) ? rt.Alias(call.in[0]) : rt.Pointwise(call.in);
}

// tensor2: -grad * (value * tensor1 / (tensor2 * tensor2))
Value DivisorGradient(Eager& rt, const GradCall& grad) {
  const Value square = Map(rt, grad.Saved(1)), scaled = Map(rt, grad.Saved(0));
  const Value quotient = Map(rt, scaled, square), negative = Map(rt, grad.Grad());
  return Map(rt, negative, quotient);
}

void AddcdivBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, Map(rt, grad.Grad(), Map(rt, grad.Saved(1))));  // grad * (value / tensor2)
  if (grad.Need(2)) grad.Set(2, DivisorGradient(rt, grad));
  if (grad.Need(0)) grad.Set(0, grad.Grad());
}

// ---- prelu(x, weight), glu

// The weight as it is multiplied: one value per channel, with trailing dimensions of size 1.
Value ChannelWeight(Eager& rt, const Value& weight, int rank) {
  if (weight.elements() == 1 || rank < 2) return weight;
  Dims sizes(static_cast<size_t>(rank), 1), strides(static_cast<size_t>(rank), 1);
  sizes[1] = weight.elements();
  strides[0] = weight.elements();
  return rt.View(weight, sizes, strides);
}

void PreluForward(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[0]);
  call.Save(rt, 1, call.in[1]);
  call.Out(0) = Map(rt, call.in[0], ChannelWeight(rt, call.in[1], call.in[0].rank()), call.in[0].dtype());
}

// The weight's gradient comes at the input's size and is summed over all dimensions but the channels'.
void PreluBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value &x = grad.Saved(0), weight = ChannelWeight(rt, grad.Saved(1), x.rank());
  Value by_input = Map(rt, x, weight, grad.Grad().dtype()), by_weight = Map(rt, x, weight, grad.Grad().dtype());
  if (grad.Need(0)) grad.Set(0, std::move(by_input));
  if (!grad.Need(1)) return;
  Value summed = rt.SumTo(by_weight, weight.sizes());
  grad.Set(1, rt.Reshape(summed, grad.In(1).sizes));
}

void GluForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Save(rt, 0, x);
  Dims sizes = x.sizes();
  if (!sizes.empty()) sizes[static_cast<size_t>(NormalAxis(call.attrs.Int(Key::kAxis, -1), x.rank()))] /= 2;
  call.Out(0) = rt.Empty(sizes, x.dtype());
}

void GluBackward(Eager& rt, GradCall& grad) {
  if (grad.HasGrad()) grad.Set(0, rt.Empty(grad.In(0).sizes, grad.In(0).dtype));
}

OpEntry Entry(const char* name, ForwardFn forward, BackwardFn backward, const char* doc,
              Autocast autocast = Autocast::kPlain) {
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.backward = backward;
  entry.autocast = autocast;
  entry.doc = doc;
  return entry;
}

}  // namespace

void RegisterPointwiseTernary(OpRegistry& r) {
  r.Add(Entry("where", WhereForward, WhereBackward, "saves the condition"));
  r.Add(Entry("masked_fill", MaskedFillForward, InplaceAware<MaskedFillBackward>, "saves the mask"));
  r.Add(Entry("lerp", LerpForward, LerpBackward, "saves the weight; both ends if it needs a gradient"));
  r.Add(Entry("addcmul", AddcmulForward, AddcmulBackward, "saves each factor that the other's gradient needs",
              Autocast::kPromote));
  r.Add(Entry("addcdiv", AddcdivForward, AddcdivBackward, "saves the divisor, and the dividend for its gradient",
              Autocast::kPromote));
  r.Add(Entry("prelu", PreluForward, PreluBackward, "saves input and weight", Autocast::kLower));
  r.Add(Entry("glu", GluForward, GluBackward, "saves its input"));
}

}  // namespace memcrest
