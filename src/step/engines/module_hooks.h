// What FSDP 1 and 2 and DeepSpeed's stage 3 share: units of modules with hooks before and after forward and backward.
//
// Pre-backward: a tensor hook on what a unit returned, so it runs before the tape node that made it. Post-backward: an autograd
// function between a unit's inputs and the unit, whose backward runs when the gradients of all of them are there.
#ifndef MEMCREST_STEP_ENGINES_MODULE_HOOKS_H_
#define MEMCREST_STEP_ENGINES_MODULE_HOOKS_H_

#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/shard/units.h"
#include "src/step/engine.h"
#include "src/step/engines/call_edges.h"

namespace memcrest {

class ModuleHooks : public ParallelEngine {
 public:
  using ParallelEngine::ParallelEngine;
  std::vector<bool> WatchedCalls() const override;
  void BeforeNode(TapeNode& node) override;

 protected:
  // Units of the job's wrap patterns; the last is the root.
  void MakeHooks(const std::vector<Unit>& units);
  size_t root() const { return units_ - 1; }
  size_t UnitOf(CallId call) const { return static_cast<size_t>(unit_of_[static_cast<size_t>(call)]); }
  const CallEdges& Edges(CallId call) const { return edges_.at(call); }

  // Replaces the activations that enter `call` until RestoreInputs: floating ones are cast to `cast` (if defined), those that
  // need a gradient pass through the post-backward function of the unit. True if any of them needs a gradient.
  bool PassInputs(CallId call, ValueTable& table, DType cast, bool hook);
  void RestoreInputs(CallId call, ValueTable& table);
  // Runs PreBackward(unit) before the gradient of `out` is used.
  void HookOutput(size_t unit, const Value& out);
  void ClearHooks() { hooks_.clear(); }

  virtual void PreBackward(size_t unit) = 0;
  void FunctionBackward(int64_t tag) override { PostBackward(static_cast<size_t>(tag)); }
  virtual void PostBackward(size_t unit) = 0;

 private:
  struct Kept {
    CallId call;
    TensorId tensor;
    Value value;
  };
  size_t units_ = 0;
  std::deque<Attrs> tags_;        // of the post-backward functions, by unit; the tape points at them
  std::vector<int32_t> unit_of_;  // by CallId; kNone: not a unit's
  absl::flat_hash_map<CallId, CallEdges> edges_;
  absl::flat_hash_map<const TapeNode*, std::vector<size_t>> hooks_;
  std::vector<Kept> kept_;
};

// The units that a job's `wrap` chooses in a network; a problem if a pattern matches nothing.
absl::StatusOr<std::vector<Unit>> UnitsOf(const Network& network, const Parallel& parallel);
absl::Status CheckUnits(const Network& network, const Job& job);

}  // namespace memcrest

#endif  // MEMCREST_STEP_ENGINES_MODULE_HOOKS_H_
