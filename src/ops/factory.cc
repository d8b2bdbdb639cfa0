// Tensors made from nothing or after another one's example, and the fallback for operators without an entry.
//
// Sizes: the bound ones, else Key::kSizes. Types: Key::kDtype, else the example's, else PyTorch's default for the
// function.
#include <algorithm>

#include "src/ops/kernels.h"

namespace memcrest {
namespace {

enum class Default : uint8_t { kFloat, kInt, kNumber };  // kNumber: the fill value's type

template <Default fallback>
DType TypeOf(const Eager& rt, const OpCall& call) {
  if (const DType given = call.attrs.Type(Key::kDtype); given != DType::kUndefined) return given;
  if (call.Has(0)) return call.in[0].dtype();
  if (fallback == Default::kInt) return DType::kInt64;
  const AttrValue* number = fallback == Default::kNumber ? call.attrs.Find(Key::kScalar) : nullptr;
  if (number != nullptr && std::holds_alternative<int64_t>(*number)) return DType::kInt64;
  if (number != nullptr && std::holds_alternative<bool>(*number)) return DType::kBool;
  return rt.default_float;
}

Dims SizesOf(const OpCall& call) {
  if (const Dims* bound = call.Hint(0); bound != nullptr) return *bound;
  if (const Dims* literal = call.attrs.Ints(Key::kSizes); literal != nullptr) return *literal;
  return call.Has(0) ? call.in[0].sizes() : Dims();
}

template <Default fallback>
void MakeForward(Eager& rt, OpCall& call) {
  call.Out(0) = rt.Empty(SizesOf(call), TypeOf<fallback>(rt, call));
}

void LikeForward(Eager& rt, OpCall& call) { call.Out(0) = rt.EmptyLike(call.in[0], call.attrs.Type(Key::kDtype)); }

void Add(OpRegistry& r, const char* name, ForwardFn forward, const char* doc, bool random = false) {
  OpEntry entry;
  entry.name = name;
  entry.forward = forward;
  entry.differentiable = false;
  entry.random = random;
  entry.doc = doc;
  r.Add(entry);
}

// ---- unknown

// Results have the sizes that the export states; without them, one element-wise result.
void UnknownForward(Eager& rt, OpCall& call) {
  DType dtype = call.attrs.Type(Key::kDtype);
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!call.Has(i) || !IsDifferentiable(call.in[i].dtype())) continue;
    call.Save(rt, i, call.in[i]);
    if (dtype == DType::kUndefined) dtype = call.in[i].dtype();
  }
  if (dtype == DType::kUndefined) dtype = call.Has(0) ? call.in[0].dtype() : rt.default_float;
  const size_t results = static_cast<size_t>(std::max<int64_t>(1, call.attrs.Int(Key::kCount, 1)));
  for (size_t i = 0; i < results; ++i) {
    const Dims* sizes = call.Hint(i);
    call.Out(i) = sizes != nullptr ? rt.Empty(*sizes, dtype) : rt.Pointwise(call.in, dtype);
    call.Save(rt, call.in.size() + i, call.Out(i));
  }
}

void UnknownBackward(Eager& rt, GradCall& grad) {
  for (size_t i = 0; i < grad.inputs(); ++i) {
    if (grad.Need(i)) grad.Set(i, rt.EmptyLike(grad.In(i)));
  }
}

}  // namespace

void RegisterFactory(OpRegistry& r) {
  for (const char* name :
       {"zeros", "ones", "empty", "eye", "linspace", "logspace", "new_zeros", "new_ones", "new_empty", "new_full"}) {
    Add(r, name, MakeForward<Default::kFloat>, "a fresh row-major tensor");
  }
  for (const char* name : {"rand", "randn", "normal"})
    Add(r, name, MakeForward<Default::kFloat>, "a fresh row-major tensor", true);
  for (const char* name : {"arange", "tril_indices", "triu_indices"})
    Add(r, name, MakeForward<Default::kInt>, "a fresh row-major tensor");
  for (const char* name : {"randint", "randperm"})
    Add(r, name, MakeForward<Default::kInt>, "a fresh row-major tensor", true);
  Add(r, "full", MakeForward<Default::kNumber>, "a fresh row-major tensor of the fill value's type");
  Add(r, "scalar_tensor", MakeForward<Default::kNumber>, "a fresh tensor without dimensions");
  for (const char* name : {"zeros_like", "ones_like", "empty_like", "full_like"})
    Add(r, name, LikeForward, "a fresh tensor in the example's layout");
  for (const char* name : {"rand_like", "randn_like", "randint_like"})
    Add(r, name, LikeForward, "a fresh tensor in the example's layout", true);
  OpEntry unknown;
  unknown.name = "unknown";
  unknown.forward = UnknownForward;
  unknown.backward = UnknownBackward;
  unknown.doc = "no entry: saves its floating inputs and its results";
  r.Add(unknown);
}

}  // namespace memcrest
