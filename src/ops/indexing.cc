// Reading at indices: index_select, advanced indexing, gather, masks, one_hot. Backward makes zeros of the input's
// size and adds into them; a watching dispatcher sees one copy more (the in-place sum done out of place).
#include <algorithm>

#include "src/ops/indexed.h"
#include "src/ops/views.h"

namespace memcrest {
namespace {

// new_zeros and an in-place addition into them: one buffer for the allocator, two for a dispatcher.
Value AddedIntoZeros(Eager& rt, DimSpan sizes, DType dtype) {
  const Ref<Storage> zeros = Watched(rt, NumElements(sizes) * BytesOf(dtype));
  return rt.Zeros(sizes, dtype);
}

// ---- index_select

void IndexSelect(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Save(rt, 0, call.in[1]);
  const Dims sizes = Resized(v.sizes(), AxisOf(call.attrs, v.rank()), call.in[1].elements());
  call.Out(0) = rt.Empty(SizesOr(call, 0, sizes), v.dtype());
}

void AddBackward(Eager& rt, GradCall& grad) { grad.Set(0, AddedIntoZeros(rt, grad.In(0).sizes, grad.Grad().dtype())); }

// ---- index: x, then one index tensor per dimension, null where it is taken whole

void Index(Eager& rt, OpCall& call) {
  const absl::Span<const Value> indices = call.in.subspan(1);
  for (size_t i = 0; i < indices.size(); ++i) call.Save(rt, i, indices[i]);
  const Indexed plan = PlanIndexing(call.in[0].meta(), indices, call.Hint(0));
  const std::vector<HiddenBlock> prepared = PreparedIndices(rt, indices, plan);
  call.Out(0) = rt.EmptyStrided(plan.result, plan.strides, call.in[0].dtype());
}

void IndexBackward(Eager& rt, GradCall& grad) {
  std::vector<Value> indices;
  for (size_t i = 0; i + 1 < grad.inputs(); ++i) indices.push_back(grad.Saved(i));
  const Indexed plan = PlanIndexing(grad.In(0), indices, &grad.Out().sizes);
  const DType dtype = grad.Grad().dtype();
  const Ref<Storage> zeros = Watched(rt, grad.In(0).elements * BytesOf(dtype));
  const Value result = rt.Zeros(grad.In(0).sizes, dtype);
  SortAndAdd(rt, result, indices, grad.Grad(), plan);
  grad.Set(0, result);
}

// ---- gather

void Gather(Eager& rt, OpCall& call) {
  if (call.Need(0)) call.Save(rt, 0, call.in[0]), call.Save(rt, 1, call.in[1]);
  call.Out(0) = rt.Empty(call.in[1].sizes(), call.in[0].dtype());
}

// take_along_dim wraps negative indices into a fresh index tensor, which gather then keeps.
void TakeAlongDim(Eager& rt, OpCall& call) {
  Attrs attrs;
  if (call.attrs.Has(Key::kAxis)) attrs.Set(Key::kAxis, call.attrs.Int(Key::kAxis));
  const Value wrapped = rt.EmptyLike(call.in[1]);
  call.Out(0) = rt.Call("gather", {call.in[0], wrapped}, std::move(attrs), call.Hint(0));
}

// ---- masks. How many elements a mask picks is data: the bound size if the export shows one, else all of them.

void MaskedSelect(Eager& rt, OpCall& call) {
  const Value &v = call.in[0], &mask = call.in[1];
  call.Save(rt, 0, v);
  call.Save(rt, 1, mask);
  const Dims whole = Broadcast(v.sizes(), mask.sizes()).value_or(v.sizes());
  const HiddenBlock wide_mask = rt.Hidden(mask.sizes() == whole ? 0 : NumElements(whole));
  call.Out(0) = rt.Empty(SizesOr(call, 0, Dims{NumElements(whole)}), v.dtype());
}

// zeros_like, then masked_scatter, which numbers the mask's elements in int64 (masked_scatter_cuda).
void MaskedSelectBackward(Eager& rt, GradCall& grad) {
  const Meta& v = grad.In(0);
  const Dims whole = Broadcast(v.sizes, grad.In(1).sizes).value_or(v.sizes);
  const int64_t count = NumElements(whole);
  const Ref<Storage> zeros = Watched(rt, count * BytesOf(grad.Grad().dtype()));
  const Value result = rt.Zeros(whole, grad.Grad().dtype());
  const HiddenBlock numbers = rt.Hidden(count * 8);
  const HiddenBlock wide_mask = rt.Hidden(grad.In(1).sizes == whole ? 0 : count);
  grad.Set(0, result);
}

void Nonzero(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = rt.Empty(SizesOr(call, 0, Dims{v.elements(), v.rank()}), DType::kInt64);
}

void OneHot(Eager& rt, OpCall& call) {
  Dims sizes = call.in[0].sizes();
  sizes.push_back(std::max<int64_t>(call.attrs.Int(Key::kCount, 1), 1));
  call.Out(0) = rt.Empty(SizesOr(call, 0, sizes), DType::kInt64);
}

// ---- diag_embed: a matrix per row, the row on its diagonal

void DiagEmbed(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  Dims sizes = v.sizes();
  if (!sizes.empty()) sizes.push_back(sizes.back());
  call.Out(0) = rt.Empty(SizesOr(call, 0, sizes), v.dtype());
}

void DiagEmbedBackward(Eager& rt, GradCall& grad) {
  const Value& g = grad.Grad();
  const Dims& sizes = grad.In(0).sizes;
  if (g.sizes().size() != sizes.size() + 1 || sizes.empty()) return grad.Set(0, Fitted(rt, g, sizes));
  Dims strides(g.strides().begin(), g.strides().end() - 1);
  strides.back() += g.strides().back();
  grad.Set(0, rt.View(g, sizes, strides));
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"index_select", IndexSelect, AddBackward, kPlain, false, true, false, "saves the index"},
    {"index", Index, IndexBackward, kPlain, false, true, false, "saves the indices"},
    {"gather", Gather, AddBackward, kPlain, false, true, false, "saves input (for its sizes) and index"},
    {"take_along_dim", TakeAlongDim, nullptr, kPlain, true, true, false, "gather"},
    {"masked_select", MaskedSelect, MaskedSelectBackward, kPlain, false, true, false, "saves input and mask"},
    {"nonzero", Nonzero, nullptr, kPlain, false, false, false, "no gradient"},
    {"one_hot", OneHot, nullptr, kPlain, false, false, false, "no gradient"},
    {"diag_embed", DiagEmbed, DiagEmbedBackward, kPlain, false, true, false, "saves nothing"},
};

}  // namespace

void RegisterIndexing(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
