// Where a command prints. The only place of the program that knows a terminal.
#ifndef MEMCREST_CLI_CONSOLE_H_
#define MEMCREST_CLI_CONSOLE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace memcrest {

enum ExitCode : int { kFits = 0, kDoesNotFit = 1, kWrongInput = 2, kOurBug = 3 };

struct Console {
  std::function<void(absl::string_view)> out, err;
  bool color = false;  // standard output is a terminal and NO_COLOR is not set
};

// Prints the problems of `status` to the error stream and gives the exit code: kWrongInput, or kOurBug for internal
// errors.
int Fail(const absl::Status& status, Console& console);

}  // namespace memcrest

#endif  // MEMCREST_CLI_CONSOLE_H_
