#include "src/job/pattern.h"

#include <algorithm>

#include "absl/strings/str_split.h"

namespace memcrest {
namespace {

// Matches `c` against the set that begins after '[' at p; sets `end` after ']' (or leaves it when the set is not closed).
bool InSet(char c, absl::string_view pattern, size_t p, size_t& end) {
  size_t q = p;
  const bool negated = q < pattern.size() && pattern[q] == '!';
  if (negated) ++q;
  bool found = false;
  for (bool first = true; q < pattern.size() && (first || pattern[q] != ']'); first = false) {
    if (q + 2 < pattern.size() && pattern[q + 1] == '-' && pattern[q + 2] != ']') {
      found = found || (pattern[q] <= c && c <= pattern[q + 2]);
      q += 3;
    } else {
      found = found || pattern[q] == c;
      ++q;
    }
  }
  end = q < pattern.size() ? q + 1 : p;
  return found != negated;
}

}  // namespace

bool MatchesSegment(absl::string_view text, absl::string_view pattern) {
  size_t t = 0, p = 0;
  size_t star = absl::string_view::npos, star_text = 0;
  while (t < text.size()) {
    bool step = false;
    size_t next = p + 1;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    if (p < pattern.size()) {
      if (pattern[p] == '?') {
        step = true;
      } else if (pattern[p] == '[' && pattern.find(']', p + 2) != absl::string_view::npos) {
        step = InSet(text[t], pattern, p + 1, next);
      } else {
        step = pattern[p] == text[t];
      }
    }
    if (step) {
      ++t;
      p = next;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool MatchesPattern(absl::string_view name, absl::string_view pattern, bool below) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '.');
  const std::vector<absl::string_view> want = absl::StrSplit(pattern, '.');
  if (want.size() > parts.size() || (want.size() < parts.size() && !below)) return false;
  return std::equal(want.begin(), want.end(), parts.begin(), [](absl::string_view w, absl::string_view part) {
    return MatchesSegment(part, w);
  });
}

bool MatchesAny(absl::string_view name, const std::vector<std::string>& patterns, bool below) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return MatchesPattern(name, p, below); });
}

}  // namespace memcrest
