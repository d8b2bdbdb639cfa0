// Reductions to fewer elements: sums, means, extremes, moments, norms.
//
// Formulas: tools/autograd/derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp. Kernels take scratch by launch
// configuration (reduce_scratch.h). Key::kAxes or kAxis, kKeepDims, kDtype; sizes follow from them.
#include "src/ops/reduce_scratch.h"
#include "src/ops/reduction_values.h"

namespace memcrest {
namespace {

using kernel::Map;
using kernel::Mask;
using kernel::ReducedAxes;
using kernel::Unreduced;

bool Kept(const Attrs& attrs) { return attrs.Bool(Key::kKeepDims); }

Value Restored(Eager& rt, const GradCall& grad, const Value& v) {
  const int rank = static_cast<int>(grad.In(0).sizes.size());
  return Unreduced(rt, v, ReducedAxes(grad.attrs(), rank), Kept(grad.attrs()), rank);
}

// ---- sum, mean

DType SumType(DType input, const Attrs& attrs) {
  const DType natural = IsDifferentiable(input) ? input : DType::kInt64;
  return attrs.Type(Key::kDtype, natural);
}

void SumForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Out(0) = SummedValue(rt, x, ReducedAxes(call.attrs, x.rank()), Kept(call.attrs), SumType(x.dtype(), call.attrs));
}

void MeanForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Out(0) =
      SummedValue(rt, x, ReducedAxes(call.attrs, x.rank()), Kept(call.attrs), call.attrs.Type(Key::kDtype, x.dtype()));
}

void SumBackward(Eager& rt, GradCall& grad) {
  if (grad.HasGrad()) grad.Set(0, rt.Expanded(Restored(rt, grad, grad.Grad()), grad.In(0).sizes));
}

void MeanBackward(Eager& rt, GradCall& grad) {
  if (grad.HasGrad()) grad.Set(0, Map(rt, rt.Expanded(Restored(rt, grad, grad.Grad()), grad.In(0).sizes)));
}

// ---- amax, amin; max, min of everything

void ExtremeForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Save(rt, 0, x);
  call.Out(0) = ReducedValue(rt, x, ReducedAxes(call.attrs, x.rank()), Kept(call.attrs), x.dtype(),
                             ExtremeKernel(x.dtype(), false));
  call.Save(rt, 1, call.Out(0));
}

// mask * (grad / mask.sum(dims)): equal elements share the gradient (scale_grad_by_count).
Value SharedGradient(Eager& rt, const GradCall& grad, const Value& mask, const Value& gradient) {
  const Value count = SummedValue(rt, mask, ReducedAxes(grad.attrs(), mask.rank()), true, DType::kInt64);
  const Value share = Map(rt, gradient, count, gradient.dtype());
  return Map(rt, mask, share, gradient.dtype());
}

void ExtremeBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value mask = Mask(rt, grad.Saved(0), Restored(rt, grad, grad.Saved(1)));
  grad.Set(0, SharedGradient(rt, grad, mask, Restored(rt, grad, grad.Grad())));
}

// max() and min() of everything look for NaN first (evenly_distribute_backward).
void WholeExtremeBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value input_nan = Mask(rt, grad.Saved(0)), value_nan = Mask(rt, grad.Saved(1));
  const Value both = Mask(rt, input_nan, value_nan), mask = Mask(rt, grad.Saved(0), grad.Saved(1));
  grad.Set(0, SharedGradient(rt, grad, mask, Restored(rt, grad, grad.Grad())));
}

// max and min: with Key::kAxis the two-result form, else the whole tensor's.
template <const char* const* names>
void PickForward(Eager& rt, OpCall& call) {
  const Values made = kernel::HandOn(rt, names[call.attrs.Has(Key::kAxis) ? 1 : 0], call);
  for (size_t i = 0; i < made.size(); ++i) call.Out(i) = made[i];
}
constexpr const char* kMaxNames[] = {"max.all", "max.dim"};
constexpr const char* kMinNames[] = {"min.all", "min.dim"};

void ArgForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Out(0) = ReducedValue(rt, x, ReducedAxes(call.attrs, x.rank()), Kept(call.attrs), DType::kInt64,
                             ExtremeKernel(x.dtype(), true));
}

void TestForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  call.Out(0) = ReducedValue(rt, x, ReducedAxes(call.attrs, x.rank()), Kept(call.attrs), DType::kBool, BoolKernel());
}

// ---- var, std

template <bool deviation, bool with_mean>
void MomentForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Dims axes = ReducedAxes(call.attrs, x.rank());
  call.Save(rt, 0, x);
  call.Out(0) = ReducedValue(rt, x, axes, Kept(call.attrs), x.dtype(), MomentKernel(x.dtype()));
  if (with_mean) call.Out(1) = ReducedValue(rt, x, axes, Kept(call.attrs), x.dtype(), ReduceKernel());
  if (deviation) call.Save(rt, 1, call.Out(0));
}

// var: (2 / n) * grad * (self - self.mean(dims, true)).
Value VarianceGradient(Eager& rt, const GradCall& grad, const Value& arrived) {
  const Value& x = grad.Saved(0);
  const Value wide = Restored(rt, grad, arrived);
  const Value mean = SummedValue(rt, x, ReducedAxes(grad.attrs(), x.rank()), true, x.dtype());
  const Value centred = Map(rt, x, mean), scaled = Map(rt, wide);
  return Map(rt, scaled, centred);
}

// std: the same of grad / (2 * result), zero where the result is.
Value DeviationGradient(Eager& rt, const GradCall& grad) {
  const auto inner = [&] {
    const Value twice = Map(rt, grad.Saved(1));
    Value quotient = Map(rt, grad.Grad(), twice);
    const Value zero = Mask(rt, grad.Saved(1));
    return quotient;
  };
  return VarianceGradient(rt, grad, inner());
}

template <bool deviation>
void MomentBackward(Eager& rt, GradCall& grad) {
  Value sum;
  if (grad.HasGrad(0)) sum = deviation ? DeviationGradient(rt, grad) : VarianceGradient(rt, grad, grad.Grad());
  if (grad.HasGrad(1)) {
    const Value mean = Map(rt, rt.Expanded(Restored(rt, grad, grad.Grad(1)), grad.In(0).sizes));
    sum = sum ? Map(rt, sum, mean) : mean;
  }
  if (sum) grad.Set(0, std::move(sum));
}

// ---- logsumexp, norm

void LogSumExpForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Dims axes = ReducedAxes(call.attrs, x.rank());
  call.Save(rt, 0, x);
  call.Out(0) = rt.Empty(ReducedSizes(x.sizes(), axes, Kept(call.attrs)), x.dtype());
  const HiddenBlock shifted = rt.Hidden(x.bytes()), maxima = rt.Hidden(call.Out(0).bytes());  // (self - max).exp(); max
  call.Save(rt, 1, call.Out(0));
}

// grad * (self - result).exp()
void LogSumExpBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value wide = Restored(rt, grad, grad.Grad()), result = Restored(rt, grad, grad.Saved(1));
  grad.Set(0, Map(rt, wide, Map(rt, Map(rt, grad.Saved(0), result))));
}

void NormForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const DType dtype = call.attrs.Type(Key::kDtype, x.dtype());
  call.Save(rt, 0, x);
  call.Out(0) =
      ReducedValue(rt, x, ReducedAxes(call.attrs, x.rank()), Kept(call.attrs), dtype, SumKernel(x.dtype(), dtype));
  call.Save(rt, 1, call.Out(0));
}

// Order 2: (self / norm).masked_fill_(norm == 0, 0) * grad. Order 1: self.sgn() * grad. Others: self.abs().pow_(p - 1)
// * self ...
void NormBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value &x = grad.Saved(0), wide = Restored(rt, grad, grad.Grad()), norm = Restored(rt, grad, grad.Saved(1));
  const double order = grad.attrs().Float(Key::kP, 2);
  if (order == 1) {
    grad.Set(0, Map(rt, wide, Map(rt, x)));
  } else if (order == 2) {
    const Value unit = Map(rt, x, norm), zero = Mask(rt, norm);
    grad.Set(0, Map(rt, unit, wide));
  } else {
    const auto powers = [&] {
      const Value magnitude = Map(rt, x);
      return Map(rt, magnitude, x);
    };
    const Value base = powers(), scale = Map(rt, wide, norm);
    grad.Set(0, Map(rt, base, scale));
  }
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

OpEntry Composite(const char* name, ForwardFn forward, const char* doc) {
  OpEntry entry = Entry(name, forward, nullptr, doc);
  entry.differentiable = true;
  entry.composite = true;
  return entry;
}

}  // namespace

void RegisterReductions(OpRegistry& r) {
  r.Add(Entry("sum", SumForward, SumBackward, "saves nothing; its gradient is an expanded view", Autocast::kSetDtype));
  r.Add(Entry("mean", MeanForward, MeanBackward, "saves nothing; its gradient is expanded and divided"));
  r.Add(Entry("amax", ExtremeForward, ExtremeBackward, "saves input and result"));
  r.Add(Entry("amin", ExtremeForward, ExtremeBackward, "saves input and result"));
  r.Add(Entry("max.all", ExtremeForward, WholeExtremeBackward, "saves input and result"));
  r.Add(Entry("min.all", ExtremeForward, WholeExtremeBackward, "saves input and result"));
  r.Add(Composite("max", PickForward<kMaxNames>, "max.all, or with an axis max.dim"));
  r.Add(Composite("min", PickForward<kMinNames>, "min.all, or with an axis min.dim"));
  for (const char* name : {"argmax", "argmin"}) r.Add(Entry(name, ArgForward, nullptr, "an int64 result"));
  for (const char* name : {"any", "all"}) r.Add(Entry(name, TestForward, nullptr, "a bool result"));
  r.Add(Entry("var", MomentForward<false, false>, MomentBackward<false>, "saves its input"));
  r.Add(Entry("std", MomentForward<true, false>, MomentBackward<true>, "saves input and result"));
  r.Add(Entry("var_mean", MomentForward<false, true>, MomentBackward<false>, "saves its input"));
  r.Add(Entry("std_mean", MomentForward<true, true>, MomentBackward<true>, "saves input and deviation"));
  r.Add(Entry("logsumexp", LogSumExpForward, LogSumExpBackward, "saves input and result", Autocast::kFloat32));
  for (const char* name : {"norm", "linalg_vector_norm"}) {
    r.Add(Entry(name, NormForward, NormBackward, "saves input and result", Autocast::kSetDtype));
  }
}

}  // namespace memcrest
