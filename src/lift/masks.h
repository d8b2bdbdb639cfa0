// Attention masks that an export had to trace although the training script skips them.
//
// transformers asks tensor values whether rows are padded or packed; unpadded, it passes no mask and is_causal. A tracer cannot
// follow and writes the mask into the file. A mask is marked (Key::kMaskKind "causal" or "padding") if everything it is made of
// is positions, integer or bool inputs and constants: no activation, no parameter. The step drops marked masks unless
// the job says padding or attention-mask as-exported.
#ifndef MEMCREST_LIFT_MASKS_H_
#define MEMCREST_LIFT_MASKS_H_

#include "src/graph/network.h"

namespace memcrest {

void MarkSkippableMasks(Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_MASKS_H_
