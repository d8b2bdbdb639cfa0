// LSTM, GRU and RNN nodes: ONNX stacks and reorders the gates' weights; the module's own tensors stand behind that.
#ifndef MEMCREST_LIFT_PLAIN_RECURRENT_H_
#define MEMCREST_LIFT_PLAIN_RECURRENT_H_

#include "src/lift/plain_state.h"

namespace memcrest {

// Lifts the current LSTM, GRU or RNN node: one operator of one layer.
void LiftRecurrent(PlainState& state);
// Marks the nodes that only rearrange stored weights for recurrent nodes; they never ran.
std::vector<bool> RecurrentWeightNodes(const OnnxView& view);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_PLAIN_RECURRENT_H_
