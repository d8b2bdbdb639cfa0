// What no single field can tell: ranges, settings that exclude each other, and settings that are not supported yet.
//
// Takes: a job read from file and flags.  Gives: all problems (E0106 range, E0107 conflict, E0109 not supported yet).
#ifndef MEMCREST_JOB_VALIDATE_H_
#define MEMCREST_JOB_VALIDATE_H_

#include <vector>

#include "absl/types/span.h"
#include "src/base/problem.h"
#include "src/job/job.h"

namespace memcrest {

// Two spellings of one setting made one: zero_optimization.stage -> zero, gradient clipping of DeepSpeed.
void Settle(Job& job);

void Validate(const Job& job, std::vector<Problem>& problems);

// A setting that is understood but not simulated yet: refused by name when `used`. Lines leave as features land.
struct NotYet {
  const char* field;
  bool (*used)(const Job& job);
  const char* instead;  // what to do today
};
absl::Span<const NotYet> NotYetSupported();

}  // namespace memcrest

#endif  // MEMCREST_JOB_VALIDATE_H_
