// The prediction beside a measurement: peaks, and the first allocation at which the two part.
//
// Takes: MeasuredMemory, the DeviceReport with its step record.  Gives: Verification and its text. Allocations below kCompared bytes
// are left out: scalars, counters and loggers differ from run to run and weigh nothing.
#ifndef MEMCREST_REPORT_VERIFY_H_
#define MEMCREST_REPORT_VERIFY_H_

#include <string>
#include <vector>

#include "src/memory/snapshot.h"
#include "src/report/report.h"

namespace memcrest {

inline constexpr Bytes kCompared = 64 << 10;

// One side of a divergence; bytes 0: this side has no such allocation.
struct VerifiedAllocation {
  Bytes bytes = 0;
  std::string op, module;  // ours
  std::string where;       // theirs: a line of Python
};

struct Divergence {
  VerifiedAllocation ours, theirs;
  std::string explanation;  // what would explain it, as an option where there is one
};

struct Verification {
  MeasuredStep step;
  bool compared = false;         // the measurement has a trace to compare
  size_t matched = 0;            // allocations of the step that both have, in the same order
  size_t ours = 0, theirs = 0;   // allocations of kCompared and more
  Bytes our_live = 0, their_live = 0;          // largest in the step, by requests
  Bytes our_reserved = 0, their_reserved = 0;
  std::vector<Divergence> divergences;         // in order; at most kMostDivergences
  size_t more = 0;                             // that were left out
};

inline constexpr size_t kMostDivergences = 12;

Verification Verify(const MeasuredMemory& measured, const DeviceReport& device);
std::string VerificationText(const Verification& v, const std::string& name);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_VERIFY_H_
