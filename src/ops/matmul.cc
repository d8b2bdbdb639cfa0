// Products of matrices, batches and vectors, and matmul, which folds or expands to them
// (aten/src/ATen/native/LinearAlgebra.cpp).
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/products.h"

namespace memcrest {
namespace {

// ---- mm(a, b), bmm(a, b): a is saved for b's gradient and the other way round

void ProductForward(Eager& rt, OpCall& call) {
  if (call.Need(1)) call.Save(rt, 0, call.in[0]);
  if (call.Need(0)) call.Save(rt, 1, call.in[1]);
  call.Out(0) = Product(rt, call.in[0], call.in[1]);
}

void ProductBackward(Eager& rt, GradCall& grad) {  // formulas: mat2, self
  if (grad.Need(1)) grad.Set(1, RightGradient(rt, grad.Grad(), grad.Saved(0), grad.In(1)));
  if (grad.Need(0)) grad.Set(0, LeftGradient(rt, grad.Grad(), grad.Saved(1), grad.In(0)));
}

// ---- addmm(self, a, b), baddbmm(self, a, b)

void AddProductForward(Eager& rt, OpCall& call) {
  if (call.Need(2)) call.Save(rt, 0, call.in[1]);
  if (call.Need(1)) call.Save(rt, 1, call.in[2]);
  call.Out(0) = Product(rt, call.in[1], call.in[2]);
}

void AddProductBackward(Eager& rt, GradCall& grad) {  // formulas: mat1, mat2, self
  const double alpha = grad.attrs().Float(Key::kAlpha, 1), beta = grad.attrs().Float(Key::kBeta, 1);
  if (grad.Need(1)) grad.Set(1, MaybeMultiplied(rt, LeftGradient(rt, grad.Grad(), grad.Saved(1), grad.In(1)), alpha));
  if (grad.Need(2)) grad.Set(2, MaybeMultiplied(rt, RightGradient(rt, grad.Grad(), grad.Saved(0), grad.In(2)), alpha));
  if (grad.Need(0)) grad.Set(0, MaybeMultiplied(rt, grad.Grad(), beta));
}

// ---- mv(matrix, vector), dot(a, b)

void MvForward(Eager& rt, OpCall& call) {
  if (call.Need(1)) call.Save(rt, 0, call.in[0]);
  if (call.Need(0)) call.Save(rt, 1, call.in[1]);
  const Dims rows = {call.in[0].size(0)};
  call.Out(0) = rt.Empty(rows, call.in[0].dtype());
  const HiddenBlock copy = rt.Hidden(CublasReadable(call.in[0].meta()) ? 0 : call.in[0].bytes());
  rt.UseCublas();
}

void MvBackward(Eager& rt, GradCall& grad) {
  if (grad.Need(0)) grad.Set(0, rt.Empty(grad.In(0).sizes, grad.In(0).dtype));  // grad.ger(vec)
  if (grad.Need(1)) grad.Set(1, rt.Empty(grad.In(1).sizes, grad.In(1).dtype));  // self.t().mv(grad)
}

void DotForward(Eager& rt, OpCall& call) {
  if (call.Need(1)) call.Save(rt, 0, call.in[0]);
  if (call.Need(0)) call.Save(rt, 1, call.in[1]);
  call.Out(0) = rt.Empty({}, call.in[0].dtype());
  rt.UseCublas();
}

void DotBackward(Eager& rt, GradCall& grad) {
  if (grad.Need(0)) grad.Set(0, rt.EmptyLike(grad.In(0)));
  if (grad.Need(1)) grad.Set(1, rt.EmptyLike(grad.In(1)));
}

void Outer(Eager& rt, OpCall& call) {
  const Dims column = {call.in[0].size(0), 1};
  call.Out(0) = rt.Call("mul", {rt.Call("view", {call.in[0]}, {{Key::kSizes, column}}, &column), call.in[1]});
}

// ---- matmul

Value Viewed(Eager& rt, const Value& v, const Dims& sizes) {
  return v.sizes() == sizes ? v : rt.Call("view", {v}, {{Key::kSizes, sizes}}, &sizes);
}
Value Reshaped(Eager& rt, const Value& v, const Dims& sizes) {
  return v.sizes() == sizes ? v : rt.Call("reshape", {v}, {{Key::kSizes, sizes}}, &sizes);
}
Value Expanded(Eager& rt, const Value& v, const Dims& sizes) {
  return v.sizes() == sizes ? v : rt.Call("expand", {v}, {{Key::kSizes, sizes}}, &sizes);
}
Value Unfolded(Eager& rt, const Value& v, const Dims& sizes) {
  return v.sizes() == sizes ? v : rt.Call("_unsafe_view", {v}, {{Key::kSizes, sizes}}, &sizes);
}
Value MatrixTransposed(Eager& rt, const Value& v) {
  Dims perm;
  for (int i = 0; i < v.rank(); ++i) perm.push_back(i);
  if (perm.size() > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return rt.Call("transpose", {v}, {{Key::kPerm, perm}});
}

// Do the leading dimensions of `v` lie one behind the other, so that v.view(-1, last) needs no copy?
bool LeadingMerge(const Value& v) {
  for (size_t i = 0; i + 2 < v.sizes().size(); ++i) {
    if (v.sizes()[i] != 1 && v.strides()[i] != v.strides()[i + 1] * v.sizes()[i + 1]) return false;
  }
  return true;
}

// One operand of rank 3 or more against a matrix or vector: is it cheaper to fold it into one matrix than to batch?
bool ShouldFold(Eager& rt, const Value& a, const Value& b) {
  const bool a_larger = a.rank() >= b.rank();
  const Value& large = a_larger ? a : b;
  const Value& small = a_larger ? b : a;
  if (large.rank() < 3 || small.rank() > 2) return false;
  if (small.requires_grad()) return true;  // avoids a batch of gradients of the small operand
  if (a.rank() == 2) return false;
  if (large.elements() == 0) return true;
  return LeadingMerge(a_larger ? a : Swapped(rt, b));
}

Value FoldedProduct(Eager& rt, const Value& a, const Value& b) {
  const bool swapped = b.rank() > a.rank();
  const Value large = swapped ? MatrixTransposed(rt, b) : a;
  const Value small = swapped && a.rank() == 2 ? rt.Call("t", {a}) : swapped ? a : b;
  Dims sizes(large.sizes().begin(), large.sizes().end() - 1);
  const Dims flat = {NumElements(sizes), large.size(-1)};
  const Value folded = Reshaped(rt, large, flat);
  if (small.rank() == 1) return Unfolded(rt, rt.Call("mv", {folded, small}), sizes);
  sizes.push_back(small.size(1));
  const Value result = Unfolded(rt, rt.Call("mm", {folded, small}), sizes);
  return swapped ? rt.Call("contiguous", {MatrixTransposed(rt, result)}) : result;
}

Dims Batch(const Value& v) {
  const int dims = std::max(v.rank() - 2, 0);
  return Dims(v.sizes().begin(), v.sizes().begin() + dims);
}

// An operand spread over the whole batch and flattened to three dimensions.
Value Batched(Eager& rt, const Value& v, const Dims& batch, int64_t rows, int64_t cols) {
  Dims spread = batch;
  spread.push_back(rows);
  spread.push_back(cols);
  return Reshaped(rt, Expanded(rt, v, spread), {NumElements(batch), rows, cols});
}

Value BatchedProduct(Eager& rt, const Value& a, const Value& b) {
  const Dims batch = Broadcast(Batch(a), Batch(b)).value_or(a.rank() >= b.rank() ? Batch(a) : Batch(b));
  const int64_t n = a.rank() > 1 ? a.size(-2) : 1, m = a.size(-1), p = b.rank() > 1 ? b.size(-1) : 1;
  const Value left = Batched(rt, a, batch, n, m);
  const Value column = b.rank() == 1 ? Viewed(rt, b, {m, 1}) : b;
  const Value right = Batched(rt, column, batch, m, p);
  Dims sizes = batch;
  if (a.rank() > 1) sizes.push_back(n);
  if (b.rank() > 1) sizes.push_back(p);
  return Unfolded(rt, rt.Call("bmm", {left, right}), sizes);
}

Value Matmul(Eager& rt, const Value& a, const Value& b) {
  if (a.rank() == 1 && b.rank() == 1) return rt.Call("dot", {a, b});
  if (a.rank() == 2 && b.rank() == 1) return rt.Call("mv", {a, b});
  if (a.rank() == 2 && b.rank() == 2) return rt.Call("mm", {a, b});
  if (a.rank() == 1 && b.rank() == 2) {
    return Viewed(rt, rt.Call("mm", {Viewed(rt, a, {1, a.size(0)}), b}), {b.size(1)});
  }
  if (ShouldFold(rt, a, b)) return FoldedProduct(rt, a, b);
  if (a.rank() == 3 && b.rank() == 3 && a.size(0) != b.size(0)) {
    if (a.size(0) == 1 && a.requires_grad()) return Matmul(rt, Viewed(rt, a, {a.size(1), a.size(2)}), b);
    if (b.size(0) == 1 && b.requires_grad()) return Matmul(rt, a, Viewed(rt, b, {b.size(1), b.size(2)}));
  }
  return BatchedProduct(rt, a, b);
}

void MatmulForward(Eager& rt, OpCall& call) { call.Out(0) = Matmul(rt, call.in[0], call.in[1]); }

}  // namespace

void RegisterMatmul(OpRegistry& registry) {
  const auto primitive = [&](const char* name, ForwardFn forward, BackwardFn backward, const char* doc) {
    registry.Add({.name = name, .forward = forward, .backward = backward, .autocast = Autocast::kLower, .doc = doc});
  };
  primitive("mm", ProductForward, ProductBackward, "saves each matrix for the other's gradient");
  primitive("bmm", ProductForward, ProductBackward, "saves each batch for the other's gradient");
  primitive("addmm", AddProductForward, AddProductBackward, "as mm; nothing of the added tensor");
  primitive("baddbmm", AddProductForward, AddProductBackward, "as bmm; nothing of the added tensor");
  primitive("mv", MvForward, MvBackward, "saves matrix and vector");
  primitive("dot", DotForward, DotBackward, "saves both vectors");
  registry.Add({.name = "outer", .forward = Outer, .composite = true, .doc = "a product of a column and a row"});
  registry.Add(
      {.name = "matmul",
       .forward = MatmulForward,
       .autocast = Autocast::kLower,
       .composite = true,
       .doc =
           "mm on a folded operand, or bmm on expanded and flattened operands (copies where not viewable are saved)"});
}

}  // namespace memcrest
