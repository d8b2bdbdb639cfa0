// linear: x @ w.t() + b as PyTorch runs it (aten/src/ATen/native/Linear.cpp).
//
// Fused (2-D or contiguous input, with bias): one addmm, saves the flattened input and the weight. Otherwise mm on the
// input folded to two dimensions, whose copy (where folding needs one) is what is saved, then the bias is added in
// place.
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/products.h"

namespace memcrest {
namespace {

Dims Folded(const Meta& x) {
  const int64_t width = x.sizes.back();
  return {width > 0 ? x.elements / width : NumElements(DimSpan(x.sizes.data(), x.sizes.size() - 1)), width};
}

MetaRef SwappedMeta(const Meta& w) {
  return MakeMeta(Dims{w.sizes[1], w.sizes[0]}, Dims{w.strides[1], w.strides[0]}, w.dtype);
}

void LinearForward(Eager& rt, OpCall& call) {
  const Value &x = call.in[0], &w = call.in[1];
  const bool bias = call.Has(2), fused = FusedLinear(x.meta(), bias);
  const Value folded = x.rank() == 2 ? x : rt.Reshape(x, Folded(x.meta()));
  if (call.Need(1)) call.Save(rt, 0, folded);
  if (call.Need(0)) call.Save(rt, 1, w);
  Value product = Product(rt, folded, Swapped(rt, w));
  Dims sizes = x.sizes();
  sizes.back() = w.size(0);
  call.Out(0) = x.rank() == 2 ? std::move(product) : rt.View(product, sizes, ContiguousStrides(sizes));
  // Added in place; out of place while a dispatcher watches (isTensorSubclassLike in Linear.cpp).
  if (bias && !fused && !rt.stopped()) {
    rt.recorder().Alloc(call.Out(0).bytes(), rt.recorder().CategoryNow(), Seen::kDispatcherOnly);
  }
}

void LinearBackward(Eager& rt, GradCall& grad) {
  const Meta& x = grad.In(0);
  const bool fused = FusedLinear(x, grad.inputs() > 2 && static_cast<bool>(grad.node.in[2]));
  if (grad.Need(2) && !fused) grad.Set(2, rt.SumTo(grad.Grad(), grad.In(2).sizes));
  const Dims rows = {Folded(x)[0], grad.Out().sizes.back()};
  const Value g = rt.Reshape(grad.Take(), rows);
  const auto weight = [&] {
    if (grad.Need(1)) grad.Set(1, Swapped(rt, RightGradient(rt, g, grad.Saved(0), *SwappedMeta(grad.In(1)))));
  };
  // Formulas run in the alphabetical order of their arguments: addmm(mat1, mat2, self), mm(mat2, self).
  if (!fused) weight();
  if (grad.Need(0)) {
    const MetaRef flat = MakeMeta(Folded(x), x.sizes.size() == 2 ? x.strides : ContiguousStrides(Folded(x)), x.dtype);
    const Value product = LeftGradient(rt, g, Swapped(rt, grad.Saved(1)), *flat);
    grad.Set(0, x.sizes.size() == 2 ? product : rt.View(product, x.sizes, ContiguousStrides(x.sizes)));
  }
  if (fused) {
    weight();
    if (grad.Need(2)) grad.Set(2, g);
  }
}

// With a frozen weight an input that cannot be folded by a view is multiplied batch by batch (should_fold).
void Linear(Eager& rt, OpCall& call) {
  const Value &x = call.in[0], &w = call.in[1];
  const bool folds = x.rank() <= 2 || w.requires_grad() || ViewStrides(x.meta(), Folded(x.meta())).has_value();
  if (folds) {
    static const OpEntry& fold = Op("linear_folded");
    call.Out(0) = rt.Run(fold, call.in, call.attrs)[0];
    return;
  }
  call.Out(0) = rt.Call("matmul", {x, rt.Call("t", {w})});
  if (call.Has(2)) call.Out(0) = rt.Call("add", {call.Out(0), call.in[2]}, {{Key::kInplace, true}});
}

}  // namespace

void RegisterLinear(OpRegistry& registry) {
  registry.Add({.name = "linear",
                .forward = Linear,
                .autocast = Autocast::kLower,
                .composite = true,
                .doc = "flattened addmm, or matmul and an in-place bias add"});
  registry.Add(
      {.name = "linear_folded",
       .forward = LinearForward,
       .backward = LinearBackward,
       .autocast = Autocast::kLower,
       .doc = "saves the input folded to rows (if the weight trains) and the weight (if the input needs a gradient)"});
}

}  // namespace memcrest
