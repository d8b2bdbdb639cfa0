// Muon (torch/optim/_muon.py) for the matrices of a network's blocks, AdamW for all else, as its authors use it.
// State: one momentum buffer for a matrix, AdamW's two moments elsewhere. Muon always loops: per matrix the update, its bfloat16
// copy, and five Newton-Schulz iterations in which names keep the products of the iteration before.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

constexpr int kIterations = 5;  // DEFAULT_NS_STEPS of torch/optim/_muon.py

Value Product(OptimizerStep& s, int64_t rows, int64_t columns, const char* kernel) {
  s.rt.recorder().op = kernel;
  s.rt.UseCublas();
  return s.rt.Empty(Dims{rows, columns}, DType::kBFloat16);
}

// _zeropower_via_newtonschulz: works on the wide orientation of the matrix.
Value Orthogonalised(OptimizerStep& s, const Value& update) {
  const int64_t short_side = std::min(update.size(0), update.size(1)), long_side = std::max(update.size(0), update.size(1));
  s.rt.recorder().op = "_to_copy";
  Value ortho = s.rt.To(update, DType::kBFloat16);
  {
    s.rt.recorder().op = "linalg_vector_norm";
    Value norm = s.rt.Empty({}, DType::kBFloat16);
    norm = s.rt.Empty({}, DType::kBFloat16);  // .clamp(min=eps)
  }
  Value gram, gram_update;
  for (int i = 0; i < kIterations; ++i) {
    gram = Product(s, short_side, short_side, "mm");
    gram_update = Product(s, short_side, short_side, "addmm");
    ortho = Product(s, short_side, long_side, "addmm");
  }
  return ortho;
}

void StepMatrices(OptimizerStep& s, const std::vector<OptimizedParam*>& matrices) {
  Value update;
  for (OptimizedParam* p : matrices) {
    if (!p->stepped) p->state.push_back(s.State(*p));
    p->stepped = true;
    update = s.options.nesterov ? s.Like(*p, "lerp") : p->state[0];
    update = Orthogonalised(s, update);
  }
}

void Step(OptimizerStep& s) {
  std::vector<OptimizedParam*> matrices, rest;
  for (OptimizedParam* p : s.params) (p->in_block && p->leaf->value.rank() == 2 ? matrices : rest).push_back(p);
  StepMatrices(s, matrices);
  OptimizerStep others{s.rt, s.impl, s.options, rest};
  if (!rest.empty()) Optimizers().Find("adamw")->step(others);
}

}  // namespace

void RegisterMuon(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.name = "muon";
  e.fused = true;
  e.defaults.momentum = 0.95;
  e.defaults.nesterov = true;
  e.step = Step;
  e.state_doc = "1 P of the blocks' matrices (momentum), 2 P of the rest (AdamW)";
  e.temporary_doc = "about 1 x the largest matrix + four bfloat16 ones; AdamW's for the rest";
  registry.Add(e);
}

}  // namespace memcrest
