// What would help where checkpointing cannot: each change of the job simulated together with a plan.
//
// Takes: the network, the job, a plan.  Gives: remedies that lower the reserved peak, most first.
#ifndef MEMCREST_PLAN_REMEDIES_H_
#define MEMCREST_PLAN_REMEDIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "src/plan/checkpoint_plan.h"

namespace memcrest {

absl::StatusOr<std::vector<Relief>> FindRemedies(const NetworkFile& file, const Job& job, const Plan& plan);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_REMEDIES_H_
