#include "src/ops/inplace.h"

#include <algorithm>
#include <utility>

namespace memcrest {
namespace {

constexpr absl::string_view kWholeViews[] = {"view", "transpose", "permute", "movedim",
                                             "t",    "unsqueeze", "squeeze", "alias"};

// linear with a bias views the result of addmm; without one its view is not tracked (_unsafe_view).
bool IsFusedLinear(const TapeNode& node) {
  return absl::string_view(node.op->name) == "linear" && node.in.size() > 2 && node.in[2] && node.out[0] &&
         node.out[0]->sizes.size() > 2;
}

}  // namespace

bool WroteIntoView(const GradCall& grad) {
  if (!grad.attrs().Bool(Key::kInplace) || !grad.Need(0)) return false;
  const TapeNode& source = *grad.node.next[0].node;
  if (source.op == nullptr) return false;
  const absl::string_view name = source.op->name;
  return std::find(std::begin(kWholeViews), std::end(kWholeViews), name) != std::end(kWholeViews) ||
         IsFusedLinear(source);
}

void CopySlices(Eager& rt, GradCall& grad, BackwardFn formula) {
  const Meta& view = grad.In(0);
  const Value spread = rt.Zeros({view.elements}, grad.Grad().dtype());
  grad.Take();
  Value base = rt.EmptyStrided(view.sizes, LikeStrides(view), spread.dtype());
  absl::InlinedVector<Value, 1> slice{rt.Empty(view.sizes, spread.dtype())};
  GradCall inner(grad.node, slice);
  inner.unpacked = grad.unpacked;
  formula(rt, inner);
  slice.clear();
  for (size_t i = 1; i < inner.in_grads.size(); ++i) grad.Set(i, std::move(inner.in_grads[i]));
  inner.in_grads[0].reset();  // copied into the base's gradient
  grad.Set(0, std::move(base));
}

}  // namespace memcrest
