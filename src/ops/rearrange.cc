// Copies that regroup elements between channels and places: pixel_shuffle, channel_shuffle, im2col, col2im.
#include <algorithm>

#include "src/ops/views.h"

namespace memcrest {
namespace {

// (.., C, H, W) with a square of channels moved into places, or places gathered into channels.
Dims Regrouped(DimSpan sizes, int64_t factor, bool to_places) {
  Dims result(sizes.begin(), sizes.end());
  if (result.size() < 3 || factor < 1) return result;
  int64_t& c = result[result.size() - 3];
  int64_t& h = result[result.size() - 2];
  int64_t& w = result[result.size() - 1];
  c = to_places ? c / (factor * factor) : c * factor * factor;
  h = to_places ? h * factor : h / factor;
  w = to_places ? w * factor : w / factor;
  return result;
}

// The factor (upscale_factor, downscale_factor) stands in kCount.
void Shuffle(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = rt.Empty(SizesOr(call, 0, Regrouped(v.sizes(), call.attrs.Int(Key::kCount, 1), true)), v.dtype());
}
void Unshuffle(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = rt.Empty(SizesOr(call, 0, Regrouped(v.sizes(), call.attrs.Int(Key::kCount, 1), false)), v.dtype());
}
void SameSizes(Eager& rt, OpCall& call) { call.Out(0) = rt.Empty(call.in[0].sizes(), call.in[0].dtype()); }
void ShuffleBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.Empty(grad.In(0).sizes, grad.Grad().dtype())); }

// ---- im2col, col2im

int64_t At(const Dims* list, size_t i, int64_t otherwise) {
  if (list == nullptr || list->empty()) return otherwise;
  return (*list)[std::min(i, list->size() - 1)];
}

// (N, C, H, W) to (N, C*kh*kw, places): F.unfold with kKernel, kDilation, kPadding, kStride.
Dims ColumnSizes(const OpCall& call) {
  const Dims& sizes = call.in[0].sizes();
  if (sizes.size() < 3) return sizes;
  int64_t window = 1, places = 1;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t kernel = At(call.attrs.Ints(Key::kKernel), i, 1);
    const int64_t reach = At(call.attrs.Ints(Key::kDilation), i, 1) * (kernel - 1) + 1;
    const int64_t padded = sizes[sizes.size() - 2 + i] + 2 * At(call.attrs.Ints(Key::kPadding), i, 0);
    window *= kernel;
    places *=
        std::max<int64_t>(0, (padded - reach) / std::max<int64_t>(1, At(call.attrs.Ints(Key::kStride), i, 1)) + 1);
  }
  Dims result(sizes.begin(), sizes.end() - 3);
  result.push_back(sizes[sizes.size() - 3] * window);
  result.push_back(places);
  return result;
}

// Both kernels start from an empty_like of their input and resize it: a smaller result keeps the input's storage
// size, a larger one replaces it, with the first block alive until then (Im2Col.cu, Col2Im.cu).
Value ResizedResult(Eager& rt, const Value& from, DimSpan sizes) {
  const Bytes copied = IsContiguous(from) ? 0 : from.bytes();
  if (NumElements(sizes) <= from.elements()) {
    const Value whole = rt.Empty(Dims{from.elements()}, from.dtype());
    const HiddenBlock copy = rt.Hidden(copied);
    return rt.View(whole, sizes, ContiguousStrides(sizes));
  }
  const HiddenBlock copy = rt.Hidden(copied);
  const HiddenBlock first = rt.Hidden(from.bytes());
  return rt.Empty(sizes, from.dtype());
}

void Im2Col(Eager& rt, OpCall& call) {
  call.Out(0) = ResizedResult(rt, call.in[0], SizesOr(call, 0, ColumnSizes(call)));
}

// F.fold: kSizes names (H, W) of the result.
Dims ImageSizes(const OpCall& call) {
  const Dims& sizes = call.in[0].sizes();
  const Dims* image = call.attrs.Ints(Key::kSizes);
  if (image == nullptr || image->size() != 2 || sizes.size() < 2) return sizes;
  Dims result(sizes.begin(), sizes.end() - 1);
  result.back() /=
      std::max<int64_t>(1, At(call.attrs.Ints(Key::kKernel), 0, 1) * At(call.attrs.Ints(Key::kKernel), 1, 1));
  result.insert(result.end(), image->begin(), image->end());
  return result;
}

void Col2Im(Eager& rt, OpCall& call) {
  call.Out(0) = ResizedResult(rt, call.in[0], SizesOr(call, 0, ImageSizes(call)));
}

void ColumnsBackward(Eager& rt, GradCall& grad) { grad.Set(0, ResizedResult(rt, grad.Grad(), grad.In(0).sizes)); }

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"pixel_shuffle", Shuffle, ShuffleBackward, kPlain, false, true, false, "saves nothing"},
    {"pixel_unshuffle", Unshuffle, ShuffleBackward, kPlain, false, true, false, "saves nothing"},
    {"channel_shuffle", SameSizes, ShuffleBackward, kPlain, false, true, false, "saves nothing"},
    {"im2col", Im2Col, ColumnsBackward, kPlain, false, true, false, "saves sizes; backward: col2im"},
    {"col2im", Col2Im, ColumnsBackward, kPlain, false, true, false, "saves sizes; backward: im2col"},
};

}  // namespace

void RegisterRearrange(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
