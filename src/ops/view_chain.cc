// Views of a part of a tensor: slice, select, split, diagonal, windows. Forward allocates nothing; backward makes one
// buffer of the whole input's size per node, zero-filled, into which the gradient goes (slice_backward and its kin),
// or joins the pieces.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "src/ops/joining.h"
#include "src/ops/views.h"

namespace memcrest {
namespace {

// ---- slice, select

void Slice(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const int64_t step = std::max<int64_t>(call.attrs.Int(Key::kStep, 1), 1);
  Dims strides = v.strides(), sizes = v.sizes();
  if (!sizes.empty()) {
    const size_t axis = AxisOf(call.attrs, v.rank());
    const int64_t start = call.attrs.Int(Key::kStart);
    const int64_t left = std::max<int64_t>(0, sizes[axis] - (start < 0 ? start + sizes[axis] : start));
    sizes[axis] = std::min((left + step - 1) / step, call.attrs.Int(Key::kCount, sizes[axis]));
    strides[axis] *= step;
  }
  sizes = SizesOr(call, 0, sizes);
  call.Out(0) = rt.View(v, sizes, sizes.size() == strides.size() ? strides : ContiguousStrides(sizes));
}

// Python's indexing leaves out slices that take everything; a node that kept all passes its gradient on.
void SliceBackward(Eager& rt, GradCall& grad) {
  if (grad.In(0).sizes == grad.Out().sizes) return grad.Set(0, grad.Grad());
  grad.Set(0, rt.Zeros(grad.In(0).sizes, grad.Grad().dtype()));
}

void Select(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const size_t axis = AxisOf(call.attrs, v.rank());
  const Dims sizes = SizesOr(call, 0, Without(v.sizes(), axis));
  const Dims strides = Without(v.strides(), axis);
  call.Out(0) = rt.View(v, sizes, sizes.size() == strides.size() ? strides : ContiguousStrides(sizes));
}

void ZerosBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.Zeros(grad.In(0).sizes, grad.Grad().dtype())); }

// ---- split, chunk, unbind: several results

// Extent of piece `i` along the axis: literal (kSizes, one per piece or one for all) or equal parts, the last one
// smaller.
int64_t PieceExtent(const Attrs& attrs, int64_t whole, int64_t count, size_t i) {
  const Dims* literal = attrs.Ints(Key::kSizes);
  if (literal != nullptr && i < literal->size() && literal->size() > 1) return (*literal)[i];
  const int64_t each = literal != nullptr && literal->size() == 1 ? (*literal)[0] : (whole + count - 1) / count;
  return std::clamp<int64_t>(whole - each * static_cast<int64_t>(i), 0, each);
}

void Split(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const size_t axis = AxisOf(call.attrs, v.rank());
  const int64_t count = std::max<int64_t>(call.attrs.Int(Key::kCount, 1), 1);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const int64_t whole = v.rank() > 0 ? v.sizes()[axis] : 1;
    const Dims sizes = Resized(v.sizes(), axis, PieceExtent(call.attrs, whole, count, i));
    call.Out(i) = Cut(rt, v, SizesOr(call, i, sizes));
  }
}

// One cat; pieces that got no gradient take part as zeros (split_with_sizes_backward).
void SplitBackward(Eager& rt, GradCall& grad) {
  std::vector<Value> pieces;
  DType dtype = grad.In(0).dtype;
  for (size_t i = 0; i < grad.node.out.size(); ++i) {
    if (grad.HasGrad(i)) dtype = grad.Grad(i).dtype();
  }
  for (size_t i = 0; i < grad.node.out.size(); ++i) {
    pieces.push_back(grad.HasGrad(i) ? grad.Grad(i) : rt.Zeros(grad.Out(i).sizes, dtype));
  }
  grad.Set(0, JoinedLike(rt, pieces, grad.In(0).sizes, dtype));
}

void Unbind(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const size_t axis = AxisOf(call.attrs, v.rank());
  const int64_t count = std::max<int64_t>(call.attrs.Int(Key::kCount, v.rank() > 0 ? v.sizes()[axis] : 1), 1);
  const Dims strides = Without(v.strides(), axis);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const Dims sizes = SizesOr(call, i, Without(v.sizes(), axis));
    call.Out(i) = rt.View(v, sizes, sizes.size() == strides.size() ? strides : ContiguousStrides(sizes));
  }
}

// One stack; a piece without gradient is a zero scalar, expanded (unbind_backward).
void UnbindBackward(Eager& rt, GradCall& grad) {
  std::vector<Value> scalars;
  DType dtype = grad.In(0).dtype;
  for (size_t i = 0; i < grad.node.out.size(); ++i) {
    if (grad.HasGrad(i)) dtype = grad.Grad(i).dtype();
  }
  for (size_t i = 0; i < grad.node.out.size(); ++i) {
    if (!grad.HasGrad(i)) scalars.push_back(rt.Zeros(Dims(), dtype));
  }
  grad.Set(0, rt.Empty(grad.In(0).sizes, dtype));
}

// ---- diagonal, unfold

void Diagonal(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const Dims* axes = call.attrs.Ints(Key::kAxes);
  const size_t a = static_cast<size_t>(NormalAxis(axes != nullptr && axes->size() == 2 ? (*axes)[0] : 0, v.rank()));
  const size_t b = static_cast<size_t>(NormalAxis(axes != nullptr && axes->size() == 2 ? (*axes)[1] : 1, v.rank()));
  if (v.rank() < 2 || a == b) return void(call.Out(0) = rt.Alias(v));
  const int64_t offset = call.attrs.Int(Key::kStart);
  const int64_t length =
      std::min(v.sizes()[a] + std::min<int64_t>(offset, 0), v.sizes()[b] - std::max<int64_t>(offset, 0));
  Dims sizes = Without(Without(v.sizes(), std::max(a, b)), std::min(a, b));
  Dims strides = Without(Without(v.strides(), std::max(a, b)), std::min(a, b));
  sizes.push_back(std::max<int64_t>(length, 0));
  strides.push_back(v.strides()[a] + v.strides()[b]);
  call.Out(0) = rt.View(v, SizesOr(call, 0, sizes), strides);
}

// Tensor.unfold(kAxis, kKernel, kStep): windows along one dimension.
void Unfold(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const size_t axis = AxisOf(call.attrs, v.rank());
  const Dims* kernel = call.attrs.Ints(Key::kKernel);
  const int64_t step = std::max<int64_t>(call.attrs.Int(Key::kStep, 1), 1);
  const int64_t window = kernel != nullptr && !kernel->empty() ? (*kernel)[0] : call.attrs.Int(Key::kCount, 1);
  const int64_t extent = v.rank() > 0 ? v.sizes()[axis] : 1;
  Dims sizes = Resized(v.sizes(), axis, std::max<int64_t>(0, (extent - window) / step + 1)), strides = v.strides();
  const int64_t inner = v.rank() > 0 ? strides[axis] : 1;
  if (v.rank() > 0) strides[axis] *= step;
  sizes.push_back(window);
  strides.push_back(inner);
  call.Out(0) = rt.View(v, SizesOr(call, 0, sizes), strides);
}

// unfold_backward fills zeros and adds by an arange over the unfolded dimension (UnfoldBackward.h), int64.
void UnfoldBackward(Eager& rt, GradCall& grad) {
  const Dims& sizes = grad.In(0).sizes;
  const Value whole = rt.Zeros(sizes, grad.Grad().dtype());
  const size_t axis = AxisOf(grad.attrs(), static_cast<int>(sizes.size()));
  const HiddenBlock positions = rt.Hidden(sizes.empty() ? 8 : sizes[axis] * 8);
  grad.Set(0, whole);
}

// The way back of unfold as an operator of its own, as istft uses it: overlapping windows are added into kSizes.
void FoldWindows(Eager& rt, OpCall& call) {
  const Dims* sizes = call.attrs.Ints(Key::kSizes);
  call.Out(0) = rt.Zeros(SizesOr(call, 0, sizes != nullptr ? *sizes : call.in[0].sizes()), call.in[0].dtype());
  const Value& v = call.Out(0);
  const HiddenBlock positions = rt.Hidden(v.rank() > 0 ? v.sizes()[AxisOf(call.attrs, v.rank())] * 8 : 8);
}

void FoldWindowsBackward(Eager& rt, GradCall& grad) {
  const Value& g = grad.Grad();
  const size_t axis = AxisOf(grad.attrs(), g.rank());
  Dims strides = g.strides();
  const int64_t inner = strides.empty() ? 1 : strides[axis];
  if (!strides.empty()) strides[axis] *= std::max<int64_t>(grad.attrs().Int(Key::kStep, 1), 1);
  strides.push_back(inner);
  grad.Set(0, rt.View(g, grad.In(0).sizes, strides));
}

// ---- as_strided

int64_t Span(DimSpan sizes, DimSpan strides) {
  int64_t last = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last;
}

// May two positions share an element? (_maybe_overlapping_memory: dimensions by stride, each beyond what lies inside
// it.)
bool MayOverlap(DimSpan sizes, DimSpan strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

void AsStrided(Eager& rt, OpCall& call) {
  const Dims* literal = call.attrs.Ints(Key::kSizes);
  const Dims* strides = call.attrs.Ints(Key::kStride);
  const Dims sizes = SizesOr(call, 0, literal != nullptr ? *literal : call.in[0].sizes());
  call.Out(0) = rt.View(call.in[0], sizes,
                        strides != nullptr && strides->size() == sizes.size() ? *strides : ContiguousStrides(sizes));
}

// Zeros that span both geometries. Overlapping windows are added by index: an arange over the storage, both sides
// flattened.
void AsStridedBackward(Eager& rt, GradCall& grad) {
  const Meta& in = grad.In(0);
  const Meta& out = grad.Out();
  const int64_t span = std::max(Span(in.sizes, in.strides), Span(out.sizes, out.strides));
  const Value base = rt.Zeros(Dims{span}, grad.Grad().dtype());
  if (MayOverlap(out.sizes, out.strides)) {
    const Value all = rt.Empty(Dims{span}, DType::kInt64);
    const Dims flat{out.elements};
    const Value positions = rt.Reshape(rt.View(all, out.sizes, out.strides), flat);
    const Value added = rt.Reshape(grad.Grad(), flat);
  }
  grad.Set(0, rt.View(base, in.sizes, in.strides));
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"slice", Slice, SliceBackward, kPlain, false, true, false, "saves sizes; backward: zeros of the input"},
    {"narrow", Slice, SliceBackward, kPlain, false, true, false, "as slice"},
    {"select", Select, ZerosBackward, kPlain, false, true, false, "saves sizes; backward: zeros of the input"},
    {"split", Split, SplitBackward, kPlain, false, true, false, "saves sizes; backward: one cat"},
    {"split_with_sizes", Split, SplitBackward, kPlain, false, true, false, "as split"},
    {"chunk", Split, SplitBackward, kPlain, false, true, false, "as split"},
    {"unbind", Unbind, UnbindBackward, kPlain, false, true, false, "saves nothing; backward: one stack"},
    {"diagonal", Diagonal, ZerosBackward, kPlain, false, true, false, "saves sizes; backward: zeros of the input"},
    {"unfold", Unfold, UnfoldBackward, kPlain, false, true, false, "saves sizes; backward: zeros of the input"},
    {"unfold_backward", FoldWindows, FoldWindowsBackward, kPlain, false, true, false,
     "saves nothing; backward: a view"},
    {"as_strided", AsStrided, AsStridedBackward, kPlain, false, true, false,
     "saves geometry; backward: zeros of the storage"},
};

}  // namespace

void RegisterViewChain(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
