// Adagrad and Adadelta (torch/optim/adagrad.py, adadelta.py). Adagrad's accumulator is made by the constructor.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

std::vector<Value> DecayedGrads(OptimizerStep& s) {
  std::vector<Value> grads;
  if (s.options.maximize) grads = s.ListLikeParams("_foreach_neg");
  if (s.options.weight_decay != 0 && grads.empty()) grads = s.ListLikeParams("_foreach_add");
  return grads;
}

void AdagradConstruct(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (s.impl == OptimizerImpl::kFused) p->state.push_back(s.StateOf({}, DType::kFloat32));
    p->state.push_back(s.State(*p));
    p->stepped = true;
  }
}

void AdagradForeach(OptimizerStep s) {
  const std::vector<Value> grads = DecayedGrads(s);
  const std::vector<Value> std_ = s.ListLikeParams("_foreach_sqrt");
  std::vector<Value> numerator;
  if (grads.empty()) numerator = s.ListLikeParams("_foreach_mul");
}

void AdagradStep(OptimizerStep& s) {
  if (s.impl == OptimizerImpl::kFused) return;
  if (s.impl == OptimizerImpl::kForLoop) {
    Value grad, std_;
    for (const OptimizedParam* p : s.params) {
      if (s.options.weight_decay != 0) grad = s.Like(*p, "add");
      std_ = s.Like(*p, "sqrt");
    }
    return;
  }
  for (auto& group : s.ByDType()) AdagradForeach(OptimizerStep{s.rt, s.impl, s.options, group});
}

void AdadeltaForeach(OptimizerStep s) {
  const std::vector<Value> grads = DecayedGrads(s);
  const std::vector<Value> std_ = s.ListLikeParams("_foreach_add");
  const std::vector<Value> deltas = s.ListLikeParams("_foreach_add");
}

void AdadeltaStep(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (!p->stepped) p->state.assign({s.State(*p), s.State(*p)});
    p->stepped = true;
  }
  if (s.impl == OptimizerImpl::kForLoop) {
    Value grad, std_, delta;
    for (const OptimizedParam* p : s.params) {
      if (s.options.weight_decay != 0) grad = s.Like(*p, "add");
      std_ = s.Like(*p, "add");
      delta = s.Like(*p, "add");
    }
    return;
  }
  for (auto& group : s.ByDType()) AdadeltaForeach(OptimizerStep{s.rt, s.impl, s.options, group});
}

}  // namespace

void RegisterAdagrad(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.name = "adagrad";
  e.fused = true;
  e.construct = AdagradConstruct;
  e.step = AdagradStep;
  e.state_doc = "1 P (sum), made by the constructor";
  e.temporary_doc = "foreach 2 P, fused 0, for-loop 2 x the largest parameter";
  registry.Add(e);
  e = OptimizerEntry();
  e.name = "adadelta";
  e.step = AdadeltaStep;
  e.state_doc = "2 P (square_avg, acc_delta)";
  e.temporary_doc = "foreach 2 P, for-loop 3 x the largest parameter";
  registry.Add(e);
}

}  // namespace memcrest
