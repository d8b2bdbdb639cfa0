// Element-wise losses: squared, absolute, Huber, binary cross-entropy; each with Key::kReduction mean, sum or none.
//
// Source: aten/src/ATen/native/Loss.cpp, BinaryOps.cpp (mse, smooth_l1), cuda/Loss.cu; formulas in derivatives.yaml.
// Measured: mse, smooth_l1 and binary_cross_entropy return a scalar that still owns the element-wise result's storage,
// which was shrunk in place; the first two compute the element-wise loss in one more hidden tensor.
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

using kernel::Map;
using kernel::Mask;
using kernel::PromotedType;

bool Whole(const Attrs& attrs) { return attrs.Text(Key::kReduction, "mean") != "none"; }

void SaveOperands(Eager& rt, OpCall& call) {
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (call.Has(i)) call.Save(rt, i, call.in[i]);
  }
}

// ---- mse_loss, smooth_l1_loss, soft_margin_loss, binary_cross_entropy: the scalar on a full-size storage

template <bool hidden_loss>
void ShrunkForward(Eager& rt, OpCall& call) {
  SaveOperands(rt, call);
  const Value losses = Map(rt, call.in[0], call.in[1], hidden_loss ? DType::kUndefined : call.in[0].dtype());
  if (!Whole(call.attrs)) {
    call.Out(0) = losses;
    return;
  }
  const HiddenBlock elementwise = rt.Hidden(hidden_loss ? losses.bytes() : BytesOf(losses.dtype()));
  call.Out(0) = rt.View(losses, {}, {});
}

// soft_margin_loss_backward computes exp(-target * x) and a quotient of it inside its kernel.
void SoftMarginBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Bytes loss = grad.In(0).elements * BytesOf(Promote(grad.In(0).dtype, grad.In(1).dtype));
  const HiddenBlock exponential = rt.Hidden(loss), quotient = rt.Hidden(loss);
  grad.Set(0, rt.EmptyLike(grad.Saved(0)));
}

// Each operand's gradient is one kernel's result in that operand's type; labels rarely need one.
void PairBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  for (size_t i = 0; i < 2; ++i) {
    if (grad.Need(i)) grad.Set(i, Map(rt, grad.Saved(0), grad.Saved(1), grad.In(i).dtype));
  }
}

// ---- huber_loss: the element-wise loss is hidden, in the input's type

void HuberForward(Eager& rt, OpCall& call) {
  SaveOperands(rt, call);
  const Value& x = call.in[0];
  if (!Whole(call.attrs)) {
    call.Out(0) = Map(rt, x, call.in[1], x.dtype());
    return;
  }
  const HiddenBlock elementwise = rt.Hidden(x.bytes());
  call.Out(0) = rt.Empty({}, x.dtype());
}

// ---- binary_cross_entropy_with_logits(x, target, weight?, pos_weight?)

void BceLogitsForward(Eager& rt, OpCall& call) {
  SaveOperands(rt, call);
  const Value& x = call.in[0];
  const DType dtype = PromotedType(call.in, Attrs());
  const Bytes loss = x.elements() * BytesOf(dtype);
  // log-sigmoid of the input, the loss made of it, and log_weight where there is a pos_weight
  const HiddenBlock logs = rt.Hidden(x.bytes()), weights = rt.Hidden(call.Has(3) ? call.in[3].bytes() : 0);
  const HiddenBlock losses = rt.Hidden(Whole(call.attrs) ? loss : 0);
  call.Out(0) = Whole(call.attrs) ? rt.Empty({}, dtype) : Map(rt, x, call.in[1], dtype);
}

// (sigmoid(x) - target) * grad; with pos_weight: ((t + 1 - target) * sigmoid(x) - t) * grad, t = pos_weight * target.
Value BceLogitsGradient(Eager& rt, const GradCall& grad) {
  const Value &x = grad.Saved(0), &target = grad.Saved(1), &positive = grad.Saved(3);
  const auto difference = [&] {
    if (!positive) return Map(rt, Map(rt, x), target);
    const Value t = Map(rt, positive, target), more = Map(rt, t), less = Map(rt, more, target);
    const Value sigmoid = Map(rt, x), scaled = Map(rt, less, sigmoid);
    return Map(rt, scaled, t);
  };
  return Map(rt, difference(), grad.Grad());
}

void BceLogitsBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(0)) grad.Set(0, BceLogitsGradient(rt, grad));
  if (grad.Need(1)) grad.Set(1, Map(rt, grad.Grad(), Map(rt, grad.Saved(0))));  // grad * -x
}

void BceBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(0)) grad.Set(0, Map(rt, grad.Saved(0), grad.Saved(1), grad.In(0).dtype));
  if (grad.Need(1)) grad.Set(1, Map(rt, grad.Grad(), Map(rt, grad.Saved(0))));  // grad * -logit(x)
}

// ---- xlogy

void XlogyForward(Eager& rt, OpCall& call) {
  SaveOperands(rt, call);
  call.Out(0) = rt.Pointwise(call.in, kernel::FloatType(PromotedType(call.in, call.attrs)));
}

// self: xlogy(grad, other).masked_fill((self == 0) & (other <= 0), 0)
Value XlogyGradient(Eager& rt, const GradCall& grad) {
  const Value product = Map(rt, grad.Grad(), grad.Saved(1));
  const Value below = Mask(rt, grad.Saved(1)), zero = Mask(rt, grad.Saved(0)), both = Mask(rt, zero, below);
  return Map(rt, product, both, product.dtype());
}

void XlogyBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(1)) grad.Set(1, Map(rt, Map(rt, grad.Grad(), grad.Saved(0)), grad.Saved(1)));
  if (grad.Need(0)) grad.Set(0, XlogyGradient(rt, grad));
}

OpEntry Entry(const char* name, ForwardFn forward, BackwardFn backward, const char* doc,
              Autocast autocast = Autocast::kFloat32) {
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.backward = backward;
  entry.autocast = autocast;
  entry.doc = doc;
  return entry;
}

}  // namespace

void RegisterLosses(OpRegistry& r) {
  r.Add(Entry("mse_loss", ShrunkForward<true>, PairBackward, "saves input and target"));
  r.Add(Entry("smooth_l1_loss", ShrunkForward<true>, PairBackward, "saves input and target"));
  r.Add(Entry("soft_margin_loss", ShrunkForward<false>, SoftMarginBackward, "saves input and target"));
  r.Add(Entry("huber_loss", HuberForward, PairBackward, "saves input and target"));
  r.Add(Entry("binary_cross_entropy_with_logits", BceLogitsForward, BceLogitsBackward,
              "saves input, target and weights"));
  // Autocast refuses this one (its inputs would overflow); outside it runs as it is.
  r.Add(Entry("binary_cross_entropy", ShrunkForward<false>, BceBackward, "saves input, target and weight",
              Autocast::kPlain));
  r.Add(Entry("xlogy", XlogyForward, XlogyBackward, "saves both operands", Autocast::kPlain));
}

}  // namespace memcrest
