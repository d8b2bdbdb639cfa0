// memcrest optimizers: what --optimizer knows, with the state and temporaries of each.
#include "src/cli/command.h"
#include "src/report/text_table.h"
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

int RunOptimizers(const Arguments&, Console& console) {
  TextTable table("lrrrll", 0, kListWidth);
  table.Row({"name", "foreach", "fused", "for-loop", "state", "temporaries in the step"});
  const auto yes = [](bool b) { return std::string(b ? "yes" : "-"); };
  for (const OptimizerEntry& o : Optimizers().All()) {
    table.Row({o.name, yes(o.foreach), yes(o.fused), yes(o.for_loop), o.state_doc, o.temporary_doc});
  }
  console.out(table.Text());
  console.out("\nP: the bytes of the trainable parameters\n");
  return kFits;
}

}  // namespace

void RegisterOptimizers(CommandRegistry& registry) {
  registry.Add(
      {"optimizers", "the known optimizers with their state and temporaries", "", false, {}, RunOptimizers, ""});
}

}  // namespace memcrest
