#include "src/eager/op.h"
#include "src/ops/all_ops.h"

namespace memcrest {

const OpRegistry& Ops() {
  static const OpRegistry& registry = *[] {
    auto* made = new OpRegistry;  // lives as long as the process: nodes and tapes point into it
    RegisterAllOps(*made);
    return made;
  }();
  return registry;
}

const OpEntry& Op(absl::string_view name) {
  const OpEntry* found = Ops().Find(name);
  // A missing name is an error in this program's own tables; the fallback operator keeps the estimate conservative.
  return found != nullptr ? *found : *Ops().Find("unknown");
}

}  // namespace memcrest
