// Parameters that a model's constructor freezes (requires_grad_(False)): no export says so. Those of known families are told
// by the names around them.
#ifndef MEMCREST_STEP_FROZEN_PARAMS_H_
#define MEMCREST_STEP_FROZEN_PARAMS_H_

#include <vector>

#include "src/graph/network.h"

namespace memcrest {

// By ParamId.
std::vector<bool> FrozenByConstructor(const Network& network);

}  // namespace memcrest

#endif  // MEMCREST_STEP_FROZEN_PARAMS_H_
