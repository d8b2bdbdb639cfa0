// What fine-tuning adds to a lifted network, in the order of the usual script: quantised base, adapters, hooks.
//
// Takes: the network, the job.  Gives: the network that the job trains.  Errors: of the passes.
#ifndef MEMCREST_LIFT_FINETUNE_H_
#define MEMCREST_LIFT_FINETUNE_H_

#include <string>

#include "absl/status/status.h"
#include "src/graph/network.h"
#include "src/job/job.h"

namespace memcrest {

absl::Status PrepareFineTuning(const Job& job, Network& network);
// All of a job that its result depends on, as a text: jobs of equal keys get equal networks. "" without fine-tuning.
std::string FineTuningKey(const Job& job);

// transformers' enable_input_require_grads: the result of the input embedding requires a gradient.
// Errors: E0322 if the network has no embedding.
absl::Status RequireInputGrads(Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FINETUNE_H_
