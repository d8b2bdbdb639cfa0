// Patterns of dotted module and parameter names, matched segment by segment.
//
// Each segment is a shell pattern: `*` any run of characters inside the segment, `?` one character, `[02468]` one of a set
// (`[!..]` none of it, `a-z` ranges). "model.layers.*" matches "model.layers.3" and not "model.layers.3.mlp".
#ifndef MEMCREST_JOB_PATTERN_H_
#define MEMCREST_JOB_PATTERN_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest {

// One segment against one shell pattern (Python's fnmatch.fnmatchcase).
bool MatchesSegment(absl::string_view text, absl::string_view pattern);
// The whole dotted name against one dotted pattern. `below`: also if an ancestor of the name matches.
bool MatchesPattern(absl::string_view name, absl::string_view pattern, bool below = false);
// Any of them.
bool MatchesAny(absl::string_view name, const std::vector<std::string>& patterns, bool below = false);

}  // namespace memcrest

#endif  // MEMCREST_JOB_PATTERN_H_
