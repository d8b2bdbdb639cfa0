// The settings of a sweep: every combination of the values of its axes.
//
// Takes: "batch=1,2,4..64", "precision=fp32,amp-bf16".  Gives: axes, and the values of the n-th setting; the last axis varies
// fastest. Errors: E0911, an axis that cannot be read.
//
//   1,2,5      these
//   0..3       0 1 2 3
//   1,2,4..64  goes on as the last three do: equal ratios 1 2 4 8 16 32 64
//   16,32..96  or equal steps: 16 32 48 64 80 96 (two values: steps)
//   a;b,c      with a semicolon, commas belong to the values: "a" and "b,c"
#ifndef MEMCREST_PLAN_SWEEP_AXES_H_
#define MEMCREST_PLAN_SWEEP_AXES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/job/load.h"

namespace memcrest {

struct Axis {
  std::string name;  // a job flag, or a dimension
  std::vector<std::string> values;
};

inline constexpr int64_t kMaxSettings = 10'000'000;

absl::StatusOr<Axis> ParseAxis(absl::string_view text);
// E0912 if there are more than kMaxSettings, or two axes have one name.
absl::StatusOr<int64_t> CountSettings(const std::vector<Axis>& axes);
std::vector<std::string> SettingOf(const std::vector<Axis>& axes, int64_t index);
// What --NAME VALUE would be: a name that no flag has is a dimension, given to --bind.
FlagValues FlagsOf(const std::vector<Axis>& axes, const std::vector<std::string>& values);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_SWEEP_AXES_H_
