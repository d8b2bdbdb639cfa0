// Low-rank adapters, built into a lifted network as peft builds them into a model.
//
// Takes: the network, peft's LoraConfig.  Gives: in every call of a target module the adapter's operators after the base
// layer's, and its parameters; the base frozen; modules_to_save as trained copies beside the frozen originals.
// Errors: E0320 targets that name no linear or convolution module, E0321 modules_to_save that name no module.
// Ignores: scaling (alpha, rslora): it is a number. Sources: peft 0.21, tuners/lora/{layer,variants,dora}.py.
#ifndef MEMCREST_LIFT_LORA_H_
#define MEMCREST_LIFT_LORA_H_

#include "absl/status/status.h"
#include "src/graph/network.h"
#include "src/job/job.h"

namespace memcrest {

// `autocast`: the forward runs under it; adapters of packed layers then cast nothing themselves.
absl::Status InjectLora(const Lora& lora, bool autocast, Network& network);

// The modules a target list means; ids ascend. "all-linear": every linear module but the one whose result the network
// returns (get_output_embeddings). Empty if nothing matches.
std::vector<ModuleId> LoraTargets(const Lora& lora, const Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_LORA_H_
