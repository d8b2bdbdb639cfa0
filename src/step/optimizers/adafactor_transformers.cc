// transformers' Adafactor (transformers/optimization.py). State, in float32: row and column means of squares for matrices, full
// second moments for vectors, the parameter's root mean square; exp_avg with beta1. Low-precision gradients and parameters are cast.
// Names outlive their loop pass: grad, p_data_fp32 and update of one parameter die when the next one's are assigned.
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

constexpr DType kState = DType::kFloat32;

Dims Rows(const Value& v) { return Dims(v.sizes().begin(), v.sizes().end() - 1); }
Dims Columns(const Value& v) {
  Dims sizes = v.sizes();
  sizes.erase(sizes.end() - 2);
  return sizes;
}
bool Factored(const OptimizedParam& p) { return p.leaf->value.rank() >= 2; }

Value Full(OptimizerStep& s, const OptimizedParam& p, const char* kernel) {
  s.rt.recorder().op = kernel;
  return s.rt.EmptyLike(p.leaf->value, kState);
}

Value Sized(OptimizerStep& s, DimSpan sizes, const char* kernel) {
  s.rt.recorder().op = kernel;
  return s.rt.Empty(sizes, kState);
}

// tensor.norm(2) / numel ** 0.5
Value RootMeanSquare(OptimizerStep& s) {
  const Value norm = Sized(s, {}, "linalg_vector_norm");
  return Sized(s, {}, "div");
}

void InitState(OptimizerStep& s, OptimizedParam& p) {
  if (p.stepped) return;
  p.stepped = true;
  if (s.options.first_moment) p.state.push_back(s.State(p, kState));
  if (Factored(p)) {
    p.state.push_back(s.StateOf(Rows(p.leaf->value), kState));
    p.state.push_back(s.StateOf(Columns(p.leaf->value), kState));
  } else {
    p.state.push_back(s.State(p, kState));
  }
  p.state.push_back(s.StateOf({}, kState));  // RMS
}

// update = (grad**2) + eps, whose means go into the state; then the estimate, made while the name still holds it.
Value Update(OptimizerStep& s, const OptimizedParam& p, Value& update) {
  const Value& v = p.leaf->value;
  {
    const Value square = Full(s, p, "pow");
    update = Full(s, p, "add");
  }
  if (!Factored(p)) return Full(s, p, "rsqrt");
  Sized(s, Rows(v), "mean");
  Sized(s, Columns(v), "mean");
  Value row, column;
  {
    Dims one = Rows(v);
    one.back() = 1;
    const Value mean = Sized(s, one, "mean");
    row = Sized(s, Rows(v), "div");
  }
  column = Sized(s, Columns(v), "rsqrt");
  return Full(s, p, "mul");
}

void Step(OptimizerStep& s) {
  Value grad, wide, update;
  for (OptimizedParam* p : s.params) {
    const bool low = IsLowPrecision(p->leaf->value.dtype());
    if (low) grad = Full(s, *p, "_to_copy");
    InitState(s, *p);
    if (low) wide = Full(s, *p, "_to_copy");
    RootMeanSquare(s);
    Sized(s, {}, "gt");
    update = Update(s, *p, update);
    {
      const Value rms = RootMeanSquare(s);
      Sized(s, {}, "div");
    }
    if (s.options.first_moment) update = p->state[0];
    Full(s, *p, "neg");
  }
}

}  // namespace

void RegisterAdafactorTransformers(OptimizerRegistry& registry) {
  OptimizerEntry e;
  e.name = "adafactor-transformers";
  e.foreach = false;
  e.step = Step;
  e.state_doc = "rows + columns of each matrix, 1 P of vectors, 512 B a parameter; + 1 P with beta1";
  e.temporary_doc = "2-3 x the largest parameter in float32 (+ 2 x in bf16 and fp16 jobs)";
  registry.Add(e);
}

}  // namespace memcrest
