// Casts that a float32 export cannot show: `.to(torch.float32)` of a float32 tensor leaves no trace, but runs in a bf16
// job.
//
// Restored where hand-written code upcasts by habit:
//   RMS norms      x.float() before the square (and for the product), the result back to x's type before (Gemma: after)
//   the weight softmax        softmax(x, dtype=torch.float32).to(x.dtype) in attention written out
// In a float32 job the casts are no-ops. Takes: a network exported in float32 (others show their casts). Tells by the
// class ("RMSNorm", "T5LayerNorm"), or by source lines where a class of another name spells the cast.
#ifndef MEMCREST_LIFT_UPCASTS_H_
#define MEMCREST_LIFT_UPCASTS_H_

#include "src/graph/network.h"

namespace memcrest {

void RestoreUpcasts(Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_UPCASTS_H_
