// Scans and selections along one axis: cumsum and its kin, sort, topk, max and min with indices.
//
// What gives values and int64 indices saves the indices; its gradient is zeros with the values scattered in. Formulas:
// torch/csrc/autograd/FunctionsManual.cpp (value_selecting_reduction_backward, cumsum_backward, cumprod_backward).
#include <algorithm>

#include "src/ops/reduction_values.h"
#include "src/ops/views.h"

namespace memcrest {
namespace {

using kernel::Map;
using kernel::Mask;
using kernel::ReducedAxes;
using kernel::Unreduced;

// ---- scans

void ScanForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const DType dtype = call.attrs.Type(Key::kDtype, IsDifferentiable(x.dtype()) ? x.dtype() : DType::kInt64);
  const HiddenBlock cast = rt.Hidden(x.dtype() == dtype ? 0 : x.elements() * BytesOf(dtype));
  call.Out(0) = rt.EmptyLike(x, dtype);
}

// cumsum of grad, brought to the input's type, from the end: flip, cumsum, flip.
Value ReversedCumsum(Eager& rt, const Value& v) {
  const Value flipped = Map(rt, v), sum = Map(rt, flipped);
  return Map(rt, sum);
}

void CumsumBackward(Eager& rt, GradCall& grad) {
  if (grad.HasGrad()) grad.Set(0, ReversedCumsum(rt, rt.To(grad.Grad(), grad.In(0).dtype)));
}

void CumprodForward(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[0]);
  ScanForward(rt, call);
  call.Save(rt, 1, call.Out(0));
}

// Without zeros in the input: reversed_cumsum(result * grad, dim) / input; the test for zeros makes a mask.
void CumprodBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value typed = rt.To(grad.Grad(), grad.In(0).dtype), weighted = Map(rt, grad.Saved(1), typed, typed.dtype());
  const Value zero = Mask(rt, grad.Saved(0));
  grad.Set(0, Map(rt, ReversedCumsum(rt, weighted), grad.Saved(0)));
}

void ProdForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const DType dtype = call.attrs.Type(Key::kDtype, IsDifferentiable(x.dtype()) ? x.dtype() : DType::kInt64);
  call.Save(rt, 0, x);
  call.Out(0) = SummedValue(rt, x, ReducedAxes(call.attrs, x.rank()), call.attrs.Bool(Key::kKeepDims), dtype);
  call.Save(rt, 1, call.Out(0));
}

// Without zeros in the input: grad * (result / input).
void ProdBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const int rank = static_cast<int>(grad.In(0).sizes.size());
  const auto wide = [&](const Value& v) {
    return Unreduced(rt, v, ReducedAxes(grad.attrs(), rank), grad.attrs().Bool(Key::kKeepDims), rank);
  };
  const Value input = rt.To(grad.Saved(0), grad.Grad().dtype());
  {
    const Value zero = Mask(rt, input);
  }
  grad.Set(0, Map(rt, wide(grad.Grad()), Map(rt, wide(grad.Saved(1)), input)));
}

// ---- values with indices

// Zeros of the input's sizes with the gradient scattered in; in place, so one tensor for the allocator, two for a
// watcher.
void SelectionBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Ref<Storage> zeros = Watched(rt, NumElements(grad.In(0).sizes) * BytesOf(grad.Grad().dtype()));
  grad.Set(0, rt.Empty(grad.In(0).sizes, grad.Grad().dtype()));
}

void WithIndices(Eager& rt, OpCall& call, DimSpan sizes) {
  call.Out(0) = rt.Empty(sizes, call.in[0].dtype());
  call.Out(1) = rt.Empty(sizes, DType::kInt64);
  call.non_differentiable = 2;
  call.Save(rt, 0, call.Out(1));
}

void AxisExtremeForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Dims axes = ReducedAxes(call.attrs, x.rank());
  const HiddenBlock scratch = rt.Hidden(ReductionScratch(rt.device(), x.meta(), axes, ExtremeKernel(x.dtype(), true)));
  WithIndices(rt, call, ReducedSizes(x.sizes(), axes, call.attrs.Bool(Key::kKeepDims)));
}

void OrderStatisticForward(Eager& rt, OpCall& call) {  // median, mode, kthvalue
  const Value& x = call.in[0];
  WithIndices(rt, call, ReducedSizes(x.sizes(), ReducedAxes(call.attrs, x.rank()), call.attrs.Bool(Key::kKeepDims)));
}

void ScanWithIndicesForward(Eager& rt, OpCall& call) { WithIndices(rt, call, call.in[0].sizes()); }  // cummax, cummin

int64_t SortedExtent(const OpCall& call) {
  const Value& x = call.in[0];
  return x.rank() == 0 ? 1 : x.size(call.attrs.Int(Key::kAxis, -1));
}

// Sort.cu: up to 4096 elements an axis in place, with one row of int64 positions; longer ones by a radix sort of
// key-index pairs: one segment: positions and cub's second buffers; several: a full sort of (segment, position) pairs
// before it (measured).
Bytes SortScratch(const Value& x, int64_t extent) {
  constexpr int64_t kInPlace = 4096;
  if (extent <= kInPlace) return 8 * extent;
  const int64_t key = BytesOf(x.dtype());
  return x.elements() * (x.elements() == extent ? 16 + key : 28 + key);
}

void SortForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const HiddenBlock scratch = rt.Hidden(SortScratch(x, SortedExtent(call)));
  call.Out(0) = rt.EmptyLike(x);
  call.Out(1) = rt.EmptyLike(x, DType::kInt64);
  call.non_differentiable = 2;
  call.Save(rt, 0, call.Out(1));
}

void ArgsortForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const HiddenBlock scratch = rt.Hidden(SortScratch(x, SortedExtent(call)));
  const Value values = rt.EmptyLike(x);
  call.Out(0) = rt.EmptyLike(x, DType::kInt64);
}

void TopkForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  Dims sizes = x.sizes();
  const size_t axis = sizes.empty() ? 0 : static_cast<size_t>(NormalAxis(call.attrs.Int(Key::kAxis, -1), x.rank()));
  if (!sizes.empty()) sizes[axis] = std::min(sizes[axis], call.attrs.Int(Key::kCount, 1));
  if (const Dims* bound = call.Hint(0); bound != nullptr) sizes = *bound;
  WithIndices(rt, call, sizes);
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

void RegisterScansSorts(OpRegistry& r) {
  r.Add(Entry("cumsum", ScanForward, CumsumBackward, "saves nothing", Autocast::kSetDtype));
  r.Add(Entry("cumprod", CumprodForward, CumprodBackward, "saves input and result", Autocast::kSetDtype));
  r.Add(Entry("prod", ProdForward, ProdBackward, "saves input and result", Autocast::kSetDtype));
  for (const char* name : {"max.dim", "min.dim"})
    r.Add(Entry(name, AxisExtremeForward, SelectionBackward, "saves int64 indices"));
  for (const char* name : {"median", "mode", "kthvalue"}) {
    r.Add(Entry(name, OrderStatisticForward, SelectionBackward, "saves int64 indices"));
  }
  for (const char* name : {"cummax", "cummin"})
    r.Add(Entry(name, ScanWithIndicesForward, SelectionBackward, "saves int64 indices"));
  r.Add(Entry("sort", SortForward, SelectionBackward, "saves int64 indices"));
  r.Add(Entry("argsort", ArgsortForward, nullptr, "an int64 result"));
  r.Add(Entry("topk", TopkForward, SelectionBackward, "saves int64 indices"));
}

}  // namespace memcrest
