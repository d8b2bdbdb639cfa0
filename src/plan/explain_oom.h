// An out-of-memory message against the simulation of the job: where it stood, why it failed, what would help.
//
// Takes: the message, a network, the job as the user ran it.  Gives: OomExplanation; every remedy in it has been simulated.
// Errors: those of Simulate.
#ifndef MEMCREST_PLAN_EXPLAIN_OOM_H_
#define MEMCREST_PLAN_EXPLAIN_OOM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/job/job.h"
#include "src/plan/oom_message.h"
#include "src/report/report.h"

namespace memcrest {

enum class OomCause {
  kJob,             // the job needs more than the device has
  kOtherProcesses,  // it would fit without the others on the device
  kLimit,           // set_per_process_memory_fraction
  kFragmentation,   // enough was reserved, in pieces that did not serve
  kNotInJob,        // more is alive than a training step of this network needs
  kUnclear,         // the simulated job fits
};

// The simulated allocation that the message most likely is.
struct OomPlace {
  std::string phase, op, module;
  Bytes bytes = 0, allocated = 0;  // of the request; live before it
  bool first_step = false;         // without optimizer state and kept outputs
};

struct OomRemedy {
  std::string flags;  // "--optimizer-impl fused"
  std::string cost;   // "no time"
  Bytes process = 0;
  bool fits = false;
};

struct OomExplanation {
  OomCause cause = OomCause::kUnclear;
  Report report;             // of the job as it is
  Bytes available = 0;       // to this process
  std::optional<OomPlace> place;
  std::vector<OomRemedy> remedies;  // cheapest first; up to the first that fits, then no more
};

absl::StatusOr<OomExplanation> ExplainOom(const OomMessage& message, const std::string& model, const Job& job);

// The embedded profile whose memory is what the message says; nullopt if there is none within 2 %.
std::optional<std::string> DeviceOfMessage(const OomMessage& message, const std::string& preferred);

// 80 columns.
std::string OomText(const OomMessage& message, const OomExplanation& explanation);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_EXPLAIN_OOM_H_
