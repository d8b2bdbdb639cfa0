// Losses: what a training script computes from the network's first output and labels that live on the device.
//
// Takes: the output value.  Gives: labels (before the step) and the scalar loss, built from framework operators so that all of
// it is on the tape. Sizes: see each loss; labels are int64 class indices or float targets.
#ifndef MEMCREST_STEP_LOSS_H_
#define MEMCREST_STEP_LOSS_H_

#include <functional>

#include "src/eager/eager.h"
#include "src/job/job.h"

namespace memcrest {

// What some losses need besides the output.
struct LossContext {
  Value head_weight, head_bias;     // chunked-cross-entropy: the head that the loss applies chunk by chunk
  std::function<Value()> teacher;   // distillation: runs the frozen copy without gradients
};

// The labels the loss needs; a null value if none. `output`: the network's own first output.
Value MakeLabels(Eager& rt, const Job& job, const Meta& output, DType float_input);
// The loss of one micro-batch. `out`: what the script calls `out` (two passes for token-contrastive, the base model's hidden states
// for chunked-cross-entropy); a parameter so that its references live as long as the Python argument does.
Value ComputeLoss(Eager& rt, const Job& job, Values out, const Value& labels, const LossContext& context);

// Losses with options (src/step/loss_options.cc).
Value ChunkedCrossEntropy(Eager& rt, const Job& job, const Value& hidden, const Value& labels, const LossContext& context);
Value TokenContrastive(Eager& rt, const Job& job, const Values& passes);
Value ZLoss(Eager& rt, const Job& job, const Value& out, const Value& labels);
Value Distillation(Eager& rt, const Job& job, const Value& out, const Value& labels, const LossContext& context);
Value ClipLoss(Eager& rt, const Value& out, const Value& labels);

// Steps that several losses share: reshape(-1, classes) of more than two dimensions; reshape(-1); .float().
Value RowsOf(Eager& rt, const Value& v);
Value Flat(Eager& rt, const Value& v, const char* op = "reshape");
Value Widened(Eager& rt, const Value& v);

}  // namespace memcrest

#endif  // MEMCREST_STEP_LOSS_H_
