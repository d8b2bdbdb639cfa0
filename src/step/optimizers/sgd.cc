// SGD (torch/optim/sgd.py). State: with momentum one buffer, a clone of the first gradient.
// foreach: weight decay or maximize makes a list of new gradients; nesterov a list unless decay already made one.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

void Foreach(OptimizerStep s) {
  std::vector<Value> grads;
  if (s.options.maximize) grads = s.ListLikeParams("_foreach_neg");
  if (s.options.weight_decay != 0 && grads.empty()) grads = s.ListLikeParams("_foreach_add");
  if (s.options.momentum == 0) return;
  for (OptimizedParam* p : s.params) {
    if (!p->stepped) p->state.push_back(s.State(*p));
    p->stepped = true;
  }
  if (s.options.nesterov && grads.empty()) grads = s.ListLikeParams("_foreach_add");
}

void ForLoop(OptimizerStep& s) {
  Value grad;
  for (OptimizedParam* p : s.params) {
    if (s.options.maximize) grad = s.Like(*p, "neg");
    if (s.options.weight_decay != 0) grad = s.Like(*p, "add");
    if (s.options.momentum == 0) continue;
    if (!p->stepped) p->state.push_back(s.State(*p));
    p->stepped = true;
    if (s.options.nesterov) grad = s.Like(*p, "add");
  }
}

void Fused(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (s.options.momentum != 0 && !p->stepped) p->state.push_back(s.State(*p));
    p->stepped = true;
  }
}

void Step(OptimizerStep& s) {
  if (s.impl == OptimizerImpl::kFused) return Fused(s);
  if (s.impl == OptimizerImpl::kForLoop) return ForLoop(s);
  for (auto& group : s.ByDType()) Foreach(OptimizerStep{s.rt, s.impl, s.options, group});
}

}  // namespace

void RegisterSgd(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.name = "sgd";
  e.fused = true;
  e.step = Step;
  e.state_doc = "0; 1 P with momentum";
  e.temporary_doc = "0; with weight decay or nesterov foreach 1 P, for-loop the largest parameters";
  registry.Add(e);
  e.name = "sgd-momentum";
  e.defaults.momentum = 0.9;
  e.state_doc = "1 P (momentum buffer)";
  registry.Add(e);
}

}  // namespace memcrest
