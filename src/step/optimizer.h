// Optimizers: the state they keep and what they allocate while they step.
//
// One file per optimizer in src/step/optimizers/, registered by the build's list. An optimizer's `step` mirrors the Python of
// torch.optim: a Value that is assigned again keeps its old tensor until the new one exists, as a Python name does; lists of
// foreach kernels are whole lists alive together. Sizes follow the parameters; states have the parameter's dtype unless said.
#ifndef MEMCREST_STEP_OPTIMIZER_H_
#define MEMCREST_STEP_OPTIMIZER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/eager/eager.h"
#include "src/job/job.h"

namespace memcrest {

struct OptimizerOptions {
  double momentum = 0, weight_decay = 0, eps = 1e-8;  // torch.optim
  bool nesterov = false, amsgrad = false, maximize = false, centered = false, capturable = false;
  bool first_moment = false;  // adafactor-transformers: beta1 is given
  int64_t rank = 128;  // of projected gradients
};

// One trainable parameter with the state the optimizer keeps for it.
struct OptimizedParam {
  Leaf* leaf = nullptr;
  absl::InlinedVector<Value, 4> state;
  bool stepped = false;   // its state exists
  bool in_block = false;  // a parameter of one of the network's repeated blocks
};

// One call of optimizer.step(): the parameters that have gradients, of one group, in order.
struct OptimizerStep {
  Eager& rt;
  OptimizerImpl impl;
  const OptimizerOptions& options;
  std::vector<OptimizedParam*> params;
  std::vector<Value>* shared = nullptr;  // state of no single parameter; null: each call has its own

  // A persistent state tensor like the parameter (or of its own size), tagged optimizer_state.
  Value State(const OptimizedParam& p, DType dtype = DType::kUndefined);
  Value StateOf(DimSpan sizes, DType dtype);
  // The list of results of one foreach kernel over all parameters.
  std::vector<Value> ListLikeParams(const char* kernel);
  // A result like one parameter.
  Value Like(const OptimizedParam& p, const char* kernel);
  // Parameters of one dtype at a time, in order of first appearance: foreach kernels run over such lists.
  std::vector<std::vector<OptimizedParam*>> ByDType() const;
};

struct OptimizerEntry {
  const char* name = "";
  bool foreach = true, fused = false, for_loop = true;
  OptimizerOptions defaults;
  // Before the first step: state that the constructor makes (may be null).
  void (*construct)(OptimizerStep& step) = nullptr;
  void (*step)(OptimizerStep& step) = nullptr;
  const char* state_doc = "";      // "2 P: exp_avg, exp_avg_sq"
  const char* temporary_doc = "";  // "foreach 1 P (square root of v), fused 0, for-loop 2 x largest"
};

class OptimizerRegistry {
 public:
  void Add(const OptimizerEntry& entry);
  const OptimizerEntry* Find(absl::string_view name) const;  // nullptr if unknown
  const std::vector<OptimizerEntry>& All() const { return entries_; }  // sorted by name

 private:
  std::vector<OptimizerEntry> entries_;
};

const OptimizerRegistry& Optimizers();

}  // namespace memcrest

#endif  // MEMCREST_STEP_OPTIMIZER_H_
