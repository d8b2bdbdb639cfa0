// Adafactor (torch/optim/_adafactor.py). State: row and column vectors for matrices (the last two dimensions), a full second
// moment for vectors; no first moment. Temporaries: norms, the row and column means, the variance estimate (parameter-sized).
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

Dims RowSizes(const Value& v) {
  Dims sizes = v.sizes();
  sizes.back() = 1;
  return sizes;
}
Dims ColumnSizes(const Value& v) {
  Dims sizes = v.sizes();
  sizes[sizes.size() - 2] = 1;
  return sizes;
}
bool Factored(const OptimizedParam& p) { return p.leaf->value.rank() >= 2; }

void InitState(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (p->stepped) continue;
    p->stepped = true;
    const Value& v = p->leaf->value;
    if (Factored(*p)) {
      p->state.push_back(s.StateOf(RowSizes(v), v.dtype()));
      p->state.push_back(s.StateOf(ColumnSizes(v), v.dtype()));
    } else {
      p->state.push_back(s.State(*p));
    }
  }
}

void Scalar(OptimizerStep& s, const OptimizedParam& p) {
  s.rt.recorder().op = "linalg_vector_norm";
  s.rt.Empty({}, p.leaf->value.dtype());
}

void ForLoop(OptimizerStep& s) {
  Value row_mean, col_mean, update, grad_squared;
  for (const OptimizedParam* p : s.params) {
    const Value& v = p->leaf->value;
    Scalar(s, *p);
    if (Factored(*p)) {
      row_mean = s.rt.Empty(RowSizes(v), v.dtype());
      col_mean = s.rt.Empty(ColumnSizes(v), v.dtype());
      update = s.Like(*p, "mm");
    } else {
      grad_squared = s.Like(*p, "mul");
      update = s.Like(*p, "clone");
    }
    Scalar(s, *p);
  }
}

void Foreach(OptimizerStep s, bool factored) {
  for (const OptimizedParam* p : s.params) Scalar(s, *p);
  if (factored) {
    std::vector<Value> means;
    for (const OptimizedParam* p : s.params) means.push_back(s.rt.Empty(RowSizes(p->leaf->value), p->leaf->value.dtype()));
    for (const OptimizedParam* p : s.params) means.push_back(s.rt.Empty(ColumnSizes(p->leaf->value), p->leaf->value.dtype()));
    const std::vector<Value> estimates = s.ListLikeParams("mm");
    return;
  }
  { const std::vector<Value> squares = s.ListLikeParams("_foreach_mul"); }
  const std::vector<Value> estimates = s.ListLikeParams("clone");
}

void Step(OptimizerStep& s) {
  InitState(s);
  if (s.impl == OptimizerImpl::kForLoop) return ForLoop(s);
  for (auto& group : s.ByDType()) {
    for (const bool factored : {true, false}) {
      std::vector<OptimizedParam*> part;
      for (OptimizedParam* p : group) {
        if (Factored(*p) == factored) part.push_back(p);
      }
      if (!part.empty()) Foreach(OptimizerStep{s.rt, s.impl, s.options, part}, factored);
    }
  }
}

}  // namespace

void RegisterAdafactor(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.name = "adafactor";
  e.step = Step;
  e.state_doc = "rows + columns of each matrix; 1 P of vectors";
  e.temporary_doc = "foreach 1 P (variance estimates), for-loop 2 x the largest parameter";
  registry.Add(e);
}

}  // namespace memcrest
