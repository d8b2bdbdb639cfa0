// Views of a whole tensor: same elements, other sizes and strides. Nothing is allocated forward; backward reshapes or
// permutes the gradient back, which copies only where the gradient's strides forbid a view (derivatives.yaml: view,
// permute, expand ...).
#include "src/ops/views.h"

#include <algorithm>
#include <numeric>

namespace memcrest {

Dims SizesOr(const OpCall& call, size_t i, DimSpan otherwise) {
  const Dims* hint = call.Hint(i);
  return hint != nullptr ? *hint : Dims(otherwise.begin(), otherwise.end());
}

size_t AxisOf(const Attrs& attrs, int rank, Key key) { return static_cast<size_t>(NormalAxis(attrs.Int(key), rank)); }

Dims Without(DimSpan sizes, size_t axis) {
  Dims result(sizes.begin(), sizes.end());
  if (axis < result.size()) result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  return result;
}

Dims Resized(DimSpan sizes, size_t axis, int64_t extent) {
  Dims result(sizes.begin(), sizes.end());
  if (axis < result.size()) result[axis] = extent;
  return result;
}

Value ViewAs(const Value& base, DimSpan sizes, DimSpan strides, DType dtype) {
  TensorImpl* impl = new TensorImpl;
  impl->storage = base.impl()->storage;
  impl->meta = MakeMeta(sizes, strides, dtype);
  impl->is_view = true;
  return Value(impl);
}

Value Fitted(Eager& rt, const Value& gradient, DimSpan sizes) {
  return gradient.elements() == NumElements(sizes) ? rt.Reshape(gradient, sizes) : rt.Empty(sizes, gradient.dtype());
}

Value Cut(Eager& rt, const Value& base, DimSpan sizes) {
  return rt.View(base, sizes, sizes.size() == base.sizes().size() ? base.strides() : ContiguousStrides(sizes));
}

DType ComplexOf(DType dtype) {
  if (IsComplex(dtype)) return dtype;
  return dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

DType RealOf(DType dtype) {
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype == DType::kComplex64 ? DType::kFloat32 : dtype;
}

namespace {

// Literal target sizes, with -1 worked out from the element count.
Dims LiteralSizes(const OpCall& call) {
  const Dims* literal = call.attrs.Ints(Key::kSizes);
  if (literal == nullptr) return call.in[0].sizes();
  Dims sizes = *literal;
  int64_t known = 1;
  for (const int64_t n : sizes) known *= n >= 0 ? n : 1;
  for (int64_t& n : sizes) {
    if (n < 0) n = known > 0 ? call.in[0].elements() / known : 0;
  }
  return sizes;
}

Value ViewOf(Eager& rt, const Value& v, DimSpan sizes) {
  return rt.View(v, sizes, ViewStrides(v.meta(), sizes).value_or(ContiguousStrides(sizes)));
}

void View(Eager& rt, OpCall& call) { call.Out(0) = ViewOf(rt, call.in[0], SizesOr(call, 0, LiteralSizes(call))); }

void ViewBackward(Eager& rt, GradCall& grad) { grad.Set(0, Fitted(rt, grad.Grad(), grad.In(0).sizes)); }

// reshape and flatten: a view where strides allow, else a row-major clone seen through _unsafe_view (at::reshape).
void Reshape(Eager& rt, OpCall& call) {
  const Dims sizes = SizesOr(call, 0, LiteralSizes(call));
  Value from = call.in[0];
  const bool viewable = from.elements() != NumElements(sizes) || ViewStrides(from.meta(), sizes).has_value();
  if (!viewable) from = rt.Call("clone", {from}, Attrs{{Key::kMemoryFormat, std::string("contiguous")}});
  call.Out(0) = rt.Call(viewable ? "view" : "_unsafe_view", {from}, {}, &sizes);
}

// The full permutation; transpose may name two dimensions (kAxes) instead, t names none.
Dims PermOf(const Attrs& attrs, int rank) {
  if (const Dims* perm = attrs.Ints(Key::kPerm); perm != nullptr && perm->size() == static_cast<size_t>(rank))
    return *perm;
  Dims perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), int64_t{0});
  const Dims* two = attrs.Ints(Key::kAxes);
  if (two != nullptr && two->size() == 2 && rank > 0) {
    std::swap(perm[static_cast<size_t>(NormalAxis((*two)[0], rank))],
              perm[static_cast<size_t>(NormalAxis((*two)[1], rank))]);
  } else if (rank == 2) {
    std::swap(perm[0], perm[1]);
  }
  return perm;
}

void Permute(Eager& rt, OpCall& call) { call.Out(0) = rt.Permuted(call.in[0], PermOf(call.attrs, call.in[0].rank())); }

void PermuteBackward(Eager& rt, GradCall& grad) {
  const int rank = static_cast<int>(grad.In(0).sizes.size());
  if (grad.Grad().rank() != rank) return grad.Set(0, Fitted(rt, grad.Grad(), grad.In(0).sizes));
  const Dims perm = PermOf(grad.attrs(), rank);
  Dims inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(NormalAxis(perm[i], rank))] = static_cast<int64_t>(i);
  grad.Set(0, rt.Permuted(grad.Grad(), inverse));
}

// A view whose strides come from the dimension list; where that does not give the bound sizes, the bound sizes win.
void SetChecked(Eager& rt, OpCall& call, const Dims& sizes, const Dims& strides) {
  const Dims* hint = call.Hint(0);
  call.Out(0) = hint == nullptr || *hint == sizes ? rt.View(call.in[0], sizes, strides) : ViewOf(rt, call.in[0], *hint);
}

void Unsqueeze(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const size_t axis = static_cast<size_t>(NormalAxis(call.attrs.Int(Key::kAxis), v.rank() + 1));
  Dims sizes = v.sizes(), strides = v.strides();
  const int64_t stride = axis < sizes.size() ? sizes[axis] * strides[axis] : 1;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), stride);
  SetChecked(rt, call, sizes, strides);
}

void Squeeze(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const Dims* axes = call.attrs.Ints(Key::kAxes);
  const Dims one{call.attrs.Int(Key::kAxis)};
  if (axes == nullptr && call.attrs.Has(Key::kAxis)) axes = &one;
  Dims sizes, strides;
  for (size_t i = 0; i < v.sizes().size(); ++i) {
    const auto names = [&](int64_t a) { return static_cast<size_t>(NormalAxis(a, v.rank())) == i; };
    const bool asked = axes == nullptr || std::any_of(axes->begin(), axes->end(), names);
    if (asked && v.sizes()[i] == 1) continue;
    sizes.push_back(v.sizes()[i]);
    strides.push_back(v.strides()[i]);
  }
  SetChecked(rt, call, sizes, strides);
}

Dims ExpandedSizes(const OpCall& call) {
  const Dims& have = call.in[0].sizes();
  const Dims* literal = call.attrs.Ints(Key::kSizes);
  if (literal == nullptr || literal->size() < have.size()) return have;
  Dims sizes = *literal;
  const size_t lead = sizes.size() - have.size();
  for (size_t i = lead; i < sizes.size(); ++i) {
    if (sizes[i] < 0) sizes[i] = have[i - lead];
  }
  return sizes;
}

void Expand(Eager& rt, OpCall& call) { call.Out(0) = rt.Expanded(call.in[0], SizesOr(call, 0, ExpandedSizes(call))); }
void ExpandBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.SumTo(grad.Grad(), grad.In(0).sizes)); }

void Alias(Eager& rt, OpCall& call) { call.Out(0) = rt.Alias(call.in[0]); }
void PassGradient(Eager&, GradCall& grad) { grad.Set(0, grad.Grad()); }

// Complex as pairs of reals and back; the gradient is made row-major first (derivatives.yaml).
Value RealView(const Value& v) {
  Dims sizes = v.sizes(), strides = v.strides();
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return ViewAs(v, sizes, strides, RealOf(v.dtype()));
}

Value ComplexView(const Value& v) {
  Dims sizes = v.sizes(), strides = v.strides();
  if (!sizes.empty()) sizes.pop_back(), strides.pop_back();
  for (int64_t& s : strides) s /= 2;
  return ViewAs(v, sizes, strides, ComplexOf(v.dtype()));
}

void ViewAsReal(Eager&, OpCall& call) { call.Out(0) = RealView(call.in[0]); }
void ViewAsRealBackward(Eager& rt, GradCall& grad) { grad.Set(0, ComplexView(rt.Contiguous(grad.Grad()))); }
void ViewAsComplex(Eager&, OpCall& call) { call.Out(0) = ComplexView(call.in[0]); }
void ViewAsComplexBackward(Eager& rt, GradCall& grad) { grad.Set(0, RealView(rt.Contiguous(grad.Grad()))); }

// real and imag: one component of the pairs; of a real tensor, itself.
void Component(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) =
      !IsComplex(v.dtype()) ? v : rt.Call("select", {rt.Call("view_as_real", {v})}, Attrs{{Key::kAxis, int64_t{-1}}});
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"view", View, ViewBackward, kPlain, false, true, false, "saves sizes"},
    {"_unsafe_view", View, ViewBackward, kPlain, false, true, false, "saves sizes"},
    {"reshape", Reshape, nullptr, kPlain, true, true, false, "view, or clone and _unsafe_view"},
    {"flatten", Reshape, nullptr, kPlain, true, true, false, "as reshape"},
    {"transpose", Permute, PermuteBackward, kPlain, false, true, false, "saves nothing"},
    {"permute", Permute, PermuteBackward, kPlain, false, true, false, "saves nothing"},
    {"movedim", Permute, PermuteBackward, kPlain, false, true, false, "saves nothing"},
    {"t", Permute, PermuteBackward, kPlain, false, true, false, "saves nothing"},
    {"unsqueeze", Unsqueeze, ViewBackward, kPlain, false, true, false, "saves nothing"},
    {"squeeze", Squeeze, ViewBackward, kPlain, false, true, false, "saves sizes"},
    {"expand", Expand, ExpandBackward, kPlain, false, true, false, "saves sizes; backward sums"},
    {"alias", Alias, PassGradient, kPlain, false, true, false, "saves nothing"},
    {"detach", Alias, nullptr, kPlain, false, false, false, "no gradient"},
    {"view_as_real", ViewAsReal, ViewAsRealBackward, kPlain, false, true, false, "saves nothing"},
    {"view_as_complex", ViewAsComplex, ViewAsComplexBackward, kPlain, false, true, false, "saves nothing"},
    {"real", Component, nullptr, kPlain, true, true, false, "view_as_real and select"},
    {"imag", Component, nullptr, kPlain, true, true, false, "view_as_real and select"},
};

}  // namespace

void RegisterViews(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
