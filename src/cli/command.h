// Commands: one file each in src/cli/commands/, registered by the build's list.
//
// A command says its options and runs on parsed arguments; it prints through the console and gives the exit code.
#ifndef MEMCREST_CLI_COMMAND_H_
#define MEMCREST_CLI_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "src/cli/console.h"
#include "src/job/load.h"

namespace memcrest {

struct Option {
  const char* name;     // "--format"; "-o,--output" with a short form
  const char* metavar;  // "FILE"; "" for a switch
  const char* help;
};

// What the user typed, checked against the command's options.
struct Arguments {
  std::vector<std::string> positional;
  std::map<std::string, std::string> values;  // by long name without dashes; a switch has the value "true"
  std::map<std::string, std::vector<std::string>> repeated;  // all that was given of each option with a value, in order
  FlagValues job_flags;                       // in the order of JobFlags()
  std::string command_line;                   // as typed, for suggestions

  bool Has(const std::string& name) const { return values.count(name) > 0; }
  std::string Get(const std::string& name, const std::string& otherwise = "") const;
};

struct Command {
  const char* name = "";
  const char* help = "";        // one line
  const char* positional = "";  // "MODEL.onnx", "[NAME]" (may be left out), "" for none
  bool takes_job = false;       // --job FILE and all job flags
  absl::Span<const Option> options;
  int (*run)(const Arguments& arguments, Console& console) = nullptr;
  const char* example = "";
};

class CommandRegistry {
 public:
  void Add(const Command& command) { entries_.push_back(command); }
  const Command* Find(absl::string_view name) const;  // nullptr if unknown
  const std::vector<Command>& All() const { return entries_; }

 private:
  std::vector<Command> entries_;
};

// The built-in commands; made once by the generated RegisterAllCommands.
const CommandRegistry& Commands();
void RegisterAllCommands(CommandRegistry& registry);

// The job of a command with takes_job: --job FILE and flags.
absl::StatusOr<Job> JobOf(const Arguments& arguments);

}  // namespace memcrest

#endif  // MEMCREST_CLI_COMMAND_H_
