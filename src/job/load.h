// From defaults, a job file and flags to one validated job.
//
// Takes: the path of a job file (proto JSON or text form; may be empty) and flags as (name, value) in their order.
// Gives: the Job, or all problems at once. Later wins: file over defaults, flags over file; maps are merged entry by
// entry.
#ifndef MEMCREST_JOB_LOAD_H_
#define MEMCREST_JOB_LOAD_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/job/document.h"
#include "src/job/job.h"

namespace memcrest {

// One flag that a job takes.
struct JobFlag {
  std::string name;     // "zero-grad"
  std::string metavar;  // "WHEN"; "BOOL" for switches, whose value may be left out
  std::string help;
  bool parallel = false;
};

// In the order of the fields. A flag is a field's name with - for _, or the name that the field gives it.
const std::vector<JobFlag>& JobFlags();

using FlagValues = std::vector<std::pair<std::string, std::string>>;  // ("zero-grad", "after-step")

// Errors: E0108 unreadable, E0103 syntax, E0102 unknown field, E0104 type, E0105 value, E0106 range, E0107 conflict,
// E0109 not supported yet. Unknown flags are the caller's: it knows its own as well.
absl::StatusOr<Job> LoadJob(const std::string& job_file, const FlagValues& flags);

// A job file in memory over `job`, without the checks of the whole. Problems of fields go to `problems`; an error is
// E0103.
absl::Status ReadJob(const Source& source, Job& job, std::vector<Problem>& problems);

}  // namespace memcrest

#endif  // MEMCREST_JOB_LOAD_H_
