// lstm, gru, rnn on cuDNN (aten/src/ATen/native/cudnn/RNN.cpp, RNN.cpp).
//
// Saves input, states, weights, the result and cuDNN's reserve. float32 and float16 modules keep their weights in one
// buffer; bfloat16 ones are compacted at every call, and autocast casts all weights into one float16 buffer.
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"

namespace memcrest {
namespace {

// Inputs of the kernel: x, hx, cx (null unless lstm), flat weights (null: the module's own), the weights.
enum Input : size_t { kX, kHx, kCx, kFlat, kWeights };
enum Slot : size_t { kFlatSlot = kFlat, kOut = kWeights, kReserve, kFirstWeight };

struct Cell {
  int64_t layers, directions, hidden, state, steps, batch, gates;
  bool batch_first;
};

Cell CellOf(const Attrs& attrs, const Meta& x, const Meta& w_hh) {
  const bool first = attrs.Bool(Key::kBatchFirst), single = x.sizes.size() == 2;
  Cell c;
  c.layers = std::max<int64_t>(1, attrs.Int(Key::kLayers, 1));
  c.directions = attrs.Bool(Key::kBidirectional) ? 2 : 1;
  c.gates = std::max<int64_t>(1, attrs.Int(Key::kGates, 4));
  c.hidden = w_hh.sizes[0] / c.gates;
  c.state = w_hh.sizes[1];  // smaller than hidden where the state is projected
  c.steps = single ? x.sizes[0] : x.sizes[first ? 1 : 0];
  c.batch = single ? 1 : x.sizes[first ? 0 : 1];
  c.batch_first = first && !single;
  return c;
}

Dims StateSizes(const Cell& c, int64_t width) { return {c.layers * c.directions, c.batch, width}; }

// Elements of the flat weights; cuDNN reserves room for biases that the module does not have.
int64_t FlatElements(absl::Span<const int64_t> weights, const Cell& c) {
  int64_t sum = 0;
  for (const int64_t n : weights) sum += n;
  const int64_t per = static_cast<int64_t>(weights.size()) / std::max<int64_t>(1, c.layers * c.directions);
  return per >= 4 ? sum : sum + c.layers * c.directions * 2 * c.gates * c.hidden;
}

// The result, [steps, batch, features], seen batch first where the module works that way.
Value ResultValue(Eager& rt, const Cell& c, DType dtype, int rank) {
  const int64_t width = c.directions * c.state;
  if (rank == 2) {
    const Dims sizes = {c.steps, width};
    return rt.Empty(sizes, dtype);
  }
  const Dims sizes = {c.steps, c.batch, width};
  const Value out = rt.Empty(sizes, dtype);
  return c.batch_first ? rt.Transposed(out, 0, 1) : out;
}

bool StepsFirst(const Meta& m, const Cell& c) {
  if (!c.batch_first) return IsContiguous(m);
  return IsContiguous(
      *MakeMeta({m.sizes[1], m.sizes[0], m.sizes[2]}, {m.strides[1], m.strides[0], m.strides[2]}, m.dtype));
}
Bytes StepsFirstCopy(const Value& v, const Cell& c) { return StepsFirst(v.meta(), c) ? 0 : v.bytes(); }

// cuDNN's temporaries: the gates of one layer for all steps.
Bytes WorkspaceBytes(const Cell& c, DType dtype) {
  return c.directions * c.gates * c.steps * c.batch * c.hidden * BytesOf(dtype);
}
// What it keeps for backward, about the gates and two states of every step and layer.
Bytes ReserveBytes(const Cell& c, DType dtype) {
  return c.layers * c.directions * (c.gates + 2) * c.steps * c.batch * c.hidden * BytesOf(dtype);
}

absl::InlinedVector<int64_t, 8> WeightElements(absl::Span<const MetaRef> in) {
  absl::InlinedVector<int64_t, 8> n;
  for (size_t i = kWeights; i < in.size(); ++i) n.push_back(in[i]->elements);
  return n;
}

Value Bytewise(Eager& rt, Bytes bytes) {
  const Dims sizes = {bytes};
  return rt.Empty(sizes, DType::kUInt8);
}

Value CompactedWeights(Eager& rt, const OpCall& call, const Cell& c) {
  if (call.in[kFlat] || call.in[kWeights].dtype() != DType::kBFloat16) return call.in[kFlat];
  absl::InlinedVector<int64_t, 8> n;
  for (size_t i = kWeights; i < call.in.size(); ++i) n.push_back(call.in[i].elements());
  const Dims flat = {FlatElements(n, c)};
  return rt.Empty(flat, call.in[kX].dtype());
}

void KernelForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[kX];
  const Cell c = CellOf(call.attrs, x.meta(), call.in[kWeights + 1].meta());
  for (const size_t i : {size_t{kX}, size_t{kHx}, size_t{kCx}}) {
    if (call.Has(i)) call.Save(rt, i, call.in[i]);
  }
  if (!call.Has(kFlat)) {
    for (size_t i = kWeights; i < call.in.size(); ++i) call.Save(rt, kFirstWeight + i, call.in[i]);
  }
  const HiddenBlock ordered = rt.Hidden(StepsFirstCopy(x, c));
  call.Out(0) = ResultValue(rt, c, x.dtype(), x.rank());
  call.Out(1) = rt.Empty(StateSizes(c, c.state), x.dtype());
  if (call.Has(kCx)) call.Out(2) = rt.Empty(StateSizes(c, c.hidden), x.dtype());
  const Value flat = CompactedWeights(rt, call, c);
  const HiddenBlock workspace = rt.Hidden(WorkspaceBytes(c, x.dtype()));
  const Value reserve = Bytewise(rt, ReserveBytes(c, x.dtype()));
  call.Save(rt, kOut, call.Out(0));
  call.Save(rt, kReserve, reserve);
  call.Save(rt, kFlatSlot, flat);
}

// Gradients of x and the states: their kernel, then the weights'.
void DataGradients(Eager& rt, GradCall& grad, const Cell& c, const Value& arrived) {
  const Value& x = grad.Saved(kX);
  const HiddenBlock ordered = rt.Hidden(StepsFirstCopy(x, c)), dense = rt.Hidden(StepsFirstCopy(arrived, c));
  const Dims sizes = {c.steps, c.batch, x.size(-1)};
  const Value dx = rt.Empty(x.rank() == 2 ? x.sizes() : sizes, x.dtype());
  grad.Set(kX, c.batch_first ? rt.Transposed(dx, 0, 1) : dx);
  for (const size_t i : {size_t{kHx}, size_t{kCx}}) {
    if (grad.Saved(i)) grad.Set(i, rt.Empty(grad.Saved(i).sizes(), x.dtype()));
  }
  const HiddenBlock workspace = rt.Hidden(WorkspaceBytes(c, x.dtype()));
}

void WeightGradients(Eager& rt, GradCall& grad, const Cell& c) {
  const Value& x = grad.Saved(kX);
  bool wanted = false;
  for (size_t i = kWeights; i < grad.inputs(); ++i) wanted = wanted || grad.Need(i);
  if (!wanted) return;
  const HiddenBlock ordered = rt.Hidden(StepsFirstCopy(x, c));
  const absl::InlinedVector<int64_t, 8> n = WeightElements(grad.node.in);
  const Dims flat = {FlatElements(n, c)};
  int64_t own = 0;
  for (const int64_t e : n) own += e;
  const bool views = own == flat[0];  // without biases the gradients are copied out of cuDNN's buffer
  const Value buffer = views ? rt.Empty(flat, x.dtype()) : Value();
  const HiddenBlock hidden = rt.Hidden(views ? 0 : flat[0] * BytesOf(x.dtype()));
  const HiddenBlock workspace = rt.Hidden(WorkspaceBytes(c, x.dtype()));
  for (size_t i = kWeights; i < grad.inputs(); ++i) {
    const Dims& sizes = grad.In(i).sizes;
    grad.Set(i, views ? rt.View(buffer, sizes, ContiguousStrides(sizes)) : rt.Empty(sizes, x.dtype()));
  }
}

void KernelBackward(Eager& rt, GradCall& grad) {
  const Value& x = grad.Saved(kX);
  const Cell c = CellOf(grad.attrs(), x.meta(), *grad.node.in[kWeights + 1]);
  // Zeros stand in for the gradients of results that nobody used.
  Value zeros[3];
  for (size_t i = 0; i < grad.node.out.size() && i < 3; ++i) {
    if (!grad.HasGrad(i) && grad.node.out[i]) zeros[i] = rt.Empty(grad.Out(i).sizes, x.dtype());
  }
  DataGradients(rt, grad, c, grad.HasGrad(0) ? grad.Grad(0) : zeros[0]);
  WeightGradients(rt, grad, c);
}

// ---- the module: default states, autocast

// Where the weights start: after the states, of which lstm has two.
size_t FirstWeight(const OpCall& call) {
  size_t i = 1;
  while (i < call.in.size() && i < 3 && (!call.in[i] || call.in[i].rank() == 3)) ++i;
  return i;
}

Value State(Eager& rt, const OpCall& call, size_t input, size_t weights, const Dims& sizes, DType dtype) {
  return input < weights && call.Has(input) ? call.in[input] : rt.Empty(sizes, dtype);
}

Value Cast(Eager& rt, const Value& v, DType dtype) {
  return !v || v.dtype() == dtype ? v : rt.Call("to", {v}, {{Key::kDtype, dtype}});
}

// autocast's _cudnn_rnn_cast_reflatten: weights become parts of one float16 buffer, whatever low precision type
// autocast has.
void CastAll(Eager& rt, absl::Span<Value> in, const Cell& c) {
  absl::InlinedVector<int64_t, 8> n;
  for (size_t i = kWeights; i < in.size(); ++i) n.push_back(in[i].elements());
  const Dims flat = {FlatElements(n, c)};
  in[kFlat] = rt.Empty(flat, DType::kFloat16);
  for (size_t i = kWeights; i < in.size(); ++i) in[i] = rt.Call("_cudnn_rnn_cast_weight", {in[i], in[kFlat]});
  for (const size_t i : {size_t{kHx}, size_t{kCx}, size_t{kX}}) in[i] = Cast(rt, in[i], DType::kFloat16);
}

// A weight's part of the buffer; its gradient is cast back.
void CastWeight(Eager& rt, OpCall& call) {
  call.Out(0) = rt.View(call.in[1], call.in[0].sizes(), ContiguousStrides(call.in[0].sizes()));
}
void CastWeightBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.To(grad.Grad(), grad.In(0).dtype)); }

void Recurrent(Eager& rt, OpCall& call, int64_t gates) {
  const size_t first = FirstWeight(call);
  if (call.in.size() < first + 2) return;
  Attrs attrs = call.attrs;
  attrs.Set(Key::kGates, gates);
  const Value& x = call.in[0];
  const Cell c = CellOf(attrs, x.meta(), call.in[first + 1].meta());
  absl::InlinedVector<Value, 12> in(kWeights);
  in[kX] = x;
  in[kHx] = State(rt, call, 1, first, StateSizes(c, c.state), x.dtype());
  if (gates == 4) in[kCx] = State(rt, call, 2, first, StateSizes(c, c.hidden), x.dtype());
  in.insert(in.end(), call.in.begin() + static_cast<std::ptrdiff_t>(first), call.in.end());
  if (rt.autocast_on()) CastAll(rt, absl::MakeSpan(in), c);
  const Values out = rt.CallAll("_cudnn_rnn", in, std::move(attrs));
  for (size_t i = 0; i < out.size(); ++i) call.Out(i) = out[i];
}

void Lstm(Eager& rt, OpCall& call) { Recurrent(rt, call, 4); }
void Gru(Eager& rt, OpCall& call) { Recurrent(rt, call, 3); }
void Rnn(Eager& rt, OpCall& call) { Recurrent(rt, call, call.attrs.Int(Key::kGates, 1)); }

}  // namespace

void RegisterRecurrent(OpRegistry& registry) {
  registry.Add({.name = "_cudnn_rnn",
                .forward = KernelForward,
                .backward = KernelBackward,
                .doc = "saves input, states, weights (or their copy), result, reserve"});
  registry.Add({.name = "_cudnn_rnn_cast_weight",
                .forward = CastWeight,
                .backward = CastWeightBackward,
                .doc = "a part of the float16 buffer of all weights"});
  for (const auto& [name, forward] : {std::pair<const char*, ForwardFn>{"lstm", Lstm}, {"gru", Gru}, {"rnn", Rnn}}) {
    registry.Add({.name = name,
                  .forward = forward,
                  .composite = true,
                  .doc = "_cudnn_rnn with zero states where none are given"});
  }
}

}  // namespace memcrest
