// Short-time Fourier transforms, composed as aten/src/ATen/native/SpectralOps.cpp does: frames are overlapping views.
//
// kKernel {n_fft}, kStride {hop}, kPadding {n_fft/2} where centered (the default) and {0} where not, kSizes {window
// length} where shorter than n_fft, kMode pad mode ("reflect"). Inputs: signal (time, or batch x time) or spectrum;
// window, absent: ones.
#include <algorithm>
#include <string>

#include "src/ops/views.h"

namespace memcrest {
namespace {

struct Framing {
  int64_t n_fft = 1, hop = 1, pad = 0, window = 1;
};

int64_t First(const Attrs& attrs, Key key, int64_t otherwise) {
  const Dims* list = attrs.Ints(key);
  return list != nullptr && !list->empty() ? (*list)[0] : otherwise;
}

Framing FramingOf(const Attrs& attrs) {
  Framing f;
  f.n_fft = std::max<int64_t>(1, First(attrs, Key::kKernel, 1));
  f.hop = std::max<int64_t>(1, First(attrs, Key::kStride, f.n_fft / 4));
  f.pad = First(attrs, Key::kPadding, f.n_fft / 2);
  f.window = First(attrs, Key::kSizes, f.n_fft);
  return f;
}

// A window shorter than n_fft is copied into the middle of zeros.
Value FullWindow(Eager& rt, const OpCall& call, const Framing& f) {
  if (!call.Has(1)) return Value();
  return call.in[1].elements() == f.n_fft ? call.in[1] : rt.Zeros(Dims{f.n_fft}, call.in[1].dtype());
}

Value Centered(Eager& rt, const OpCall& call, const Value& signal, const Framing& f) {
  if (f.pad == 0) return signal;
  const Dims wide = signal.rank() == 1 ? Dims{1, 1, signal.size(0)} : Dims{1, signal.size(0), signal.size(1)};
  const Dims padded = Resized(wide, 2, wide[2] + 2 * f.pad);
  Value v = rt.Call("view", {signal}, {}, &wide);
  Attrs attrs{{Key::kMode, std::string(call.attrs.Text(Key::kMode, "reflect"))}, {Key::kPadding, Dims{f.pad, f.pad}}};
  v = rt.Call("pad", {v}, std::move(attrs), &padded);
  const Dims flat = signal.rank() == 1 ? Dims{padded[2]} : Dims{padded[1], padded[2]};
  return rt.Call("view", {v}, {}, &flat);
}

bool Twosided(const OpCall& call, const Framing& f) {
  const Dims* hint = call.Hint(0);
  const size_t axis = call.in[0].rank() > 1 ? 1 : 0;
  return hint != nullptr && axis < hint->size() && f.n_fft > 2 && (*hint)[axis] == f.n_fft;
}

void Stft(Eager& rt, OpCall& call) {
  const Framing f = FramingOf(call.attrs);
  const bool single = call.in[0].rank() < 2;
  Value v = call.in[0];
  if (single && f.pad == 0) v = rt.Call("unsqueeze", {v}, Attrs{{Key::kAxis, int64_t{0}}});
  v = Centered(rt, call, v, f);
  const Value window = FullWindow(rt, call, f);
  if (v.rank() < 2) v = rt.Call("unsqueeze", {v}, Attrs{{Key::kAxis, int64_t{0}}});
  const Value padded = v;  // a local name: alive to the end of the operator
  const Dims frames{v.size(0), std::max<int64_t>(1, (v.size(1) - f.n_fft) / f.hop + 1), f.n_fft};
  const Dims strides{v.strides()[0], f.hop * v.strides()[1], v.strides()[1]};
  v = rt.Call("as_strided", {v}, Attrs{{Key::kSizes, frames}, {Key::kStride, strides}});
  if (window) v = rt.Call("mul", {v, window});
  Attrs attrs{{Key::kAxes, Dims{2}}};
  if (Twosided(call, f)) attrs.Set(Key::kMode, std::string("twosided"));
  v = rt.Call("_fft_r2c", {v}, std::move(attrs));
  v = rt.Call("transpose", {v}, Attrs{{Key::kPerm, Dims{0, 2, 1}}});
  call.Out(0) = single ? rt.Call("squeeze", {v}, Attrs{{Key::kAxes, Dims{0}}}) : v;
}

// Overlapping frames added up: unfold_backward onto zeros.
Value Overlapped(Eager& rt, const Value& frames, int64_t length, int64_t hop) {
  const Dims sizes{frames.size(0), length};
  return rt.Call("unfold_backward", {frames}, Attrs{{Key::kAxis, int64_t{1}}, {Key::kStep, hop}}, &sizes);
}

// The check that the window's envelope is nowhere zero: its absolute values live for a moment.
void CheckEnvelope(Eager& rt, const Value& envelope) { rt.EmptyLike(envelope); }

void Istft(Eager& rt, OpCall& call) {
  const Framing f = FramingOf(call.attrs);
  const bool single = call.in[0].rank() < 3;
  Value v = call.in[0];
  if (single) v = rt.Call("unsqueeze", {v}, Attrs{{Key::kAxis, int64_t{0}}});
  Value window = FullWindow(rt, call, f);
  if (!window) window = rt.Zeros(Dims{f.n_fft}, RealOf(v.dtype()));
  v = rt.Call("view_as_complex",
              {rt.Call("transpose", {rt.Call("view_as_real", {v})}, Attrs{{Key::kPerm, Dims{0, 2, 1, 3}}})});
  const int64_t frames = v.size(1), full = f.n_fft + f.hop * (frames - 1);
  const Value parts = rt.Call("_fft_c2r", {v}, Attrs{{Key::kAxes, Dims{2}}, {Key::kCount, f.n_fft}});
  const Value weighted = rt.Call("mul", {parts, window});
  Value signal = Overlapped(rt, weighted, full, f.hop);
  const Value squared = rt.Call("pow", {window}, Attrs{{Key::kScalar, 2.0}});
  const Dims tiled{1, frames, f.n_fft};
  Value envelope = Overlapped(rt, rt.Call("expand", {squared}, {}, &tiled), full, f.hop);
  const Dims* hint = call.Hint(0);
  const int64_t length = hint != nullptr && !hint->empty() ? hint->back() : std::max<int64_t>(1, full - 2 * f.pad);
  const Dims kept{signal.size(0), length}, one{1, length};
  const Attrs axis{{Key::kAxis, int64_t{1}}};
  signal = rt.Call("slice", {signal}, axis, &kept);
  envelope = rt.Call("slice", {envelope}, axis, &one);
  CheckEnvelope(rt, envelope);
  signal = rt.Call("div", {signal, envelope});
  call.Out(0) = single ? rt.Call("squeeze", {signal}, Attrs{{Key::kAxes, Dims{0}}}) : signal;
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"stft", Stft, nullptr, kPlain, true, true, false, "pad, as_strided, mul, _fft_r2c, transpose"},
    {"istft", Istft, nullptr, kPlain, true, true, false, "_fft_c2r, mul, unfold_backward, div"},
};

}  // namespace

void RegisterStft(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
