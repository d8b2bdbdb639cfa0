// Many settings of one job, simulated on several threads.
//
// Takes: a model, a job (file and flags) and axes.  Gives: one row for each setting, in the order of their indices whatever the
// threads do: rows are handed out in that order as soon as they are there, so what was written is always a beginning of the
// result and a sweep can go on where it was stopped. A setting that is refused is a row as well.
// Cost: the file is read and lifted once, sizes are bound once per run of equal bindings (make the dimensions the first axes).
#ifndef MEMCREST_PLAN_SWEEP_H_
#define MEMCREST_PLAN_SWEEP_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/job/load.h"
#include "src/plan/outcome.h"
#include "src/plan/sweep_axes.h"

namespace memcrest {

struct SweepRow {
  int64_t index = 0;
  std::vector<std::string> values;  // of the axes
  Outcome outcome;
  std::string refused;              // first line of why it could not be simulated; "": it was
};

struct SweepOptions {
  double headroom = 0;
  int threads = 0;             // 0: as many as the machine has
  int64_t shard = 0, shards = 1;  // only the settings with index % shards == shard
};

struct SweepQuestion {
  std::string model_path, job_file;
  FlagValues flags;
  std::vector<Axis> axes;
};

// `skip`: indices that are not to be simulated. `take` is called from one thread at a time. Errors: of CountSettings.
absl::Status Sweep(const SweepQuestion& question, const SweepOptions& options, const std::set<int64_t>& skip,
                   const std::function<void(SweepRow)>& take);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_SWEEP_H_
