// Writes results to files without ever destroying one by accident.
#ifndef MEMCREST_CLI_OUTPUT_H_
#define MEMCREST_CLI_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "src/cli/console.h"

namespace memcrest {

// Writes `text` to `path`; "" and "-" are standard output. An existing file is kept unless `force` (E0701); E0702 if
// the file cannot be written.
absl::Status WriteOutput(const std::string& path, const std::string& text, bool force, Console& console);

}  // namespace memcrest

#endif  // MEMCREST_CLI_OUTPUT_H_
