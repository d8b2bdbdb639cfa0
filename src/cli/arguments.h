// The command line after the command's name, read by CLI11.
//
// Takes: a command's options and words.  Gives: Arguments, or the problems: E0101 unknown flag with the nearest known
// one, E0112 a flag without its value or a missing or surplus word.
#ifndef MEMCREST_CLI_ARGUMENTS_H_
#define MEMCREST_CLI_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/command.h"

namespace memcrest {

absl::StatusOr<Arguments> ParseArguments(const Command& command, const std::vector<std::string>& words);

// Usage, options, and for commands that take a job its flags; 80 columns where words allow.
std::string HelpOf(const Command& command);

}  // namespace memcrest

#endif  // MEMCREST_CLI_ARGUMENTS_H_
