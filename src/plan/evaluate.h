// One checkpoint plan, simulated: the loop body of every plan search.
//
// Takes: an opened and bound job, regions by CallId (CheckpointedCalls) and a save policy.  Gives: peaks and seconds of the steady
// step. Uses the same step as Simulate; the network is neither read nor bound again.
#ifndef MEMCREST_PLAN_EVALUATE_H_
#define MEMCREST_PLAN_EVALUATE_H_

#include <string>
#include <vector>

#include "src/clock/clock.h"
#include "src/plan/prepared.h"

namespace memcrest {

struct PlanResult {
  Bytes live = 0;         // peak of what a dispatcher counts
  Bytes allocated = 0, reserved = 0;  // of the allocator; 0 from Quick
  StepSeconds seconds;
  std::string phase, op, module;      // where the peak stands; "" from Quick
};

// How the bytes that the allocator serves run through one step. Segments are forward nodes, backward nodes, the optimizer:
// 2 * nodes + 1. A recomputation belongs to the backward node that asked for it.
struct StepProfile {
  std::vector<Bytes> peak;  // within each segment
  std::vector<Bytes> end;   // when it ends
  std::vector<double> recompute_seconds;  // by NodeId
  StepSeconds seconds;
};

class PlanEvaluator {
 public:
  // All references must outlive it.
  PlanEvaluator(const NetworkFile& file, const BoundJob& bound, const Job& job) : file_(file), bound_(bound), job_(job) {}

  // Live tensors and seconds alone: two steps, no trace.
  PlanResult Quick(const std::vector<bool>& regions, const SavePolicy& policy = {}) const;
  // With the allocator, from the first step on, as Simulate does it.
  PlanResult Full(const std::vector<bool>& regions, const SavePolicy& policy = {}) const;
  StepProfile Profile(const std::vector<bool>& regions) const;

  const Network& network() const { return file_.network; }

 private:
  Job With(const SavePolicy& policy) const;

  const NetworkFile& file_;
  const BoundJob& bound_;
  const Job& job_;
};

}  // namespace memcrest

#endif  // MEMCREST_PLAN_EVALUATE_H_
