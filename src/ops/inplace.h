// In-place operators on views: what autograd adds to an operator's own formula.
//
// A result written into a view rebases the base's history (torch/csrc/autograd/functions/tensor.cpp, CopySlices): in
// backward the view's gradient is first spread over zeros of the base (AsStridedBackward), copied into a fresh
// base-sized gradient, and the formula sees a clone of the slice. Three more full tensors live at once. Takes: a
// formula.  Gives: the formula with that around it where the node wrote into a view that covers its base; partial views
// keep their own formula's zeros instead.
#ifndef MEMCREST_OPS_INPLACE_H_
#define MEMCREST_OPS_INPLACE_H_

#include "src/eager/eager.h"
#include "src/eager/op.h"

namespace memcrest {

// Was Key::kInplace applied to a view autograd tracks (of a reshape, a permutation, a fused linear's result)?
bool WroteIntoView(const GradCall& grad);
void CopySlices(Eager& rt, GradCall& grad, BackwardFn formula);

template <BackwardFn formula>
void InplaceAware(Eager& rt, GradCall& grad) {
  if (WroteIntoView(grad) && grad.HasGrad()) {
    CopySlices(rt, grad, formula);
  } else {
    formula(rt, grad);
  }
}

}  // namespace memcrest

#endif  // MEMCREST_OPS_INPLACE_H_
