#include "src/plan/lift_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace memcrest {

LiftOptions LiftOptionsOf(const Job& job) {
  LiftOptions o;
  const auto restores = [&](const char* what) {
    return std::find(job.restore.begin(), job.restore.end(), what) != job.restore.end();
  };
  o.restore_batch_norm = restores("batchnorm");
  o.restore_dropout = restores("dropout");
  o.dropout.assign(job.dropout.begin(), job.dropout.end());
  for (const auto& [from, to] : job.tie) o.tie.push_back(absl::StrCat(from, "=", to));
  o.untie = job.untie;
  return o;
}

}  // namespace memcrest
