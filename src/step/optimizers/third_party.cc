// Optimizers of well-known packages beside torch.optim; per parameter unless said otherwise. A Value that is assigned
// again holds its old tensor until the new one exists, as the Python name does.
//
//   lion              lion-pytorch: update = exp_avg.clone().mul_(b1).add(grad).sign_()
//   lamb              timm/optim/lamb.py: update = exp_avg / denom, plus decay; norms of a few bytes
//   adamw-schedulefree, sgd-schedulefree   schedulefree, foreach: z (and exp_avg_sq); sqrt of v is a list
//   adamw-bf16-kahan  optimi-style AdamW on bfloat16 weights: two moments and a compensation buffer
//   adamw-master      float32 master weights beside low-precision parameters (apex O2): gradients are copied to float32
//   galore-adamw, apollo   matrices keep moments of a rank-r projection: optimizer_options rank (128)
#include <algorithm>

#include "src/step/optimizer.h"

namespace memcrest {
namespace {

bool First(OptimizedParam& p) {
  if (p.stepped) return false;
  return p.stepped = true;
}

void Lion(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (First(*p)) p->state.push_back(s.State(*p));
    const Value clone = s.Like(*p, "clone");
    const Value update = s.Like(*p, "add");
  }
}

void Lamb(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (First(*p)) p->state = {s.State(*p), s.State(*p)};
    Value denominator = s.Like(*p, "sqrt");
    denominator = s.Like(*p, "div");
    const Value update = s.Like(*p, "div");
  }
}

void ScheduleFreeAdamW(OptimizerStep& s) {
  for (auto& group : s.ByDType()) {
    OptimizerStep one = s;
    one.params = group;
    for (OptimizedParam* p : one.params) {
      if (First(*p)) p->state = {one.State(*p), one.State(*p)};
    }
    const std::vector<Value> root = one.ListLikeParams("_foreach_div");
  }
}

void ScheduleFreeSgd(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    if (First(*p)) p->state.push_back(s.State(*p));
  }
}

void Kahan(OptimizerStep& s) {
  for (auto& group : s.ByDType()) {
    OptimizerStep one = s;
    one.params = group;
    for (OptimizedParam* p : one.params) {
      if (First(*p)) p->state = {one.State(*p), one.State(*p), one.State(*p)};
    }
    const std::vector<Value> root = one.ListLikeParams("_foreach_sqrt");
  }
}

// Master weights, their gradients for the time of the step, and AdamW on them; the result is copied back in place.
void Master(OptimizerStep& s) {
  s.rt.recorder().op = "_foreach_copy_";
  std::vector<Value> gradients, root;
  for (OptimizedParam* p : s.params) {
    const bool low = IsLowPrecision(p->leaf->value.dtype());
    if (First(*p)) {
      if (low) p->state.push_back(s.State(*p, DType::kFloat32));
      p->state.push_back(s.State(*p, DType::kFloat32));
      p->state.push_back(s.State(*p, DType::kFloat32));
    }
    if (low) gradients.push_back(s.rt.EmptyLike(p->leaf->value, DType::kFloat32));
  }
  s.rt.recorder().op = "_foreach_sqrt";
  for (const OptimizedParam* p : s.params) root.push_back(s.rt.EmptyLike(p->leaf->value, DType::kFloat32));
}

// Matrices with both sides above the rank are projected on their smaller side.
bool Projects(const OptimizerStep& s, const OptimizedParam& p) {
  const Dims& sizes = p.leaf->value.sizes();
  return sizes.size() == 2 && std::min(sizes[0], sizes[1]) > s.options.rank;
}

Dims ProjectedSizes(const OptimizerStep& s, const OptimizedParam& p) {
  const Dims& sizes = p.leaf->value.sizes();
  return sizes[0] >= sizes[1] ? Dims{sizes[0], s.options.rank} : Dims{s.options.rank, sizes[1]};
}

// `stored`: GaLore keeps its projection, APOLLO makes a random one from a seed.
template <bool stored>
void Projected(OptimizerStep& s) {
  for (OptimizedParam* p : s.params) {
    const bool projects = Projects(s, *p);
    const DType type = p->leaf->value.dtype();
    if (First(*p)) {
      const Dims sizes = projects ? ProjectedSizes(s, *p) : p->leaf->value.sizes();
      if (projects && stored) {
        const int64_t side = std::min(p->leaf->value.size(0), p->leaf->value.size(1));
        p->state.push_back(s.StateOf(Dims{side, s.options.rank}, type));
      }
      p->state.push_back(s.StateOf(sizes, type));
      p->state.push_back(s.StateOf(sizes, type));
    }
    if (!projects) {
      const Value root = s.Like(*p, "sqrt");
      const Value update = s.Like(*p, "div");
      continue;
    }
    const Dims sizes = ProjectedSizes(s, *p);
    const Value gradient = s.rt.Empty(sizes, type), root = s.rt.Empty(sizes, type), update = s.rt.Empty(sizes, type);
    const Value whole = s.Like(*p, stored ? "matmul" : "mul");
  }
}

void Add(OptimizerRegistry& r, const char* name, void (*step)(OptimizerStep&), const char* state, const char* temporary) {
  OptimizerEntry e;
  e.name = name;
  e.step = step;
  e.state_doc = state;
  e.temporary_doc = temporary;
  r.Add(e);
}

}  // namespace

void RegisterThirdParty(OptimizerRegistry& r) {
  Add(r, "lion", Lion, "1 P: exp_avg", "2 x the parameter at hand");
  Add(r, "lamb", Lamb, "2 P: exp_avg, exp_avg_sq", "2-3 x the parameter at hand");
  Add(r, "adamw-schedulefree", ScheduleFreeAdamW, "2 P: z, exp_avg_sq", "1 P (square root of v)");
  Add(r, "sgd-schedulefree", ScheduleFreeSgd, "1 P: z", "0");
  Add(r, "adamw-bf16-kahan", Kahan, "3 P: exp_avg, exp_avg_sq, compensation", "1 P (square root of v)");
  Add(r, "adamw-master", Master, "12 bytes an element: float32 master, exp_avg, exp_avg_sq",
      "8 bytes an element: float32 gradients, square root of v");
  Add(r, "galore-adamw", Projected<true>, "projection, two projected moments; 2 P where the rank is not smaller",
      "the parameter at hand");
  Add(r, "apollo", Projected<false>, "two projected moments; 2 P where the rank is not smaller", "the parameter at hand");
}

}  // namespace memcrest
