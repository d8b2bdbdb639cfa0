// bitsandbytes in a lifted network: linear layers with packed weights, everything frozen.
//
// Takes: the network, the job's `quantize` and precision.  Gives: every linear module but the skipped ones runs
// linear_4bit or linear_8bit (src/ops/quantized.cc); its weight has a packed storage and the tensors of its quantisation
// state beside it. A weight that something else reads too (a tied embedding) stays, and the linear layer gets its own.
// `skip`: ends of module paths; "head" is the module whose result the network returns. Ignores: layers of other kinds.
// Sources: bitsandbytes 0.50, nn/modules.py and functional.py; prepare_model_for_kbit_training of peft 0.21.
#ifndef MEMCREST_LIFT_QUANTIZE_H_
#define MEMCREST_LIFT_QUANTIZE_H_

#include "absl/status/status.h"
#include "src/graph/network.h"
#include "src/job/job.h"

namespace memcrest {

// Errors: E0323 if no linear module is left to quantise.
absl::Status QuantizeBase(const Job& job, Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_QUANTIZE_H_
