// pad: constant, reflect, replicate, circular. kPadding stands in PyTorch's order (last dimension first, before and
// after).
#include <algorithm>
#include <vector>

#include "src/ops/views.h"

namespace memcrest {
namespace {

Dims PaddedSizes(const OpCall& call) {
  Dims sizes = call.in[0].sizes();
  const Dims* pads = call.attrs.Ints(Key::kPadding);
  for (size_t i = 0; pads != nullptr && i + 1 < pads->size() && i / 2 < sizes.size(); i += 2) {
    sizes[sizes.size() - 1 - i / 2] += (*pads)[i] + (*pads)[i + 1];
  }
  for (int64_t& n : sizes) n = std::max<int64_t>(n, 0);
  return sizes;
}

// Does every pad of the forward call have this sign (0 counts as both)?
bool AllPads(const Attrs& attrs, int sign) {
  const Dims* pads = attrs.Ints(Key::kPadding);
  return pads == nullptr || std::all_of(pads->begin(), pads->end(), [&](int64_t p) { return p * sign >= 0; });
}

// constant_pad_nd keeps the memory format its input suggests; where nothing is added it clones the part that stays.
Value ConstantPadded(Eager& rt, const Value& v, DimSpan sizes, bool only_cuts) {
  if (only_cuts) return rt.EmptyLike(Cut(rt, v, sizes));
  const bool channels_last = IsChannelsLast(v) && (sizes.size() == 4 || sizes.size() == 5);
  return rt.EmptyStrided(sizes, channels_last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes), v.dtype());
}

void ConstantPad(Eager& rt, OpCall& call) {
  const Dims sizes = SizesOr(call, 0, PaddedSizes(call));
  call.Out(0) = ConstantPadded(rt, call.in[0], sizes, call.attrs.Has(Key::kPadding) && AllPads(call.attrs, -1));
}

void ConstantPadBackward(Eager& rt, GradCall& grad) {
  grad.Set(0, ConstantPadded(rt, grad.Grad(), grad.In(0).sizes, AllPads(grad.attrs(), 1)));
}

// Both save their input; reflection makes what it reads row-major, replication reads it where it is (ReflectionPad.cu,
// ReplicationPadding.cu).
void MirrorPad(Eager& rt, OpCall& call) {
  call.Save(rt, 0, call.in[0]);
  call.Out(0) = rt.Empty(SizesOr(call, 0, PaddedSizes(call)), call.in[0].dtype());
}

Bytes RowMajorCopy(const Value& v) { return IsContiguous(v) ? 0 : v.bytes(); }

void ReflectionPad(Eager& rt, OpCall& call) {
  MirrorPad(rt, call);
  const HiddenBlock copy = rt.Hidden(RowMajorCopy(call.in[0]));
}

void MirrorPadBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.Zeros(grad.In(0).sizes, grad.Grad().dtype())); }

void ReflectionPadBackward(Eager& rt, GradCall& grad) {
  MirrorPadBackward(rt, grad);
  const HiddenBlock copy = rt.Hidden(RowMajorCopy(grad.Grad()));
}

// ---- circular: an empty result, the middle and each border copied into slices of it (_pad_circular_symint).

void CircularPad(Eager& rt, OpCall& call) {
  call.Out(0) = rt.Empty(SizesOr(call, 0, PaddedSizes(call)), call.in[0].dtype());
}

// Elements of the copied borders, in the order of copying: last dimension first, before then after; each spans the
// whole result in the other dimensions.
std::vector<int64_t> Borders(const GradCall& grad) {
  std::vector<int64_t> borders;
  const Dims& sizes = grad.Out().sizes;
  const Dims* pads = grad.attrs().Ints(Key::kPadding);
  for (size_t i = 0; pads != nullptr && i < pads->size() && i / 2 < sizes.size(); ++i) {
    const int64_t line = NumElements(Resized(sizes, sizes.size() - 1 - i / 2, 1));
    if ((*pads)[i] > 0) borders.push_back(line * (*pads)[i]);
  }
  return borders;
}

// Each copy into a slice is undone by CopySlices: a copy of the whole gradient, a clone of the slice, zeros for what
// it held; the slice's own gradient comes back full size and is added.
void CircularPadBackward(Eager& rt, GradCall& grad) {
  const Dims& whole = grad.Out().sizes;
  const DType dtype = grad.Grad().dtype();
  const std::vector<int64_t> borders = Borders(grad);
  Value sum = grad.Take();
  for (size_t i = borders.size(); i-- > 0;) {
    Value next = rt.Empty(whole, dtype);
    Value border = rt.Empty(Dims{borders[i]}, dtype);
    rt.Zeros(Dims{borders[i]}, dtype);
    sum.reset();
    const Value from_slice = rt.Zeros(whole, dtype);
    border.reset();
    const Ref<Storage> added = Watched(rt, next.bytes());
    sum = std::move(next);
  }
  Value next = rt.Empty(whole, dtype);
  Value middle = rt.Empty(grad.In(0).sizes, dtype);
  next.reset();
  sum.reset();
  const Dims* pads = grad.attrs().Ints(Key::kPadding);
  for (size_t i = 0; pads != nullptr && i < pads->size(); i += 2) middle = rt.Zeros(grad.In(0).sizes, dtype);
  grad.Set(0, std::move(middle));
}

// F.pad chooses by mode.
void Pad(Eager& rt, OpCall& call) {
  const absl::string_view mode = call.attrs.Text(Key::kMode, "constant");
  const absl::string_view op = mode == "reflect"     ? "_reflection_pad"
                               : mode == "replicate" ? "_replication_pad"
                               : mode == "circular"  ? "_pad_circular"
                                                     : "constant_pad_nd";
  Attrs attrs;
  if (const Dims* pads = call.attrs.Ints(Key::kPadding)) attrs.Set(Key::kPadding, *pads);
  call.Out(0) = rt.Call(op, {call.in[0]}, std::move(attrs), call.Hint(0));
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"pad", Pad, nullptr, kPlain, true, true, false, "one of the four below"},
    {"constant_pad_nd", ConstantPad, ConstantPadBackward, kPlain, false, true, false, "saves nothing"},
    {"_reflection_pad", ReflectionPad, ReflectionPadBackward, kPlain, false, true, false, "saves the input"},
    {"_replication_pad", MirrorPad, MirrorPadBackward, kPlain, false, true, false, "saves the input"},
    {"_pad_circular", CircularPad, CircularPadBackward, kPlain, false, true, false,
     "saves nothing; backward through CopySlices"},
};

}  // namespace

void RegisterPadding(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
