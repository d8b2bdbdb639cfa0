#include "src/cli/numbers.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace memcrest {
namespace {

Problem Wrong(const std::string& name, const std::string& text, const std::string& needed) {
  return {"E0104", absl::StrCat("\"", text, "\" is not ", needed), absl::StrCat("--", name, " ", text), "", ""};
}

}  // namespace

void ReadCount(const Arguments& arguments, const std::string& name, int64_t least, int64_t& value, std::vector<Problem>& problems) {
  if (!arguments.Has(name)) return;
  const std::string text = arguments.Get(name);
  int64_t n = 0;
  if (absl::SimpleAtoi(text, &n) && n >= least) value = n;
  else problems.push_back(Wrong(name, text, absl::StrCat("a number from ", least)));
}

void ReadShare(const Arguments& arguments, const std::string& name, double& share, std::vector<Problem>& problems) {
  if (!arguments.Has(name)) return;
  const std::string text = arguments.Get(name);
  double percent = 0;
  if (absl::SimpleAtod(absl::StripSuffix(text, "%"), &percent) && percent >= 0 && percent < 100) share = percent / 100;
  else problems.push_back(Wrong(name, text, "a percentage from 0 to below 100"));
}

}  // namespace memcrest
