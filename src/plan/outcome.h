// The few figures of a job that a search compares; what fit and sweep run for each setting.
//
// Takes: an opened and bound file, a job, a headroom.  Gives: Outcome. The same step and the same allocator as Simulate, without
// the report's timeline and storages. `headroom` is the share of the device's capacity that must stay free, 0 <= headroom < 1.
#ifndef MEMCREST_PLAN_OUTCOME_H_
#define MEMCREST_PLAN_OUTCOME_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "src/plan/prepared.h"
#include "src/report/report.h"

namespace memcrest {

struct Outcome {  // of the fullest rank
  Bytes tensor = 0, allocated = 0, reserved = 0;  // peaks of the steady step
  Bytes ideal_reserved = 0;                       // no allocator can reserve less
  Bytes process = 0;                              // reserved, within the budget where the job fits, and the likely process parts
  Bytes capacity = 0;                             // of the device, all of it
  Bytes budget = 0;                               // what the allocator may reserve: capacity less headroom and process parts
  std::string phase, op, module;                  // where the peak stands
  bool fits = true;                               // the job runs within the budget
  bool tight = false;                             // it does so only by giving cached memory back in mid-step
  std::optional<BreakReport> breaks;              // where it does not
  bool impossible() const { return ideal_reserved > budget; }  // for any allocator
};

// Errors: of CheckpointedCalls. Cost: the job's steps and one or two replays of their events.
absl::StatusOr<Outcome> OutcomeOf(const NetworkFile& file, const BoundJob& bound, const Job& job, double headroom);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_OUTCOME_H_
