// Key and value heads that grouped-query attention repeats before it calls the kernel.
//
// transformers repeats them (unsqueeze, expand, reshape: a copy) when it has a mask, and hands them over as they are,
// with enable_gqa, when it has none. An export traces the mask, hence the copies; a job without the mask must undo
// them.
#ifndef MEMCREST_LIFT_REPEATED_HEADS_H_
#define MEMCREST_LIFT_REPEATED_HEADS_H_

#include "src/graph/network.h"

namespace memcrest {

// The tensor whose heads were repeated to make `heads`; kNone if they were not.
TensorId BeforeRepeat(const Network& network, TensorId heads);

// Keeps the unrepeated heads of attention whose mask may be skipped (Key::kMaskKind) alive until the attention has run.
void HoldUnrepeatedHeads(Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_REPEATED_HEADS_H_
