// Fourier transforms. The three primitives are real-to-complex, complex-to-complex and complex-to-real; everything
// else is made of them. cuFFT's own plan workspaces are taken as 0 (power-of-two sizes of one dimension need none).
//
// kAxes names the transformed dimensions (absent: the last). kMode "twosided" makes a real input's full spectrum.
// Bound sizes of complex results may show the export's trailing pair (re, im): it is taken off.
#include <algorithm>
#include <string>
#include <vector>

#include "src/ops/views.h"

namespace memcrest {
namespace {

Dims TransformAxes(const Attrs& attrs, int rank) {
  const Dims* axes = attrs.Ints(Key::kAxes);
  Dims result = axes != nullptr && !axes->empty() ? *axes : Dims{attrs.Int(Key::kAxis, -1)};
  for (int64_t& a : result) a = NormalAxis(a, rank);
  return result;
}

// Bound sizes of a complex result, without the trailing pair; `otherwise` where there are none.
Dims ComplexSizes(const OpCall& call, const Dims& otherwise) {
  Dims sizes = SizesOr(call, 0, otherwise);
  if (sizes.size() == otherwise.size() + 1 && sizes.back() == 2) sizes.pop_back();
  return sizes.size() == otherwise.size() ? sizes : otherwise;
}

// Dimensions as the transform walks them: the others by falling stride, then the transformed ones (_exec_fft).
Dims WalkOrder(const Value& v, const Dims& axes) {
  Dims order;
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
  }
  const auto stride = [&](int64_t d) { return v.strides()[static_cast<size_t>(d)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return stride(a) > stride(b); });
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}

// The result is dense in walking order; an input whose other dimensions do not merge into one is copied after it was
// made.
Value Transformed(Eager& rt, const Value& v, const Dims& sizes, DType dtype, const Dims& axes, bool copies_input) {
  const Dims order = WalkOrder(v, axes);
  Dims strides(sizes.size(), 1), merged{1};
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[static_cast<size_t>(order[i])] = step;
    step *= sizes[static_cast<size_t>(order[i])];
  }
  const Value walked = rt.Permuted(v, order);
  const size_t others = order.size() - axes.size();
  for (size_t i = 0; i < others; ++i) merged[0] *= walked.sizes()[i];
  merged.insert(merged.end(), walked.sizes().begin() + static_cast<std::ptrdiff_t>(others), walked.sizes().end());
  Value result = rt.EmptyStrided(sizes, strides, dtype);
  const HiddenBlock copy = rt.Hidden(copies_input || !ViewStrides(walked.meta(), merged).has_value() ? v.bytes() : 0);
  return result;
}

// ---- primitives

void RealToComplex(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const Dims axes = TransformAxes(call.attrs, v.rank());
  const size_t last = static_cast<size_t>(axes.back());
  const bool twosided = call.attrs.Text(Key::kMode) == "twosided";
  call.Save(rt, 0, v);  // only its size is read, yet it is kept (derivatives.yaml)
  const Dims sizes = ComplexSizes(call, twosided ? v.sizes() : Resized(v.sizes(), last, v.sizes()[last] / 2 + 1));
  call.Out(0) = Transformed(rt, v, sizes, ComplexOf(v.dtype()), axes, false);
}

Value RealPart(const Value& v) {
  Dims strides = v.strides();
  for (int64_t& s : strides) s *= 2;
  return ViewAs(v, v.sizes(), strides, RealOf(v.dtype()));
}

// The one-sided gradient is filled up with zeros, transformed back, and its real part is the result: a view of twice
// the size.
void RealToComplexBackward(Eager& rt, GradCall& grad) {
  const Dims& sizes = grad.In(0).sizes;
  const Dims axes = TransformAxes(grad.attrs(), static_cast<int>(sizes.size()));
  const Value& g = grad.Grad();
  const Value full = g.sizes() == sizes ? g : rt.Zeros(sizes, g.dtype());
  grad.Set(0, RealPart(Transformed(rt, full, sizes, g.dtype(), axes, false)));
}

void ComplexToComplex(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = Transformed(rt, v, v.sizes(), ComplexOf(v.dtype()), TransformAxes(call.attrs, v.rank()), false);
}

void ComplexToComplexBackward(Eager& rt, GradCall& grad) {
  const Value& g = grad.Grad();
  grad.Set(0, Transformed(rt, g, g.sizes(), g.dtype(), TransformAxes(grad.attrs(), g.rank()), false));
}

// cuFFT overwrites the input of a complex-to-real transform: it is cloned.
void ComplexToReal(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const Dims axes = TransformAxes(call.attrs, v.rank());
  const size_t last = static_cast<size_t>(axes.back());
  const int64_t extent = call.attrs.Int(Key::kCount, 2 * (v.sizes()[last] - 1));
  Dims sizes = SizesOr(call, 0, Resized(v.sizes(), last, extent));
  if (sizes.size() != v.sizes().size()) sizes = Resized(v.sizes(), last, extent);
  call.Out(0) = Transformed(rt, v, sizes, RealOf(v.dtype()), axes, true);
}

void ComplexToRealBackward(Eager& rt, GradCall& grad) {
  const Value& g = grad.Grad();
  const Dims axes = TransformAxes(grad.attrs(), g.rank());
  grad.Set(0, Transformed(rt, g, grad.In(0).sizes, ComplexOf(g.dtype()), axes, false));
}

// ---- torch.fft.*: resize to n, then one primitive

Value WithAxes(Eager& rt, absl::string_view op, const Value& v, const Dims& axes, bool twosided, const Dims* hint) {
  Attrs attrs{{Key::kAxes, axes}};
  if (twosided) attrs.Set(Key::kMode, std::string("twosided"));
  return rt.Call(op, {v}, std::move(attrs), hint);
}

// kSizes: n of each transformed dimension, where it was given.
Value ResizedInput(Eager& rt, const OpCall& call, const Dims& axes, bool last_is_real_output) {
  Value v = call.in[0];
  const Dims* wanted = call.attrs.Ints(Key::kSizes);
  for (size_t i = 0; wanted != nullptr && i < axes.size() && i < wanted->size(); ++i) {
    const size_t axis = static_cast<size_t>(axes[i]);
    const bool halved = last_is_real_output && i + 1 == axes.size();
    const int64_t n = halved ? (*wanted)[i] / 2 + 1 : (*wanted)[i];
    if (n <= 0 || n == v.sizes()[axis]) continue;
    const Dims sizes = Resized(v.sizes(), axis, n);
    v = n < v.sizes()[axis] ? rt.Call("slice", {v}, Attrs{{Key::kAxis, axes[i]}}, &sizes)
                            : rt.Call("constant_pad_nd", {v}, {}, &sizes);
  }
  return v;
}

void RealTransform(Eager& rt, OpCall& call) {  // rfft
  const Dims axes = TransformAxes(call.attrs, call.in[0].rank());
  call.Out(0) = WithAxes(rt, "_fft_r2c", ResizedInput(rt, call, axes, false), axes, false, call.Hint(0));
}

void ToRealTransform(Eager& rt, OpCall& call) {  // irfft
  const Dims axes = TransformAxes(call.attrs, call.in[0].rank());
  Value v = ResizedInput(rt, call, axes, true);
  if (!IsComplex(v.dtype())) v = rt.Call("_to_copy", {v}, Attrs{{Key::kDtype, ComplexOf(v.dtype())}});
  const Dims* wanted = call.attrs.Ints(Key::kSizes);
  Attrs attrs{{Key::kAxes, axes}};
  if (wanted != nullptr && wanted->size() == axes.size() && wanted->back() > 0) attrs.Set(Key::kCount, wanted->back());
  call.Out(0) = rt.Call("_fft_c2r", {v}, std::move(attrs), call.Hint(0));
}

// fft, ifft: a real input of one dimension goes through the real transform, of several through a cast.
void FullTransform(Eager& rt, OpCall& call) {
  const Dims axes = TransformAxes(call.attrs, call.in[0].rank());
  Value v = ResizedInput(rt, call, axes, false);
  const bool real = !IsComplex(v.dtype());
  if (real && axes.size() == 1) return void(call.Out(0) = WithAxes(rt, "_fft_r2c", v, axes, true, nullptr));
  if (real) v = rt.Call("_to_copy", {v}, Attrs{{Key::kDtype, ComplexOf(v.dtype())}});
  call.Out(0) = WithAxes(rt, "_fft_c2c", v, axes, false, nullptr);
}

// fft by kMode: rfft, irfft, anything else fft.
void Fft(Eager& rt, OpCall& call) {
  const absl::string_view mode = call.attrs.Text(Key::kMode, "fft");
  if (mode == "rfft") return RealTransform(rt, call);
  if (mode == "irfft") return ToRealTransform(rt, call);
  FullTransform(rt, call);
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"_fft_r2c", RealToComplex, RealToComplexBackward, kPlain, false, true, false, "saves the input"},
    {"_fft_c2c", ComplexToComplex, ComplexToComplexBackward, kPlain, false, true, false, "saves nothing"},
    {"_fft_c2r", ComplexToReal, ComplexToRealBackward, kPlain, false, true, false, "saves sizes"},
    {"fft", Fft, nullptr, kPlain, true, true, false, "one of the three above"},
    {"fft_fft", FullTransform, nullptr, kPlain, true, true, false, "_fft_r2c or _fft_c2c"},
    {"fft_ifft", FullTransform, nullptr, kPlain, true, true, false, "_fft_r2c or _fft_c2c"},
    {"fft_rfft", RealTransform, nullptr, kPlain, true, true, false, "_fft_r2c"},
    {"fft_irfft", ToRealTransform, nullptr, kPlain, true, true, false, "_fft_c2r"},
};

}  // namespace

void RegisterSpectral(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
