#include "src/base/problem.h"

#include "absl/strings/str_cat.h"

namespace memcrest {

std::string ToText(const Problem& problem) {
  std::string text = absl::StrCat("error ", problem.code, ": ", problem.what, "\n");
  const auto part = [&](const char* label, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&text, "  ", label, ": ", value, "\n");
  };
  part("where", problem.where);
  part("why", problem.why);
  part("fix", problem.fix);
  return text;
}

absl::Status ToStatus(const std::vector<Problem>& problems) {
  if (problems.empty()) return absl::OkStatus();
  std::string text;
  for (const Problem& p : problems) absl::StrAppend(&text, ToText(p));
  return absl::InvalidArgumentError(text);
}

}  // namespace memcrest
