// Units: groups of modules whose parameters an engine gathers and reduces together.
//
// Takes: Network, patterns of modules.  Gives: units in the order of the modules, the root last; every parameter belongs to
// exactly one: that of the innermost chosen module that owns it, the root's if a parameter is shared between units.
// Errors: E0510 for a pattern that matches no module.
#ifndef MEMCREST_SHARD_UNITS_H_
#define MEMCREST_SHARD_UNITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/graph/network.h"

namespace memcrest {

struct Unit {
  std::vector<ModuleId> modules;
  std::vector<ParamId> params;  // in registration order, buffers excluded
};

// The modules that `patterns` choose, in order; with no patterns the repeated blocks.
absl::StatusOr<std::vector<ModuleId>> ChosenModules(const Network& network, const std::vector<std::string>& patterns);
// `every`: so many chosen modules form one unit.
std::vector<Unit> MakeUnits(const Network& network, const std::vector<ModuleId>& chosen, int64_t every = 1);

// The modules a user would call blocks: the members of module lists ("layers.0", "layers.1" ...), outermost lists only.
std::vector<ModuleId> RepeatedBlocks(const Network& network);

}  // namespace memcrest

#endif  // MEMCREST_SHARD_UNITS_H_
