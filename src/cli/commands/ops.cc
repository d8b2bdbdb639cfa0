// memcrest ops: the framework operators that the simulator knows.
#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/eager/op.h"
#include "src/job/nearest.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

const char* NameOf(Autocast rule) {
  static constexpr const char* kNames[] = {"-", "low", "float32", "set-dtype", "promote"};
  return kNames[static_cast<size_t>(rule)];
}

std::string Kind(const OpEntry& op) {
  if (op.composite) return "composite";
  return !op.differentiable ? "no gradient" : op.random ? "random" : "";
}

int RunOps(const Arguments& arguments, Console& console) {
  TextTable table("llll", 0, kListWidth);
  table.Row({"operator", "autocast", "kind", "what it saves"});
  std::vector<std::string> names;
  bool found = false;
  for (const OpEntry* op : Ops().All()) {
    names.push_back(op->name);
    if (!arguments.positional.empty() && arguments.positional[0] != op->name) continue;
    table.Row({op->name, NameOf(op->autocast), Kind(*op), op->doc});
    found = true;
  }
  if (!found && !arguments.positional.empty()) {
    const std::string& name = arguments.positional[0];
    return Fail(ToStatus(Problem{"E0105", absl::StrCat("no operator \"", name, "\""), "command line",
                                 "an operator without an entry saves its inputs and output", DidYouMean(name, names)}),
                console);
  }
  console.out(table.Text());
  return kFits;
}

}  // namespace

void RegisterOps(CommandRegistry& registry) {
  registry.Add({"ops", "the known framework operators", "[NAME]", false, {}, RunOps, ""});
}

}  // namespace memcrest
