// One ONNX operator to framework operators, without looking around: what a plain export says node by node.
#ifndef MEMCREST_LIFT_PLAIN_OPS_H_
#define MEMCREST_LIFT_PLAIN_OPS_H_

#include "src/lift/plain_state.h"

namespace memcrest {

// Lifts the current node of the state. Operators that nobody knows become "unknown".
void LiftOne(PlainState& state);

// Handlers by family: true if the node was theirs.
bool LiftPointwise(PlainState& state);
bool LiftLayers(PlainState& state);     // products, convolutions, norms, pooling, recurrent, losses
bool LiftMovement(PlainState& state);   // views, copies, indexing, factories
bool LiftReduction(PlainState& state);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_PLAIN_OPS_H_
