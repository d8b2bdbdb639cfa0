#include "src/cli/console.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace memcrest {

int Fail(const absl::Status& status, Console& console) {
  const bool bug = status.code() == absl::StatusCode::kInternal || status.code() == absl::StatusCode::kUnknown;
  std::string text(status.message());
  if (!absl::StartsWith(text, "error ")) text = absl::StrCat("error: ", text);
  if (!absl::EndsWith(text, "\n")) text += '\n';
  if (bug)
    absl::StrAppend(&text,
                    "this is a bug of memcrest, not of your input: please report it with the command and the model\n");
  console.err(text);
  return bug ? kOurBug : kWrongInput;
}

}  // namespace memcrest
