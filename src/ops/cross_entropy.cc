// Classification losses: cross_entropy as PyTorch composes it, and nll_loss.
//
// Source: aten/src/ATen/native/LossNLL.cpp. Class probabilities as targets and label smoothing are sums over the
// classes; the inner log_softmax is asked for the input's own type, so that autocast leaves it alone and casts its
// result for nll_loss.
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

using kernel::Map;

int64_t ClassAxis(const Value& x) { return x.rank() <= 1 ? 0 : 1; }
bool Unreduced(const Attrs& attrs) { return attrs.Text(Key::kReduction, "mean") == "none"; }

// ---- nll_loss(log-probabilities, target, weight?)

void NllForward(Eager& rt, OpCall& call) {
  const Value &x = call.in[0], &target = call.in[1];
  call.Save(rt, 0, x);
  call.Save(rt, 1, target);
  if (call.Has(2)) call.Save(rt, 2, call.in[2]);
  call.Out(0) = rt.Empty(Unreduced(call.attrs) ? target.sizes() : Dims(), x.dtype());
  call.Save(rt, 3, rt.Empty({}, x.dtype()));  // total_weight
}

void NllBackward(Eager& rt, GradCall& grad) {
  if (grad.HasGrad()) grad.Set(0, rt.Zeros(grad.In(0).sizes, grad.In(0).dtype));
}

// ---- cross_entropy(x, target, weight?)

Value Nll(Eager& rt, const Value& x, const OpCall& call) {
  Attrs attrs{{Key::kReduction, std::string(call.attrs.Text(Key::kReduction, "mean"))}};
  if (call.Has(2)) return rt.Call("nll_loss", {x, call.in[1], call.in[2]}, std::move(attrs));
  return rt.Call("nll_loss", {x, call.in[1]}, std::move(attrs));
}

// The weight seen along the class axis.
Value WeightView(Eager& rt, const OpCall& call, const Value& x) {
  Dims sizes(x.sizes().size(), 1);
  if (!sizes.empty()) sizes[static_cast<size_t>(ClassAxis(x))] = call.in[2].elements();
  return rt.View(call.in[2], sizes, ContiguousStrides(sizes));
}

// -sum over the classes of log-probabilities, zero where the target is ignored; `ignored` is that mask.
Value SmoothPart(Eager& rt, const OpCall& call, const Value& x, Value& ignored) {
  const Attrs axis{{Key::kAxis, ClassAxis(x)}};
  const Value weighted = call.Has(2) ? rt.Call("mul", {x, WeightView(rt, call, x)}) : x;
  const Value negative = rt.Call("neg", {rt.Call("sum", {weighted}, axis)});
  ignored = rt.Call("eq", {call.in[1]}, Attrs{{Key::kScalar, call.attrs.Int(Key::kIgnoreIndex, -100)}});
  return rt.Call("masked_fill", {negative, ignored}, Attrs{{Key::kInplace, true}});
}

// What the smoothed losses are divided by: how many targets count, or with a weight the sum of their weights.
Value Divisor(Eager& rt, const OpCall& call, const Value& ignored) {
  if (!call.Has(2)) return rt.Call("sum", {rt.Call("bitwise_not", {ignored})});
  const Value targets = rt.EmptyLike(call.in[1]),
              weights = Map(rt, call.in[1], call.in[2].dtype());  // masked_fill, gather
  return rt.Call("sum", {weights});
}

Value Mean(Eager& rt, const OpCall& call, const Value& smooth, const Value& ignored) {
  if (call.attrs.Text(Key::kReduction, "mean") == "sum") return rt.Call("sum", {smooth});
  if (Unreduced(call.attrs)) return smooth;
  const Value divisor = Divisor(rt, call, ignored);
  return rt.Call("div", {rt.Call("sum", {smooth}), divisor});
}

Value Smoothed(Eager& rt, const OpCall& call, const Value& x) {
  const double smoothing = call.attrs.Float(Key::kSmoothing);
  const Value nll = Nll(rt, x, call);
  Value ignored;
  const Value smooth = SmoothPart(rt, call, x, ignored);
  const Value mean = Mean(rt, call, smooth, ignored);
  const Value a = rt.Call("mul", {nll}, Attrs{{Key::kScalar, 1 - smoothing}}),
              b = rt.Call("mul", {mean}, Attrs{{Key::kScalar, smoothing}});
  return rt.Call("add", {a, b});
}

Value SmoothedTarget(Eager& rt, const OpCall& call) {
  const double smoothing = call.attrs.Float(Key::kSmoothing);
  if (smoothing <= 0) return call.in[1];
  const Value scaled = rt.Call("mul", {call.in[1]}, Attrs{{Key::kScalar, 1 - smoothing}});
  return rt.Call("add", {scaled}, Attrs{{Key::kScalar, smoothing}});
}

// -(log-probabilities * target * weight).sum() / samples
Value OfProbabilities(Eager& rt, const OpCall& call, const Value& x) {
  const auto product = [&] {
    const Value target = SmoothedTarget(rt, call);
    const Value plain = rt.Call("mul", {x, target});
    return call.Has(2) ? rt.Call("mul", {plain, WeightView(rt, call, x)}) : plain;
  };
  if (Unreduced(call.attrs)) return rt.Call("neg", {rt.Call("sum", {product()}, Attrs{{Key::kAxis, ClassAxis(x)}})});
  const Value negative = rt.Call("neg", {rt.Call("sum", {product()})});
  if (call.attrs.Text(Key::kReduction, "mean") == "sum") return negative;
  return rt.Call("div", {negative}, Attrs{{Key::kScalar, static_cast<double>(x.elements())}});
}

void CrossEntropyForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Value logs = rt.Call("log_softmax", {x}, Attrs{{Key::kAxis, ClassAxis(x)}, {Key::kDtype, x.dtype()}});
  if (IsFloating(call.in[1].dtype()) && call.in[1].sizes() == x.sizes()) {
    call.Out(0) = OfProbabilities(rt, call, logs);
  } else if (call.attrs.Float(Key::kSmoothing) > 0) {
    call.Out(0) = Smoothed(rt, call, logs);
  } else {
    call.Out(0) = Nll(rt, logs, call);
  }
}

}  // namespace

void RegisterCrossEntropy(OpRegistry& r) {
  OpEntry nll;
  nll.name = "nll_loss";
  nll.forward = NllForward;
  nll.backward = NllBackward;
  nll.autocast = Autocast::kFloat32;
  nll.doc = "saves log-probabilities, target, weight and a total weight; its gradient is full size";
  r.Add(nll);
  OpEntry entropy;
  entropy.name = "cross_entropy";
  entropy.forward = CrossEntropyForward;
  entropy.composite = true;
  entropy.doc = "log_softmax, nll_loss; label smoothing and class probabilities by sums over the classes";
  r.Add(entropy);
}

}  // namespace memcrest
