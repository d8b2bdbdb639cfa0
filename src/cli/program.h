// The program behind main(): chooses the command, prints help, turns failures into exit codes.
#ifndef MEMCREST_CLI_PROGRAM_H_
#define MEMCREST_CLI_PROGRAM_H_

#include <string>
#include <vector>

#include "src/cli/console.h"

namespace memcrest {

inline constexpr char kVersion[] = "0.1.0";

// `words` without the program's name. Exit codes: 0 fits, 1 does not fit, 2 wrong input, 3 our bug.
int RunProgram(const std::vector<std::string>& words, Console& console);

}  // namespace memcrest

#endif  // MEMCREST_CLI_PROGRAM_H_
