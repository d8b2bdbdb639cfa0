// Which module executions a job checkpoints.
//
// Takes: Network, the job's checkpoint settings.  Gives: per call whether it is a region; problems for patterns that match nothing.
#ifndef MEMCREST_STEP_REGIONS_H_
#define MEMCREST_STEP_REGIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "src/graph/network.h"
#include "src/job/job.h"
#include "src/shard/units.h"

namespace memcrest {

// By CallId. A call inside another region is a region of its own only if the job says nested.
absl::StatusOr<std::vector<bool>> CheckpointedCalls(const Network& network, const Checkpoint& checkpoint);

}  // namespace memcrest

#endif  // MEMCREST_STEP_REGIONS_H_
