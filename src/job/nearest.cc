#include "src/job/nearest.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace memcrest {
namespace {

std::string Plain(absl::string_view word) {
  while (!word.empty() && word[0] == '-') word.remove_prefix(1);
  return absl::StrReplaceAll(absl::AsciiStrToLower(word), {{"_", "-"}});
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b) {
  const size_t n = b.size();
  std::vector<int> before(n + 1), last(n + 1), row(n + 1);  // rows i-2, i-1 and i of the usual table
  for (size_t j = 0; j <= n; ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= n; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[n];
}

std::string Nearest(absl::string_view word, const std::vector<std::string>& names) {
  const std::string plain = Plain(word);
  int best = static_cast<int>(std::max<size_t>(1, (plain.size() + 2) / 3)) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    const std::string other = Plain(name);
    const int distance = EditDistance(plain, other);
    if (distance >= best || distance >= static_cast<int>(other.size())) continue;
    best = distance;
    nearest = name;
  }
  return nearest;
}

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& names, size_t listed) {
  const std::string nearest = Nearest(word, names);
  if (!nearest.empty()) return absl::StrCat("did you mean ", nearest, "?");
  if (names.empty() || names.size() > listed) return "";
  return absl::StrCat("one of ", absl::StrJoin(names, ", "));
}

}  // namespace memcrest
