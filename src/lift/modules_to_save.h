// peft's modules_to_save: a trained copy of a module runs in place of the original, which stays, frozen.
//
// A copy is its own: tied weights lose their tie. Buffers are copied with it.
// Errors: E0321 names that fit no module. Source: peft 0.21, utils/other.py, ModulesToSaveWrapper.
#ifndef MEMCREST_LIFT_MODULES_TO_SAVE_H_
#define MEMCREST_LIFT_MODULES_TO_SAVE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/graph/network.h"

namespace memcrest {

absl::Status CopyModulesToSave(const std::vector<std::string>& names, Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_MODULES_TO_SAVE_H_
