// The only file that includes CLI11: it is large, and the rest of the program does not need it.
#include "src/cli/arguments.h"

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/job/nearest.h"

namespace memcrest {
namespace {

using Words = std::vector<std::string>;

// "-o,--output" -> "output"
std::string LongName(absl::string_view name) {
  const size_t at = name.rfind("--");
  return std::string(at == absl::string_view::npos ? name : name.substr(at + 2));
}

bool IsBool(const std::string& word) { return word == "true" || word == "false" || word == "1" || word == "0"; }

// Switches of a job may stand alone or with a value: "--padding", "--padding false". All become "--padding=false".
Words WithSwitchValues(const Words& words) {
  Words result;
  for (size_t i = 0; i < words.size(); ++i) {
    bool is_switch = false;
    for (const JobFlag& flag : JobFlags()) {
      is_switch = is_switch || (absl::StartsWith(flag.metavar, "BOOL") && words[i] == "--" + flag.name);
    }
    const bool has_value = is_switch && i + 1 < words.size() && (IsBool(words[i + 1]));
    const bool other_value = is_switch && !has_value && i + 1 < words.size() && !words[i + 1].empty() &&
                             words[i + 1].find_first_not_of("0123456789") == std::string::npos;  // BOOL|N
    if (!is_switch) result.push_back(words[i]);
    else if (has_value || other_value) result.push_back(absl::StrCat(words[i], "=", words[i + 1])), ++i;
    else result.push_back(absl::StrCat(words[i], "=true"));
  }
  return result;
}

// How many words "A B [MODEL.onnx]" asks for.
size_t WordCount(const Command& command) {
  const Words words = absl::StrSplit(command.positional, ' ', absl::SkipEmpty());
  return words.size();
}

// A CLI11 application with the storage its options write to.
struct Parser {
  explicit Parser(const Command& command) : app("", command.name) {
    app.allow_extras();
    app.set_help_flag();
    for (const Option& option : command.options) Add(option.name, option.metavar, option.help);
    if (command.takes_job) AddJob();
    if (command.positional[0] != '\0') {
      const int most = absl::StrContains(command.positional, "...") ? 1000 : static_cast<int>(WordCount(command));
      app.add_option("positional", positional, "")->expected(1, most)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }

  void Add(const std::string& name, const std::string& metavar, const std::string& help) {
    if (metavar.empty()) {
      app.add_flag(name, switches[LongName(name)], help);
      return;
    }
    app.add_option(name, values[LongName(name)], help)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  }

  void AddJob() {
    Add("--job", "FILE", "");
    for (const JobFlag& flag : JobFlags()) Add("--" + flag.name, flag.metavar, flag.help);
  }

  CLI::App app;
  std::map<std::string, bool> switches;
  std::map<std::string, Words> values;
  Words positional;
};

Words FlagNames(const Command& command) {
  Words names;
  for (const Option& option : command.options) names.push_back("--" + LongName(option.name));
  if (!command.takes_job) return names;
  names.push_back("--job");
  for (const JobFlag& flag : JobFlags()) names.push_back("--" + flag.name);
  return names;
}

std::vector<Problem> UnknownFlags(const Command& command, const Words& extras) {
  std::vector<Problem> problems;
  for (const std::string& word : extras) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string flag = word.substr(0, word.find('='));
    problems.push_back(Problem{"E0101", absl::StrCat("unknown flag ", flag), "command line",
                               absl::StrCat("memcrest ", command.name, " --help lists the flags"),
                               DidYouMean(flag, FlagNames(command), 6)});
  }
  return problems;
}

Problem WrongWords(const Command& command, const std::string& what) {
  const char* space = command.positional[0] == '\0' ? "" : " ";
  return Problem{"E0112", what, "command line", "",
                 absl::StrCat("memcrest ", command.name, space, command.positional, " [--flags]")};
}

absl::Status CheckWords(const Command& command, const Words& positional, const Words& extras) {
  MEMCREST_RETURN_IF_ERROR(ToStatus(UnknownFlags(command, extras)));
  const bool optional = command.positional[0] == '[' || command.positional[0] == '\0';
  if (positional.empty() && !optional)
    return ToStatus(WrongWords(command, absl::StrCat(command.positional, " is missing")));
  const bool many = absl::StrContains(command.positional, "...");
  const size_t most = WordCount(command);
  if (extras.empty() && (many || positional.size() <= most)) return absl::OkStatus();
  return ToStatus(
      WrongWords(command, absl::StrCat("unexpected word \"", extras.empty() ? positional[most] : extras[0], "\"")));
}

// Everything CLI11 collected, in the order of the options.
Arguments Collected(const Command& command, Parser& parser) {
  Arguments result;
  result.positional = parser.positional;
  for (const auto& [name, on] : parser.switches) {
    if (on) result.values[name] = "true";
  }
  for (const Option& option : command.options) {
    const Words& given = parser.values[LongName(option.name)];
    if (given.empty()) continue;
    result.values[LongName(option.name)] = given.back();
    result.repeated[LongName(option.name)] = given;
  }
  if (!command.takes_job) return result;
  if (!parser.values["job"].empty()) result.values["job"] = parser.values["job"].back();
  for (const JobFlag& flag : JobFlags()) {
    const Words& given = parser.values[flag.name];
    if (!given.empty()) result.job_flags.emplace_back(flag.name, absl::StrJoin(given, ","));
  }
  return result;
}

std::string OptionLine(const std::string& name, const std::string& metavar, const std::string& help) {
  std::string left = absl::StrCat("  ", name, metavar.empty() ? "" : " ", metavar);
  constexpr size_t kHelpColumn = 32;
  left += left.size() + 2 > kHelpColumn ? "\n" + std::string(kHelpColumn, ' ')
                                        : std::string(kHelpColumn - left.size(), ' ');
  return absl::StrCat(left, help, "\n");
}

std::string JobHelp(bool parallel) {
  std::string text;
  for (const JobFlag& flag : JobFlags()) {
    if (flag.parallel == parallel) absl::StrAppend(&text, OptionLine("--" + flag.name, flag.metavar, flag.help));
  }
  return text;
}

}  // namespace

absl::StatusOr<Arguments> ParseArguments(const Command& command, const std::vector<std::string>& words) {
  Parser parser(command);
  Words reversed = WithSwitchValues(words);
  std::reverse(reversed.begin(), reversed.end());  // CLI11 takes them from the back
  try {
    parser.app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // "--bind: 1 required TEXT missing"
    return ToStatus(WrongWords(command, absl::StrCat(what.substr(0, what.find(':')), " needs a value")));
  } catch (const CLI::ParseError& error) {
    return ToStatus(WrongWords(command, error.what()));
  }
  MEMCREST_RETURN_IF_ERROR(CheckWords(command, parser.positional, parser.app.remaining()));
  Arguments result = Collected(command, parser);
  result.command_line = absl::StrCat("memcrest ", command.name, " ", absl::StrJoin(words, " "));
  return result;
}

std::string HelpOf(const Command& command) {
  const char* space = command.positional[0] == '\0' ? "" : " ";
  std::string text =
      absl::StrCat("memcrest ", command.name, space, command.positional, " [options]\n  ", command.help, "\n");
  if (command.example[0] != '\0') absl::StrAppend(&text, "\nexample\n  ", command.example, "\n");
  absl::StrAppend(&text, "\noptions\n");
  for (const Option& option : command.options)
    absl::StrAppend(&text, OptionLine(option.name, option.metavar, option.help));
  if (!command.takes_job) return text;
  absl::StrAppend(&text, OptionLine("--job", "FILE", "a job file: the fields of proto/job.proto; flags win over it"));
  return absl::StrCat(text, "\nthe job\n", JobHelp(false), "\nmany devices\n", JobHelp(true));
}

}  // namespace memcrest
