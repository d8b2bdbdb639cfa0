// Which modules to checkpoint so that a job fits a budget, at the least recomputation.
//
// Takes: an opened network, a job (its own checkpoint settings are ignored), a budget of reserved bytes.  Gives: PlanReport. A
// plan is what it is simulated to be: its peak is the allocator's reserved peak in the same step that Simulate runs. Candidates
// are modules at any level of the tree, and save policies over all blocks. Deterministic up to the time limit, which returns the
// best plan found so far.
#ifndef MEMCREST_PLAN_CHECKPOINT_PLAN_H_
#define MEMCREST_PLAN_CHECKPOINT_PLAN_H_

#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/plan/evaluate.h"

namespace memcrest {

struct PlanOptions {
  Bytes budget = std::numeric_limits<Bytes>::max();  // reserved bytes
  double max_slowdown = std::numeric_limits<double>::infinity();  // 0.2: a step may take 20 % longer
  double seconds = 30;                               // time limit of the search
  int curve_points = 9;
};

struct Plan {
  std::vector<std::string> modules;  // paths, in network order; empty: no checkpointing
  SavePolicy policy;                 // what the regions keep
  PlanResult result;                 // simulated
  double slowdown = 0;               // step seconds over those without checkpointing, less one
  std::string name;                  // "none", "all blocks" ...; "" for a plan of the search's own
};

// A change of the job, other than checkpointing, with its simulated effect on top of the plan.
struct Relief {
  std::string flag;  // "--optimizer-impl fused"
  std::string what;
  Bytes reserved = 0;
  double step_seconds = 0;
};

struct PlanReport {
  Bytes budget = 0;
  Plan none;                   // without checkpointing
  Plan plan;                   // the answer: cheapest that fits; where none does, the floor
  bool fits = false;
  bool complete = true;        // false: the time limit ended the search
  Plan floor;                  // the least reserved bytes found
  std::string floor_reason;    // what stands at its peak
  std::vector<Plan> curve;     // peak against seconds, none dominated; cheapest first
  std::vector<Relief> remedies;  // where the floor is above the budget, or the peak is not of activations
  bool batch_norms = false;    // the plan recomputes batch norms: their statistics move twice a step
};

absl::StatusOr<PlanReport> FindPlan(const NetworkFile& file, const Job& job, const PlanOptions& options);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_CHECKPOINT_PLAN_H_
