// NAdam, RAdam, Adamax, ASGD (torch/optim/nadam.py, radam.py, adamax.py, asgd.py). State: two moments, or one average with three
// device scalars (ASGD). foreach: one list of parameter-sized results; for-loop: the previous parameter's result is kept by its name
// until the next one exists.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

void TwoMoments(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (!p->stepped) p->state.assign({s.State(*p), s.State(*p)});
    p->stepped = true;
  }
}

void OneAverage(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (p->stepped) continue;
    p->stepped = true;
    for (int scalar = 0; scalar < 3; ++scalar) p->state.push_back(s.StateOf({}, DType::kFloat32));  // step, eta, mu
    p->state.push_back(s.State(*p));
  }
}

void Foreach(OptimizerStep s, const char* kernel) {
  std::vector<Value> grads;
  if (s.options.maximize) grads = s.ListLikeParams("_foreach_neg");
  if (s.options.weight_decay != 0 && grads.empty()) grads = s.ListLikeParams("_foreach_add");
  const std::vector<Value> list = s.ListLikeParams(kernel);
}

// `chained`: a second result is made from the first before the name moves on (sqrt, then add).
void ForLoop(OptimizerStep& s, const char* kernel, bool chained) {
  Value grad, kept;
  for (const OptimizedParam* p : s.params) {
    if (s.options.weight_decay != 0) grad = s.Like(*p, "add");
    const Value first = chained ? s.Like(*p, kernel) : Value();
    kept = s.Like(*p, kernel);
  }
}

void Step(OptimizerStep& s, const char* kernel, bool chained) {
  if (s.impl == OptimizerImpl::kForLoop) return ForLoop(s, kernel, chained);
  for (auto& group : s.ByDType()) Foreach(OptimizerStep{s.rt, s.impl, s.options, group}, kernel);
}

void NAdamStep(OptimizerStep& s) {
  TwoMoments(s);
  Step(s, "_foreach_sqrt", true);
}

void AdamaxStep(OptimizerStep& s) {
  TwoMoments(s);
  Step(s, "_foreach_abs", false);
}

void AsgdStep(OptimizerStep& s) {
  OneAverage(s);
  Step(s, "_foreach_add", false);
}

}  // namespace

void RegisterAdamVariants(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.state_doc = "2 P (two moments)";
  e.temporary_doc = "foreach 1 P, for-loop 2-3 x the largest parameter";
  e.step = NAdamStep;
  e.name = "nadam";
  registry.Add(e);
  e.name = "radam";
  registry.Add(e);
  e.step = AdamaxStep;
  e.name = "adamax";
  e.temporary_doc = "foreach 1 P, for-loop 2 x the largest parameter";
  registry.Add(e);
  e.step = AsgdStep;
  e.name = "asgd";
  e.state_doc = "1 P (averaged parameters) + 3 x 512 B a parameter";
  registry.Add(e);
}

}  // namespace memcrest
