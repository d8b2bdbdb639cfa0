// Python's use of a tensor's type: `dtype = y.dtype`, `z.to(dtype)`; and requires_grad_().
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

// A torch.dtype object: no storage, only a type.
void TypeOf(Eager& rt, OpCall& call) { call.Out(0) = rt.TypeOnly(call.in[0].dtype()); }

// z.to(dtype): itself where it has that type.
void ToTypeOf(Eager& rt, OpCall& call) {
  call.Out(0) = rt.Call("to", {call.in[0]}, Attrs{{Key::kDtype, call.in[1].dtype()}});
}

// In place: the same tensor, from here on a leaf of the graph.
void RequireGrad(Eager& rt, OpCall& call) {
  call.Out(0) = call.in[0];
  rt.RequireGrad(call.Out(0));
}

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"dtype_of", TypeOf, nullptr, kPlain, true, true, false, "a Python object, no tensor"},
    {"to_dtype_of", ToTypeOf, nullptr, kPlain, true, true, false, "itself or _to_copy"},
    {"requires_grad_", RequireGrad, nullptr, kPlain, true, true, false, "the tensor becomes a leaf of its own"},
};

}  // namespace

void RegisterDtypes(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
