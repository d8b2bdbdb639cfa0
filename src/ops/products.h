// Matrix products as kernels: cuBLAS takes row- and column-major operands as they are, anything else is copied inside
// the kernel.
//
// Takes: values of rank 2 or 3 and sizes that fit.  Gives: fresh row-major results and the two gradients of a product.
// Guarantees: no autograd; the cuBLAS workspace of the current thread is accounted for.
// Source: aten/src/ATen/native/cuda/Blas.cpp (prepare_matrix_for_cublas), torch/csrc/autograd/FunctionsManual.cpp
// (mm_mat*_backward).
#ifndef MEMCREST_OPS_PRODUCTS_H_
#define MEMCREST_OPS_PRODUCTS_H_

#include "src/eager/eager.h"

namespace memcrest {

// Does linear run as one addmm (with bias: two dimensions, or contiguous), or as a product of folded rows?
inline bool FusedLinear(const Meta& x, bool has_bias) { return has_bias && (x.sizes.size() == 2 || IsContiguous(x)); }
// Can cuBLAS read the last two dimensions as a row- or column-major matrix?
bool CublasReadable(const Meta& meta);
// a @ b of two matrices, or of two equally long batches of matrices.
Value Product(Eager& rt, const Value& a, const Value& b);
// The last two dimensions exchanged, as a view.
Value Swapped(Eager& rt, const Value& v);
// Gradient of the left operand of a @ b: in that operand's own layout when it is column-major.
Value LeftGradient(Eager& rt, const Value& grad, const Value& b, const Meta& a);
// Gradient of the right operand of a @ b, laid out as above.
Value RightGradient(Eager& rt, const Value& grad, const Value& a, const Meta& b);
// v * factor: itself where the factor is 1 (maybe_multiply).
Value MaybeMultiplied(Eager& rt, Value v, double factor);

}  // namespace memcrest

#endif  // MEMCREST_OPS_PRODUCTS_H_
