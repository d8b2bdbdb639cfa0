// Numbers among a command's own options.
//
// Takes: Arguments.  Gives: the value, or a Problem (E0104) in `problems` and the value unchanged.
#ifndef MEMCREST_CLI_NUMBERS_H_
#define MEMCREST_CLI_NUMBERS_H_

#include <string>
#include <vector>

#include "src/base/problem.h"
#include "src/cli/command.h"

namespace memcrest {

// --NAME N, at least `least`.
void ReadCount(const Arguments& arguments, const std::string& name, int64_t least, int64_t& value, std::vector<Problem>& problems);
// --NAME PERCENT, "10" or "10%", from 0 to below 100, as a share.
void ReadShare(const Arguments& arguments, const std::string& name, double& share, std::vector<Problem>& problems);

}  // namespace memcrest

#endif  // MEMCREST_CLI_NUMBERS_H_
