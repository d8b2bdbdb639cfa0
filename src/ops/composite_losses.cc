// Losses and similarities that PyTorch writes with other operators: each runs as those operators, with their saved
// tensors.
//
// Source: aten/src/ATen/native/Loss.cpp, Distance.cpp; torch/nn/functional.py.
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

Attrs Number(Key key, double value) { return Attrs{{key, value}}; }
Attrs Last(const Value& x, bool keepdim) {
  return Attrs{{Key::kAxis, int64_t{x.rank() - 1}}, {Key::kKeepDims, keepdim}};
}
Value Plus(Eager& rt, const Value& x, double number) { return rt.Call("add", {x}, Number(Key::kScalar, number)); }
Value ClampedAtZero(Eager& rt, const Value& x) { return rt.Call("clamp_min", {x}, Attrs{{Key::kInplace, true}}); }

// mean, sum or the losses themselves (apply_loss_reduction). "batchmean" is kl_div's sum over the batch size.
Value Reduced(Eager& rt, const Attrs& attrs, const Value& losses) {
  const absl::string_view how = attrs.Text(Key::kReduction, "mean");
  if (how == "none") return losses;
  if (how == "batchmean") return rt.Call("div", {rt.Call("sum", {losses})}, Number(Key::kScalar, 1));
  return rt.Call(how == "sum" ? "sum" : "mean", {losses});
}

void L1Forward(Eager& rt, OpCall& call) {
  const Value magnitude = rt.Call("abs", {rt.Call("sub", {call.in[0], call.in[1]})});
  call.Out(0) = Reduced(rt, call.attrs, magnitude);
}

// xlogy(target, target) - target * input; with log targets exp(target) * (target - input).
void KlDivForward(Eager& rt, OpCall& call) {
  const Value &x = call.in[0], &target = call.in[1];
  const bool log_target = call.attrs.Text(Key::kMode) == "log_target";
  const auto losses = [&] {
    const Value first = log_target ? rt.Call("sub", {target, x}) : rt.Call("mul", {target, x});
    const Value second = log_target ? rt.Call("exp", {target}) : rt.Call("xlogy", {target, target});
    return rt.Call(log_target ? "mul" : "sub", {second, first});
  };
  call.Out(0) = Reduced(rt, call.attrs, losses());
}

// exp(x) - target * x
void PoissonForward(Eager& rt, OpCall& call) {
  const auto losses = [&] {
    const Value product = rt.Call("mul", {call.in[1], call.in[0]});
    return rt.Call("sub", {rt.Call("exp", {call.in[0]}), product});
  };
  call.Out(0) = Reduced(rt, call.attrs, losses());
}

// Where the label is 1: `similar`, elsewhere `margin`; two masks, two selections, their sum.
Value ByLabel(Eager& rt, const Attrs& attrs, const Value& label, const Value& similar, const Value& margin) {
  const Value zeros = rt.EmptyLike(margin);
  const auto chosen = [&](const Value& v) {
    return rt.Call("where", {rt.Call("eq", {label}, Attrs{{Key::kScalar, int64_t{1}}}), v, zeros});
  };
  const Value a = chosen(similar), b = chosen(margin);
  return Reduced(rt, attrs, rt.Call("add", {a, b}));
}

void HingeEmbeddingForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Value margin = ClampedAtZero(rt, rt.Call("rsub", {x}, Number(Key::kScalar, 1)));
  call.Out(0) = ByLabel(rt, call.attrs, call.in[1], x, margin);
}

// x1 * x2 and the squared lengths, summed over the last axis; the cosine is made of these three.
void CosineEmbeddingForward(Eager& rt, OpCall& call) {
  const Value &a = call.in[0], &b = call.in[1];
  const auto dot = [&](const Value& u, const Value& v) {
    return rt.Call("sum", {rt.Call("mul", {u, v})}, Last(u, false));
  };
  const Value product = dot(a, b), first = Plus(rt, dot(a, a), 1e-12), second = Plus(rt, dot(b, b), 1e-12);
  const Value lengths = rt.Call("sqrt", {rt.Call("mul", {first, second})}, Attrs{{Key::kInplace, true}});
  const Value cosine = rt.Call("div", {product, lengths});
  const Value away = rt.Call("rsub", {cosine}, Number(Key::kScalar, 1));
  const Value margin = ClampedAtZero(rt, rt.Call("sub", {cosine}, Number(Key::kScalar, 0)));
  call.Out(0) = ByLabel(rt, call.attrs, call.in[2], away, margin);
}

// (-target * (x1 - x2) + margin).clamp_min_(0)
void MarginRankingForward(Eager& rt, OpCall& call) {
  const auto losses = [&] {
    const Value difference = rt.Call("sub", {call.in[0], call.in[1]});
    const Value product = rt.Call("mul", {rt.Call("neg", {call.in[2]}), difference});
    return ClampedAtZero(rt, Plus(rt, product, 0));
  };
  call.Out(0) = Reduced(rt, call.attrs, losses());
}

// ||x1 - x2 + eps|| over the last axis.
Value Distance(Eager& rt, const Value& a, const Value& b) {
  const Value difference = Plus(rt, rt.Call("sub", {a, b}), 1e-6);
  return rt.Call("norm", {difference}, Last(a, false));
}

void TripletForward(Eager& rt, OpCall& call) {
  const Value near = Distance(rt, call.in[0], call.in[1]), far = Distance(rt, call.in[0], call.in[2]);
  const auto losses = [&] { return rt.Call("clamp_min", {rt.Call("sub", {Plus(rt, near, 1), far})}); };
  call.Out(0) = Reduced(rt, call.attrs, losses());
}

void PairwiseDistanceForward(Eager& rt, OpCall& call) { call.Out(0) = Distance(rt, call.in[0], call.in[1]); }

// x / x.norm(dim, keepdim).clamp_min(eps).expand_as(x)
void NormalizeForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Attrs how{
      {Key::kAxis, call.attrs.Int(Key::kAxis, 1)}, {Key::kKeepDims, true}, {Key::kP, call.attrs.Float(Key::kP, 2)}};
  const Value length = rt.Call("clamp_min", {rt.Call("norm", {x}, how)});
  call.Out(0) = rt.Call("div", {x, length});
}

// The lengths are cloned and clamped without a gradient; both inputs are divided by theirs, multiplied and summed.
void CosineSimilarityForward(Eager& rt, OpCall& call) {
  const Value &a = call.in[0], &b = call.in[1];
  const int64_t axis = call.attrs.Int(Key::kAxis, 1);
  const auto length = [&](const Value& v) {
    const Value norm = rt.Call("norm", {v}, Attrs{{Key::kAxis, axis}, {Key::kKeepDims, true}});
    return rt.Call("clone", {norm});
  };
  const auto product = [&] {
    const Value first = length(a), second = length(b);
    const Value x = rt.Call("div", {a, first}), y = rt.Call("div", {b, second});
    return rt.Call("mul", {x, y});
  };
  call.Out(0) = rt.Call("sum", {product()}, Attrs{{Key::kAxis, axis}});
}

void Add(OpRegistry& r, const char* name, ForwardFn forward, const char* doc, Autocast autocast = Autocast::kFloat32) {
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.autocast = autocast;
  entry.composite = true;
  entry.doc = doc;
  r.Add(entry);
}

}  // namespace

void RegisterCompositeLosses(OpRegistry& r) {
  Add(r, "l1_loss", L1Forward, "sub, abs, reduction");
  Add(r, "kl_div", KlDivForward, "mul, xlogy, sub, reduction");
  Add(r, "poisson_nll_loss", PoissonForward, "mul, exp, sub, reduction");
  Add(r, "hinge_embedding_loss", HingeEmbeddingForward, "rsub, clamp, two selections, add, reduction");
  Add(r, "cosine_embedding_loss", CosineEmbeddingForward, "three products and sums, then as hinge_embedding_loss");
  Add(r, "margin_ranking_loss", MarginRankingForward, "sub, neg, mul, add, clamp, reduction");
  Add(r, "triplet_margin_loss", TripletForward, "two distances, their difference clamped, reduction");
  Add(r, "pairwise_distance", PairwiseDistanceForward, "sub, add, norm", Autocast::kPlain);
  Add(r, "normalize", NormalizeForward, "norm, clamp_min, div", Autocast::kPlain);
  Add(r, "cosine_similarity", CosineSimilarityForward, "two norms, two quotients, their product summed");
}

}  // namespace memcrest
