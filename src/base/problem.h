// Errors for people: what, where, why, how to fix; and their absl::Status form.
//
// A Problem is one independent mistake in the user's input. Stages collect all they can find before giving up.
// Codes: Exxxx refuses, Axxxx (Assumption) is told in the report. The first two digits are the stage:
// 01 job, 02 file, 03 lift, 04 shapes, 05 step, 06 memory, 07 report, 08 shard, 09 plan.
#ifndef MEMCREST_BASE_PROBLEM_H_
#define MEMCREST_BASE_PROBLEM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/base/bytes.h"

namespace memcrest {

struct Problem {
  std::string code;   // "E0203"
  std::string what;   // one line: what is wrong
  std::string where;  // file, node, line:column, flag; may be empty
  std::string why;    // what the tool needs or found; may be empty
  std::string fix;    // what to type or change; may be empty
};

// Something the result rests on that the input did not say. `bytes` is its effect or share; 0 if it has none of its own.
struct Assumption {
  std::string code;  // "A0301"
  std::string message;
  Bytes bytes = 0;
};

// "error E0203: WHAT\n  where: ...\n  why: ...\n  fix: ...\n" (empty parts left out).
std::string ToText(const Problem& problem);
// All problems as one InvalidArgument status whose message is their texts joined by newlines. OK for an empty list.
absl::Status ToStatus(const std::vector<Problem>& problems);
inline absl::Status ToStatus(Problem problem) { return ToStatus(std::vector<Problem>{std::move(problem)}); }

}  // namespace memcrest

#define MEMCREST_RETURN_IF_ERROR(expr)                   \
  do {                                                   \
    if (absl::Status memcrest_status = (expr); !memcrest_status.ok()) return memcrest_status; \
  } while (false)
#define MEMCREST_CONCAT_(a, b) a##b
#define MEMCREST_CONCAT(a, b) MEMCREST_CONCAT_(a, b)
#define MEMCREST_ASSIGN_OR_RETURN(lhs, expr) MEMCREST_ASSIGN_OR_RETURN_(MEMCREST_CONCAT(statusor_, __LINE__), lhs, expr)
#define MEMCREST_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return tmp.status();              \
  lhs = *std::move(tmp)

#endif  // MEMCREST_BASE_PROBLEM_H_
