// Writing at indices: scatter, index_put, index_add, slice_scatter. Out of place: the result is a copy of the input.
// Backward copies the gradient and clears what was overwritten, and reads the written values' gradient back.
#include <algorithm>
#include <vector>

#include "src/ops/indexed.h"
#include "src/ops/views.h"

namespace memcrest {
namespace {

// The result of a structured kernel: row-major, or the input itself in place.
Value RowMajorResult(Eager& rt, const OpCall& call) {
  const Value& v = call.in[0];
  return call.attrs.Bool(Key::kInplace) ? rt.Alias(v) : rt.Empty(v.sizes(), v.dtype());
}

// ---- scatter(x, index, src?): a number instead of src needs no gradient

void Scatter(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[1]);
  call.Out(0) = RowMajorResult(rt, call);
}

void ScatterBackward(Eager& rt, GradCall& grad) {
  const DType dtype = grad.Grad().dtype();
  if (grad.Need(0)) grad.Set(0, rt.Empty(grad.In(0).sizes, dtype));
  if (grad.Need(2)) grad.Set(2, rt.Empty(grad.Saved(0).sizes(), dtype));  // gather
}

void ScatterAdd(Eager& rt, OpCall& call) {
  if (call.Need(2)) call.Save(rt, 0, call.in[1]);
  call.Out(0) = RowMajorResult(rt, call);
}

void ScatterAddBackward(Eager& rt, GradCall& grad) {
  if (grad.Need(0)) grad.Set(0, grad.Grad());
  if (grad.Need(2)) grad.Set(2, rt.Empty(grad.Saved(0).sizes(), grad.Grad().dtype()));
}

// ---- scatter_reduce(x, index, src; kMode): sum, mean, prod, amax, amin

bool Reduces(const Attrs& attrs, absl::string_view mode) { return attrs.Text(Key::kMode, "sum") == mode; }

void ScatterReduce(Eager& rt, OpCall& call) {
  const Value &v = call.in[0], &src = call.in[2];
  for (size_t i = 0; i < 3; ++i) call.Save(rt, i, call.in[i]);
  call.Out(0) = RowMajorResult(rt, call);
  if (Reduces(call.attrs, "mean")) {  // ones of src, the counts, their mask
    const HiddenBlock ones = rt.Hidden(src.bytes()), counts = rt.Hidden(v.bytes()), mask = rt.Hidden(v.elements());
  }
  call.Save(rt, 3, call.Out(0));
}

// How often each place was written to (ones, scatter_add, eq, masked_fill_), then a division on both sides.
void MeanBackward(Eager& rt, GradCall& grad) {
  const Value &v = grad.Saved(0), &src = grad.Saved(2);
  Value counts;
  {
    const Value ones = rt.EmptyLike(v), ones_of_src = rt.EmptyLike(src);
    counts = rt.Empty(v.sizes(), v.dtype());
  }
  rt.EmptyLike(v, DType::kBool);
  grad.Set(0, rt.EmptyLike(v));
  const Value gathered = rt.EmptyLike(src), divisor = rt.EmptyLike(src);
  grad.Set(2, rt.EmptyLike(src));
}

// Gradient shared evenly between all that equal the result.
void ExtremeBackward(Eager& rt, GradCall& grad) {
  const Value &v = grad.Saved(0), &src = grad.Saved(2);
  const auto cast_mask = [&](const Value& like) {
    const Value mask = rt.EmptyLike(like, DType::kBool);
    return rt.EmptyLike(like);
  };
  const Value value = rt.EmptyLike(src);
  const Value own = cast_mask(v), other = cast_mask(src);
  const Value sharers = rt.EmptyLike(v), share = rt.EmptyLike(v);
  grad.Set(0, cast_mask(v));
  const Value gathered = rt.EmptyLike(src);
  grad.Set(2, cast_mask(src));
}

// Products without the zeros, and the places where exactly one zero was multiplied.
void ProdBackward(Eager& rt, GradCall& grad) {
  const Value &v = grad.Saved(0), &src = grad.Saved(2);
  const auto all = [&](const Value& like, int count) {
    std::vector<Value> made;
    for (int i = 0; i < count; ++i) made.push_back(rt.EmptyLike(like));
    return made;
  };
  Value masked = rt.EmptyLike(v, DType::kBool);
  const std::vector<Value> self_side = all(v, 2);
  masked.reset();
  grad.Set(0, rt.EmptyLike(v));
  const Value zero = rt.EmptyLike(src, DType::kBool), single = rt.EmptyLike(src, DType::kBool);
  const std::vector<Value> narrow = all(src, 6), wide = all(v, 3);
  grad.Set(2, rt.EmptyLike(src));
}

void ScatterReduceBackward(Eager& rt, GradCall& grad) {
  if (Reduces(grad.attrs(), "mean")) return MeanBackward(rt, grad);
  if (Reduces(grad.attrs(), "amax") || Reduces(grad.attrs(), "amin")) return ExtremeBackward(rt, grad);
  if (Reduces(grad.attrs(), "prod")) return ProdBackward(rt, grad);
  if (grad.Need(0)) grad.Set(0, grad.Grad());
  if (grad.Need(2)) grad.Set(2, rt.Empty(grad.Saved(1).sizes(), grad.Grad().dtype()));
}

// ---- index_put(x, values, index...)

void IndexPut(Eager& rt, OpCall& call) {
  const absl::Span<const Value> indices = call.in.subspan(std::min<size_t>(2, call.in.size()));
  for (size_t i = 0; i < indices.size(); ++i) call.Save(rt, i, indices[i]);
  const Value& v = call.in[0];
  call.Out(0) = call.attrs.Bool(Key::kInplace) ? rt.Alias(v) : rt.EmptyLike(v);
  const Indexed plan = PlanIndexing(v.meta(), indices, nullptr);
  if (call.attrs.Bool(Key::kAccumulate)) return SortAndAdd(rt, call.Out(0), indices, call.in[1], plan);
  const std::vector<HiddenBlock> prepared = PreparedIndices(rt, indices, plan);
}

// x: the gradient with zeros put where values went; values: the gradient read at the indices.
void IndexPutBackward(Eager& rt, GradCall& grad) {
  std::vector<Value> indices;
  for (size_t i = 0; i + 2 < grad.inputs(); ++i) indices.push_back(grad.Saved(i));
  const Value& g = grad.Grad();
  const Indexed plan = PlanIndexing(g.meta(), indices, nullptr);
  if (grad.Need(0) && grad.attrs().Bool(Key::kAccumulate)) {
    grad.Set(0, g);
  } else if (grad.Need(0)) {
    const Value zeros = rt.Zeros(grad.In(1).sizes, g.dtype());
    grad.Set(0, rt.EmptyLike(g));
  }
  if (grad.Need(1)) grad.Set(1, rt.EmptyStrided(plan.result, plan.strides, g.dtype()));
}

// ---- index_add(x, index, src), index_copy, index_fill(x, index, value?)

void IndexAdd(Eager& rt, OpCall& call) {
  if (call.Need(2)) call.Save(rt, 0, call.in[1]), call.Save(rt, 1, call.in[2]);
  call.Out(0) = RowMajorResult(rt, call);
}

void IndexAddBackward(Eager& rt, GradCall& grad) {
  if (grad.Need(0)) grad.Set(0, grad.Grad());
  if (grad.Need(2)) grad.Set(2, rt.Empty(grad.In(2).sizes, grad.Grad().dtype()));  // index_select
}

void IndexCopy(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[1]);
  if (call.Need(2)) call.Save(rt, 1, call.in[2]);
  call.Out(0) = RowMajorResult(rt, call);
}

void IndexCopyBackward(Eager& rt, GradCall& grad) {
  if (grad.Need(0)) grad.Set(0, rt.EmptyLike(grad.Grad()));  // index_fill
  if (grad.Need(2)) grad.Set(2, rt.Empty(grad.In(2).sizes, grad.Grad().dtype()));
}

// ---- slice_scatter, select_scatter(x, src; kAxis); in place: x[...] = src through CopySlices

void PartScatter(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = call.attrs.Bool(Key::kInplace) ? rt.Alias(v) : rt.EmptyLike(v);
}

// The part of the gradient that src was written to.
Value WrittenPart(Eager& rt, const GradCall& grad, const Value& g) {
  const Dims& sizes = grad.In(1).sizes;
  Dims strides = g.strides();
  const size_t axis = AxisOf(grad.attrs(), g.rank());
  if (!strides.empty()) strides[axis] *= std::max<int64_t>(grad.attrs().Int(Key::kStep, 1), 1);
  if (sizes.size() + 1 == strides.size()) strides = Without(strides, axis);
  return rt.View(g, sizes, strides.size() == sizes.size() ? strides : ContiguousStrides(sizes));
}

// CopySlices: the whole gradient is copied, the slice's cloned, and zeros are made for what the slice held before.
void AssignedBackward(Eager& rt, GradCall& grad) {
  const Value whole = rt.EmptyStrided(grad.In(0).sizes, grad.In(0).strides, grad.Grad().dtype());
  const Value part = rt.EmptyLike(WrittenPart(rt, grad, whole));
  if (grad.Need(0)) rt.EmptyLike(part);
  if (grad.Need(0)) grad.Set(0, whole);
  if (grad.Need(1)) grad.Set(1, part);
}

void PartScatterBackward(Eager& rt, GradCall& grad) {
  if (grad.attrs().Bool(Key::kInplace)) return AssignedBackward(rt, grad);
  if (grad.Need(0)) {
    const Value zeros = rt.Zeros(grad.In(1).sizes, grad.Grad().dtype());
    grad.Set(0, rt.EmptyLike(grad.Grad()));
  }
  if (grad.Need(1)) grad.Set(1, WrittenPart(rt, grad, grad.Grad()));
}

// ---- masked_scatter(x, mask, src)

void MaskedScatter(Eager& rt, OpCall& call) {
  const Value &v = call.in[0], &mask = call.in[1];
  call.Save(rt, 0, mask);
  call.Out(0) = RowMajorResult(rt, call);
  const HiddenBlock numbers = rt.Hidden(v.elements() * 8),
                    wide_mask = rt.Hidden(mask.sizes() == v.sizes() ? 0 : v.elements());
}

void MaskedScatterBackward(Eager& rt, GradCall& grad) {
  const DType dtype = grad.Grad().dtype();
  if (grad.Need(0)) grad.Set(0, rt.EmptyLike(grad.Grad()));
  if (!grad.Need(2)) return;
  const HiddenBlock picked = rt.Hidden(grad.In(2).elements * BytesOf(dtype));  // padded with zeros to src's size
  grad.Set(2, rt.Empty(grad.In(2).sizes, dtype));
}

constexpr Autocast kPlain = Autocast::kPlain, kPromote = Autocast::kPromote;
const OpEntry kEntries[] = {
    {"scatter", Scatter, ScatterBackward, kPlain, false, true, false, "saves the index"},
    {"scatter_add", ScatterAdd, ScatterAddBackward, kPromote, false, true, false,
     "saves the index if src needs a gradient"},
    {"scatter_reduce", ScatterReduce, ScatterReduceBackward, kPlain, false, true, false,
     "saves input, index, src and result"},
    {"index_put", IndexPut, IndexPutBackward, kPromote, false, true, false, "saves the indices"},
    {"index_add", IndexAdd, IndexAddBackward, kPlain, false, true, false,
     "saves index and src if src needs a gradient"},
    {"index_copy", IndexCopy, IndexCopyBackward, kPlain, false, true, false,
     "saves the index, src if it needs a gradient"},
    {"index_fill", IndexCopy, IndexCopyBackward, kPlain, false, true, false, "saves the index"},
    {"slice_scatter", PartScatter, PartScatterBackward, kPlain, false, true, false, "saves sizes"},
    {"select_scatter", PartScatter, PartScatterBackward, kPlain, false, true, false, "saves sizes"},
    {"masked_scatter", MaskedScatter, MaskedScatterBackward, kPlain, false, true, false, "saves the mask"},
};

}  // namespace

void RegisterScatter(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
