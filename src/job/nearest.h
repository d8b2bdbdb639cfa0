// "Did you mean": the known name closest to a misspelt one.
//
// Takes: a word and the names it could have been.  Gives: the nearest within about a third of its length, "" if none is
// near.
#ifndef MEMCREST_JOB_NEAREST_H_
#define MEMCREST_JOB_NEAREST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest {

// Insertions, deletions, replacements and swaps of neighbours that turn a into b. O(|a| * |b|).
int EditDistance(absl::string_view a, absl::string_view b);

// Case and the difference between - and _ cost nothing. Ties go to the earlier name.
std::string Nearest(absl::string_view word, const std::vector<std::string>& names);

// "did you mean NAME?", else "one of a, b, c" (at most `listed` names), else "".
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& names, size_t listed = 24);

}  // namespace memcrest

#endif  // MEMCREST_JOB_NEAREST_H_
