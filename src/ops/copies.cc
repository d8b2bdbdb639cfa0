// Copies of a tensor: clone, cast, repeat, flip, roll, triangles. Only sizes are saved.
#include <algorithm>
#include <string>

#include "src/ops/views.h"

namespace memcrest {
namespace {

bool WantsChannelsLast(const Attrs& attrs) {
  return attrs.Text(Key::kMemoryFormat) == "channels_last" || attrs.Text(Key::kMemoryFormat) == "channels_last_3d";
}

// Strides of a copy in the memory format that the attributes ask for (absent: preserve_format).
Dims CopyStrides(const Attrs& attrs, const Meta& from) {
  if (attrs.Text(Key::kMemoryFormat) == "contiguous") return ContiguousStrides(from.sizes);
  const bool images = from.sizes.size() == 4 || from.sizes.size() == 5;
  return WantsChannelsLast(attrs) && images ? ChannelsLastStrides(from.sizes) : LikeStrides(from);
}

void Clone(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = rt.EmptyStrided(v.sizes(), CopyStrides(call.attrs, v.meta()), v.dtype());
}

void PassGradient(Eager&, GradCall& grad) { grad.Set(0, grad.Grad()); }

// Is it laid out so already? Dimensions of extent 1 have no say.
bool HasStrides(const Meta& meta, const Dims& strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (meta.sizes[i] != 1 && meta.strides[i] != strides[i]) return false;
  }
  return true;
}

void Contiguous(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const bool images = WantsChannelsLast(call.attrs) && (v.rank() == 4 || v.rank() == 5);
  const bool already = images ? HasStrides(v.meta(), ChannelsLastStrides(v.sizes())) : IsContiguous(v);
  const std::string format = images ? "channels_last" : "contiguous";
  call.Out(0) = already ? v : rt.Call("clone", {v}, Attrs{{Key::kMemoryFormat, format}});
}

// to: itself where type and layout agree already.
void To(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  const DType dtype = call.attrs.Type(Key::kDtype, v.dtype());
  const bool moved = call.attrs.Has(Key::kMemoryFormat) && !HasStrides(v.meta(), CopyStrides(call.attrs, v.meta()));
  if (dtype == v.dtype() && !moved) return void(call.Out(0) = v);
  Attrs attrs{{Key::kDtype, dtype}};
  if (moved) attrs.Set(Key::kMemoryFormat, std::string(call.attrs.Text(Key::kMemoryFormat)));
  call.Out(0) = rt.Call("_to_copy", {v}, std::move(attrs));
}

void ToCopy(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = rt.EmptyStrided(v.sizes(), CopyStrides(call.attrs, v.meta()), call.attrs.Type(Key::kDtype, v.dtype()));
}

void ToCopyBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.To(grad.Grad(), grad.In(0).dtype)); }

// copy_: input 0 is overwritten by input 1; what it held gets a gradient of zeros (CopyBackwards).
void Copy(Eager& rt, OpCall& call) { call.Out(0) = rt.Alias(call.in[0]); }

void CopyBackward(Eager& rt, GradCall& grad) {
  if (grad.Need(0)) grad.Set(0, rt.EmptyLike(grad.Grad()));
  if (grad.inputs() > 1 && grad.Need(1)) grad.Set(1, grad.Grad());
}

// ---- repeat

Dims RepeatedSizes(const OpCall& call) {
  const Dims& have = call.in[0].sizes();
  const Dims* repeats = call.attrs.Ints(Key::kSizes);
  if (repeats == nullptr || repeats->size() < have.size()) return have;
  Dims sizes = *repeats;
  const size_t lead = sizes.size() - have.size();
  for (size_t i = lead; i < sizes.size(); ++i) sizes[i] *= have[i - lead];
  return sizes;
}

void Repeat(Eager& rt, OpCall& call) {
  call.Out(0) = rt.Empty(SizesOr(call, 0, RepeatedSizes(call)), call.in[0].dtype());
}

// New leading dimensions are summed one by one; the rest is split into (repeat, size) and summed at once
// (repeat_backward).
void RepeatBackward(Eager& rt, GradCall& grad) {
  const Dims& have = grad.In(0).sizes;
  Value g = grad.Grad();
  while (g.sizes().size() > have.size()) g = rt.Reduce(g, Dims{0}, false);
  Dims split, axes;
  for (size_t i = 0; i < have.size() && g.sizes().size() == have.size(); ++i) {
    const int64_t times = have[i] > 0 ? g.sizes()[i] / have[i] : 1;
    if (times != 1) {
      axes.push_back(static_cast<int64_t>(split.size()));
      split.push_back(times);
    }
    split.push_back(have[i]);
  }
  if (!axes.empty()) g = rt.Reduce(Fitted(rt, g, split), axes, false);
  grad.Set(0, std::move(g));
}

// ---- same size, other order

void LikeInput(Eager& rt, OpCall& call) { call.Out(0) = rt.EmptyLike(call.in[0]); }
void LikeGradient(Eager& rt, GradCall& grad) { grad.Set(0, rt.EmptyLike(grad.Grad())); }

// roll moves one dimension at a time, each from a row-major copy into a fresh result; all but the last are the
// kernel's own (roll_cuda, roll_common).
Value Rolled(Eager& rt, const Value& v, const Attrs& attrs) {
  const Dims* dims = attrs.Ints(Key::kPerm);
  HiddenBlock before = rt.Hidden(IsContiguous(v) ? 0 : v.bytes());
  for (size_t i = 1; i < (dims != nullptr ? dims->size() : 1); ++i) before = rt.Hidden(v.bytes());
  return rt.Empty(v.sizes(), v.dtype());
}

void Roll(Eager& rt, OpCall& call) { call.Out(0) = Rolled(rt, call.in[0], call.attrs); }
void RollBackward(Eager& rt, GradCall& grad) { grad.Set(0, Rolled(rt, grad.Grad(), grad.attrs())); }

void Triangle(Eager& rt, OpCall& call) {
  const Value& v = call.in[0];
  call.Out(0) = call.attrs.Bool(Key::kInplace) ? rt.Alias(v) : rt.Empty(v.sizes(), v.dtype());
}
void TriangleBackward(Eager& rt, GradCall& grad) { grad.Set(0, rt.Empty(grad.Grad().sizes(), grad.Grad().dtype())); }

// ---- repeat_interleave

// A number of repeats: expand and clone, merged back. A tensor of repeats: the index it stands for, then index_select.
void RepeatInterleave(Eager& rt, OpCall& call) {
  Value v = call.in[0];
  if (!call.attrs.Has(Key::kAxis) || v.rank() == 0) v = rt.Call("reshape", {v}, Attrs{{Key::kSizes, Dims{-1}}});
  const size_t axis = AxisOf(call.attrs, v.rank());
  const int64_t extent = std::max<int64_t>(v.sizes()[axis], 1);
  const Dims* hint = call.Hint(0);
  const int64_t total =
      hint != nullptr && axis < hint->size() ? (*hint)[axis] : extent * call.attrs.Int(Key::kCount, 1);
  if (call.Has(1)) {
    const HiddenBlock sums = rt.Hidden(call.in[1].elements() * 8);  // cumsum of the repeats
    const Value index = rt.Empty(Dims{total}, call.in[1].dtype());
    return void(call.Out(0) =
                    rt.Call("index_select", {v, index}, Attrs{{Key::kAxis, static_cast<int64_t>(axis)}}, hint));
  }
  const int64_t next = static_cast<int64_t>(axis) + 1;
  Dims wide = v.sizes();
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(next), total / extent);
  v = rt.Call("unsqueeze", {v}, Attrs{{Key::kAxis, next}});
  v = rt.Call("expand", {v}, {}, &wide);
  v = rt.Call("clone", {v}, Attrs{{Key::kMemoryFormat, std::string("contiguous")}});
  const Dims merged = Resized(Without(wide, static_cast<size_t>(next)), axis, total / extent * extent);
  call.Out(0) = rt.Call("view", {v}, {}, &merged);
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"clone", Clone, PassGradient, kPlain, false, true, false, "saves nothing"},
    {"contiguous", Contiguous, nullptr, kPlain, true, true, false, "itself or clone"},
    {"to", To, nullptr, kPlain, true, true, false, "itself or _to_copy"},
    {"_to_copy", ToCopy, ToCopyBackward, kPlain, false, true, false, "saves nothing; backward casts back"},
    {"copy", Copy, CopyBackward, kPlain, false, true, false, "saves nothing"},
    {"repeat", Repeat, RepeatBackward, kPlain, false, true, false, "saves sizes; backward sums"},
    {"flip", LikeInput, LikeGradient, kPlain, false, true, false, "saves nothing"},
    {"roll", Roll, RollBackward, kPlain, false, true, false, "saves nothing"},
    {"tril", Triangle, TriangleBackward, kPlain, false, true, false, "saves nothing"},
    {"triu", Triangle, TriangleBackward, kPlain, false, true, false, "saves nothing"},
    {"repeat_interleave", RepeatInterleave, nullptr, kPlain, true, true, false, "expand and clone, or index_select"},
};

}  // namespace

void RegisterCopies(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
