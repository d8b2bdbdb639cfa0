// Rprop (torch/optim/rprop.py). State: prev, step_size. A sign is corrected through masks: one byte an element.
// foreach: the list of products (signs), kept while each gradient is masked, then the list of the gradients' signs.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

void InitState(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (!p->stepped) p->state.assign({s.State(*p), s.State(*p)});
    p->stepped = true;
  }
}

Value Mask(OptimizerStep& s, const OptimizedParam& p, const char* kernel) {
  s.rt.recorder().op = kernel;
  return s.rt.EmptyLike(p.leaf->value, DType::kBool);
}

// sign[sign.gt(0)] = etaplus, and so for lt and eq: one mask at a time.
void CorrectSign(OptimizerStep& s, const OptimizedParam& p) {
  for (const char* const kernel : {"gt", "lt", "eq"}) Mask(s, p, kernel);
}

void Foreach(OptimizerStep s) {
  {
    const std::vector<Value> signs = s.ListLikeParams("_foreach_mul");
    for (const OptimizedParam* p : s.params) CorrectSign(s, *p);
    for (const OptimizedParam* p : s.params) {
      const Value mask = Mask(s, *p, "eq"), zero = s.rt.Empty({}, p->leaf->value.dtype());
      s.Like(*p, "where");
    }
  }
  const std::vector<Value> signs = s.ListLikeParams("sign");
}

void ForLoop(OptimizerStep& s) {
  Value grad, sign;
  for (const OptimizedParam* p : s.params) {
    if (s.options.maximize) grad = s.Like(*p, "neg");
    {
      const Value product = s.Like(*p, "mul");
      sign = s.Like(*p, "sign");
    }
    CorrectSign(s, *p);
    grad = s.Like(*p, "clone");
    Mask(s, *p, "eq");
    s.Like(*p, "sign");
  }
}

void Step(OptimizerStep& s) {
  InitState(s);
  if (s.impl == OptimizerImpl::kForLoop) return ForLoop(s);
  for (auto& group : s.ByDType()) Foreach(OptimizerStep{s.rt, s.impl, s.options, group});
}

}  // namespace

void RegisterRprop(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.name = "rprop";
  e.step = Step;
  e.state_doc = "2 P (prev, step_size)";
  e.temporary_doc = "foreach 1 P + 1.25 x the largest parameter, for-loop 4 x the largest parameter";
  registry.Add(e);
}

}  // namespace memcrest
