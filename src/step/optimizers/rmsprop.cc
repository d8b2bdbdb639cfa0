// RMSprop (torch/optim/rmsprop.py). State: square_avg, + momentum_buffer, + grad_avg when centered.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

void InitState(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (p->stepped) continue;
    p->stepped = true;
    p->state.push_back(s.State(*p));
    if (s.options.momentum > 0) p->state.push_back(s.State(*p));
    if (s.options.centered) p->state.push_back(s.State(*p));
  }
}

void Foreach(OptimizerStep s) {
  std::vector<Value> grads;
  if (s.options.maximize) grads = s.ListLikeParams("_foreach_neg");
  if (s.options.weight_decay != 0 && grads.empty()) grads = s.ListLikeParams("_foreach_add");
  const std::vector<Value> avg = s.ListLikeParams(s.options.centered ? "_foreach_addcmul" : "_foreach_sqrt");
}

void ForLoop(OptimizerStep& s) {
  Value grad, avg;
  for (const OptimizedParam* p : s.params) {
    if (s.options.maximize) grad = s.Like(*p, "neg");
    if (s.options.weight_decay != 0) grad = s.Like(*p, "add");
    avg = s.Like(*p, s.options.centered ? "addcmul" : "sqrt");
  }
}

void Step(OptimizerStep& s) {
  InitState(s);
  if (s.impl == OptimizerImpl::kForLoop) return ForLoop(s);
  for (auto& group : s.ByDType()) Foreach(OptimizerStep{s.rt, s.impl, s.options, group});
}

}  // namespace

void RegisterRmsprop(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.name = "rmsprop";
  e.step = Step;
  e.state_doc = "1 P (square_avg), + 1 P with momentum, + 1 P centered";
  e.temporary_doc = "foreach 1 P, for-loop 2 x the largest parameter";
  registry.Add(e);
}

}  // namespace memcrest
