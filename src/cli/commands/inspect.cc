// memcrest inspect: how a file is read, and what it is lifted to on which evidence.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/inspect_text.h"
#include "src/cli/output.h"
#include "src/lift/lift.h"
#include "src/onnx/reader.h"
#include "src/plan/lift_options.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"--depth", "N", "levels of the module tree (4)"},
    {"--parameters", "", "list each parameter and buffer"},
    {"--nodes", "", "list each operator call with its module, evidence and source line"},
    {"--cuts", "", "list the places where all that later work depends on is one tensor"},
    {"--restore", "WHAT,...", "what the file lost and is brought back: batchnorm, dropout or none"},
    {"--dropout", "PATTERN=P", "dropout after the modules of that pattern"},
    {"--tie", "NAME=TABLE", "a weight shares another's storage"},
    {"--untie", "NAME,...", "weights that are their own"},
    {"-o,--output", "FILE", "write to FILE; - is standard output"},
    {"--force", "", "overwrite FILE"},
};

// The flags of a job that decide how a file is lifted.
absl::StatusOr<LiftOptions> LiftOptionsFrom(const Arguments& arguments) {
  FlagValues flags;
  for (const char* name : {"restore", "dropout", "tie", "untie"}) {
    const auto given = arguments.repeated.find(name);
    if (given == arguments.repeated.end()) continue;
    for (const std::string& value : given->second) flags.emplace_back(name, value);
  }
  MEMCREST_ASSIGN_OR_RETURN(const Job job, LoadJob("", flags));
  return LiftOptionsOf(job);
}

int RunInspect(const Arguments& arguments, Console& console) {
  InspectOptions options;
  options.parameters = arguments.Has("parameters");
  options.nodes = arguments.Has("nodes");
  options.cuts = arguments.Has("cuts");
  const std::string depth = arguments.Get("depth", "4");
  if (!absl::SimpleAtoi(depth, &options.depth) || options.depth < 0) {
    return Fail(
        ToStatus(Problem{"E0104", absl::StrCat("\"", depth, "\" is not a number of levels"), "--depth", "", ""}),
        console);
  }
  const absl::StatusOr<onnx::Model> model = onnx::ReadFile(arguments.positional[0]);
  if (!model.ok()) return Fail(model.status(), console);
  const absl::StatusOr<LiftOptions> lifting = LiftOptionsFrom(arguments);
  if (!lifting.ok()) return Fail(lifting.status(), console);
  const absl::StatusOr<Network> network = Lift(*model, *lifting);
  if (!network.ok()) return Fail(network.status(), console);
  const std::string text = absl::StrCat(arguments.positional[0], "\n", InspectText(*model, *network, options));
  const absl::Status written = WriteOutput(arguments.Get("output"), text, arguments.Has("force"), console);
  return written.ok() ? kFits : Fail(written, console);
}

}  // namespace

void RegisterInspect(CommandRegistry& registry) {
  registry.Add({"inspect", "inputs, free dimensions, parameters, modules and operators of a file", "MODEL.onnx", false,
                kOptions, RunInspect, "memcrest inspect gpt2.onnx --depth 6 --parameters"});
}

}  // namespace memcrest
