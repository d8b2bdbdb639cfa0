#include "src/cli/program.h"

#include <exception>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/cli/arguments.h"
#include "src/cli/command.h"
#include "src/job/nearest.h"

namespace memcrest {
namespace {

std::string Usage() {
  std::string text =
      "memcrest: predicts the GPU memory of PyTorch training from an ONNX export\n\nusage: memcrest COMMAND ...\n\n";
  for (const Command& command : Commands().All())
    absl::StrAppendFormat(&text, "  %-12s%s\n", command.name, command.help);
  return absl::StrCat(text, "\n  memcrest COMMAND --help     its options\n  memcrest --version\n",
                      "\nexit codes: 0 fits, 1 does not fit, 2 wrong input, 3 a bug of memcrest\n");
}

bool AsksForHelp(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

absl::Status UnknownCommand(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : Commands().All()) names.push_back(command.name);
  return ToStatus(
      Problem{"E0113", absl::StrCat("unknown command \"", name, "\""), "command line", "", DidYouMean(name, names)});
}

int RunCommand(const Command& command, const std::vector<std::string>& words, Console& console) {
  if (AsksForHelp(words)) return console.out(HelpOf(command)), kFits;
  const absl::StatusOr<Arguments> arguments = ParseArguments(command, words);
  if (!arguments.ok()) return Fail(arguments.status(), console);
  return command.run(*arguments, console);
}

}  // namespace

int RunProgram(const std::vector<std::string>& words, Console& console) {
  if (words.empty()) return console.err(Usage()), kWrongInput;
  if (words[0] == "--version") return console.out(absl::StrCat("memcrest ", kVersion, "\n")), kFits;
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") return console.out(Usage()), kFits;
  const Command* command = Commands().Find(words[0]);
  if (command == nullptr) return Fail(UnknownCommand(words[0]), console);
  try {
    return RunCommand(*command, {words.begin() + 1, words.end()}, console);
  } catch (const std::exception& error) {  // the standard library's: out of memory and the like
    return Fail(absl::InternalError(error.what()), console);
  }
}

}  // namespace memcrest
