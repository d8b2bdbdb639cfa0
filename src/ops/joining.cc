// cat and stack: one result in the widest type; backward hands out views of the gradient (cat_tensors_backward,
// unbind).
#include "src/ops/joining.h"

#include <algorithm>

#include "src/ops/views.h"

namespace memcrest {
namespace {

bool AllChannelsLast(absl::Span<const Value> parts) {
  return !parts.empty() &&
         std::all_of(parts.begin(), parts.end(), [](const Value& v) { return v && IsChannelsLast(v); });
}

DType WidestType(absl::Span<const Value> parts) {
  DType dtype = DType::kUndefined;
  for (const Value& v : parts) {
    if (v) dtype = dtype == DType::kUndefined ? v.dtype() : Promote(dtype, v.dtype());
  }
  return dtype;
}

// One-dimensional empty tensors take no part (legacy rule of cat).
bool TakesPart(const Value& v) { return v && !(v.rank() == 1 && v.elements() == 0); }

Dims CatSizes(absl::Span<const Value> parts, int64_t dim) {
  Dims sizes;
  for (const Value& v : parts) {
    if (!TakesPart(v)) continue;
    const size_t axis = static_cast<size_t>(NormalAxis(dim, v.rank()));
    if (sizes.empty()) {
      sizes = v.sizes();
    } else if (axis < sizes.size()) {
      sizes[axis] += v.sizes()[axis];
    }
  }
  return sizes;
}

void Cat(Eager& rt, OpCall& call) {
  const Dims sizes = SizesOr(call, 0, CatSizes(call.in, call.attrs.Int(Key::kAxis)));
  call.Out(0) = JoinedLike(rt, call.in, sizes, WidestType(call.in));
}

void CatBackward(Eager& rt, GradCall& grad) {
  for (size_t i = 0; i < grad.inputs(); ++i) {
    if (grad.Need(i)) grad.Set(i, Cut(rt, grad.Grad(), grad.In(i).sizes));
  }
}

// Where the new dimension stands among those of the inputs.
size_t StackAxis(const Attrs& attrs, size_t input_rank) {
  return static_cast<size_t>(NormalAxis(attrs.Int(Key::kAxis), static_cast<int>(input_rank) + 1));
}

// stack is a cat along the following dimension, taken apart again: channels-last inputs give a channels-last-like
// result.
Dims StackStrides(absl::Span<const Value> parts, const Dims& sizes, size_t axis) {
  if (axis + 1 >= sizes.size() || !AllChannelsLast(parts)) return ContiguousStrides(sizes);
  Dims joined = Without(sizes, axis);
  joined[axis] = sizes[axis] * sizes[axis + 1];
  Dims strides = ChannelsLastStrides(joined);
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), strides[axis] * sizes[axis + 1]);
  return strides;
}

void Stack(Eager& rt, OpCall& call) {
  const auto first = std::find_if(call.in.begin(), call.in.end(), [](const Value& v) { return static_cast<bool>(v); });
  Dims sizes = first != call.in.end() ? first->sizes() : Dims();
  const size_t axis = StackAxis(call.attrs, sizes.size());
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<int64_t>(call.in.size()));
  const Dims* hint = call.Hint(0);
  if (hint != nullptr && hint->size() == sizes.size()) sizes = *hint;
  call.Out(0) = rt.EmptyStrided(sizes, StackStrides(call.in, sizes, axis), WidestType(call.in));
}

void StackBackward(Eager& rt, GradCall& grad) {
  for (size_t i = 0; i < grad.inputs(); ++i) {
    if (!grad.Need(i)) continue;
    const Dims& sizes = grad.In(i).sizes;
    const Dims strides = Without(grad.Grad().strides(), StackAxis(grad.attrs(), sizes.size()));
    grad.Set(i, rt.View(grad.Grad(), sizes, strides.size() == sizes.size() ? strides : ContiguousStrides(sizes)));
  }
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"cat", Cat, CatBackward, kPlain, false, true, false, "saves sizes; backward: views of the gradient"},
    {"stack", Stack, StackBackward, kPlain, false, true, false, "saves nothing; backward: views of the gradient"},
};

}  // namespace

Value JoinedLike(Eager& rt, absl::Span<const Value> parts, DimSpan sizes, DType dtype) {
  const bool channels_last = (sizes.size() == 4 || sizes.size() == 5) && AllChannelsLast(parts);
  return rt.EmptyStrided(sizes, channels_last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes), dtype);
}

void RegisterJoining(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
