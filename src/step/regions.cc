#include "src/step/regions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/problem.h"
#include "src/job/pattern.h"

namespace memcrest {
namespace {

absl::StatusOr<std::vector<bool>> MatchedModules(const Network& net, const Checkpoint& c) {
  std::vector<bool> matched(net.modules.size());
  std::vector<Problem> problems;
  for (const std::string& pattern : c.modules) {
    bool any = false;
    for (size_t m = 0; m < net.modules.size(); ++m) {
      if (net.modules[m].path.empty() || !MatchesPattern(net.modules[m].path, pattern)) continue;
      matched[m] = any = true;
    }
    if (any) continue;
    problems.push_back({"E0501", absl::StrCat("no module matches '", pattern, "'"), "--checkpoint",
                        "patterns are dotted module paths, matched segment by segment",
                        "see `memcrest inspect` for the module tree"});
  }
  if (!problems.empty()) return ToStatus(problems);
  // transformers' own switch checkpoints its layer classes: the members of its module lists.
  if (c.all_blocks || (!c.via.empty() && c.modules.empty())) {
    for (const ModuleId m : RepeatedBlocks(net)) matched[static_cast<size_t>(m)] = true;
  }
  if (c.every > 1) {
    int64_t nth = 0;
    for (size_t m = 0; m < matched.size(); ++m) {
      if (matched[m]) matched[m] = nth++ % c.every == 0;
    }
  }
  return matched;
}

}  // namespace

absl::StatusOr<std::vector<bool>> CheckpointedCalls(const Network& net, const Checkpoint& checkpoint) {
  std::vector<bool> calls(net.calls.size());
  if (!checkpoint.on()) return calls;
  MEMCREST_ASSIGN_OR_RETURN(const std::vector<bool> matched, MatchedModules(net, checkpoint));
  for (size_t c = 0; c < net.calls.size(); ++c) {
    calls[c] = net.calls[c].module != kNone && matched[static_cast<size_t>(net.calls[c].module)];
  }
  return calls;
}

}  // namespace memcrest
