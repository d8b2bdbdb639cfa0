// Adam and AdamW (torch/optim/adam.py). State: exp_avg, exp_avg_sq (+ max_exp_avg_sq with amsgrad), like the parameter; `step`
// lives on the host, on the device (512 bytes) when fused or capturable.
// foreach: with L2 decay or maximize a list of new gradients, dropped before the list of square roots.
// for-loop: `denom = (v.sqrt() / c).add_(eps)` replaces the previous parameter's denom after both are made.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

void InitState(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (p->stepped) continue;
    p->stepped = true;
    if (s.impl == OptimizerImpl::kFused || s.options.capturable) p->state.push_back(s.StateOf({}, DType::kFloat32));
    p->state.push_back(s.State(*p));
    p->state.push_back(s.State(*p));
    if (s.options.amsgrad) p->state.push_back(s.State(*p));
  }
}

void Foreach(OptimizerStep s, bool l2) {
  {
    std::vector<Value> grads;
    if (s.options.maximize) grads = s.ListLikeParams("_foreach_neg");
    if (l2 && grads.empty()) grads = s.ListLikeParams("_foreach_add");
  }
  const std::vector<Value> root = s.ListLikeParams("_foreach_sqrt");
}

void ForLoop(OptimizerStep& s, bool l2) {
  Value grad, denom;
  for (const OptimizedParam* p : s.params) {
    if (s.options.maximize) grad = s.Like(*p, "neg");
    if (l2) grad = s.Like(*p, "add");
    const Value root = s.Like(*p, "sqrt");
    denom = s.Like(*p, "div");
  }
}

void Step(OptimizerStep& s, bool decoupled) {
  InitState(s);
  const bool l2 = !decoupled && s.options.weight_decay != 0;
  if (s.impl == OptimizerImpl::kFused) return;
  if (s.impl == OptimizerImpl::kForLoop) return ForLoop(s, l2);
  for (auto& group : s.ByDType()) Foreach(OptimizerStep{s.rt, s.impl, s.options, group}, l2);
}

void AdamStep(OptimizerStep& s) { Step(s, false); }
void AdamWStep(OptimizerStep& s) { Step(s, true); }

}  // namespace

void RegisterAdam(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.fused = true;
  e.state_doc = "2 P (exp_avg, exp_avg_sq), 3 P with amsgrad; fused: + 512 B a parameter";
  e.temporary_doc = "foreach 1 P (square roots), fused 0, for-loop 3 x the largest parameter";
  e.name = "adam";
  e.step = AdamStep;
  registry.Add(e);
  e.name = "adamw";
  e.defaults.weight_decay = 0.01;
  e.step = AdamWStep;
  registry.Add(e);
  e.name = "adamw-amsgrad";
  e.defaults.amsgrad = true;
  registry.Add(e);
}

}  // namespace memcrest
