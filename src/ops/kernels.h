// Small dispatched kernels that derivative formulas are made of, in the shapes that their results have.
//
// Takes: values.  Gives: fresh values (one allocation each, unless said otherwise) without autograd.  Nest the calls as
// the formula nests: the intermediates are C++ temporaries and die together at the end of the full expression, as
// PyTorch's do.
#ifndef MEMCREST_OPS_KERNELS_H_
#define MEMCREST_OPS_KERNELS_H_

#include "src/eager/eager.h"
#include "src/eager/op.h"

namespace memcrest::kernel {

// An element-wise result of one, two or three operands, broadcast; dtype kUndefined: their promoted type.
Value Map(Eager& rt, const Value& a, DType dtype = DType::kUndefined);
Value Map(Eager& rt, const Value& a, const Value& b, DType dtype = DType::kUndefined);
Value Map(Eager& rt, const Value& a, const Value& b, const Value& c, DType dtype = DType::kUndefined);
// A bool result of the same layout.
inline Value Mask(Eager& rt, const Value& a) { return Map(rt, a, DType::kBool); }
inline Value Mask(Eager& rt, const Value& a, const Value& b) { return Map(rt, a, b, DType::kBool); }
// A zero-dimensional tensor, as scalar_tensor() makes for where() with a number.
inline Value Number(Eager& rt, DType dtype) { return rt.Empty({}, dtype); }

// PyTorch's result type of tensors and Key::kScalar: tensors with dimensions outrank those without, both outrank Python
// numbers of the same category; a Python float makes integers float32 (the default type), a Python int makes bool
// int64.
DType PromotedType(absl::Span<const Value> operands, const Attrs& attrs);
// The type a float function (exp, true division ...) gives for `dtype`.
inline DType FloatType(DType dtype) { return IsDifferentiable(dtype) ? dtype : DType::kFloat32; }

// Reduced dimensions: Key::kAxes, else Key::kAxis, else all; sorted, non-negative.
Dims ReducedAxes(const Attrs& attrs, int rank);
// A reduced value with its reduced dimensions put back as size 1 (a view, or itself where they were kept).
Value Unreduced(Eager& rt, const Value& reduced, const Dims& axes, bool kept, int rank);

// The same call under another name with attributes of its own: what composites hand on to.
Values HandOn(Eager& rt, absl::string_view op, const OpCall& call);

}  // namespace memcrest::kernel

#endif  // MEMCREST_OPS_KERNELS_H_
