// Losses: what a training script computes from the network's first output and labels that live on the device.
//
// Takes: the output value.  Gives: labels (before the step) and the scalar loss, built from framework operators so that all of
// it is on the tape. Sizes: see each loss; labels are int64 class indices or float targets.
#ifndef MEMCREST_STEP_LOSS_H_
#define MEMCREST_STEP_LOSS_H_

#include "src/eager/eager.h"
#include "src/job/job.h"

namespace memcrest {

// The labels the loss needs; a null value if none.
Value MakeLabels(Eager& rt, const Job& job, const Meta& output, DType float_input);
// The loss of one micro-batch. `out` is a parameter so that its reference lives as long as the Python argument does.
Value ComputeLoss(Eager& rt, const Job& job, Value out, const Value& labels);

}  // namespace memcrest

#endif  // MEMCREST_STEP_LOSS_H_
