// How long Python keeps each result: Tensor::released_after.
//
// Rules, of which the longest holds:
//   last use     a temporary of an expression dies when the operator that reads it has run
//   arguments    what is passed into a module's call is held by the caller until the call returns
//   names        a value assigned to a name stays until the name is assigned again in the same frame, or the frame
//   returns
// The third needs the exporter's stack traces; without them the first two are applied. In-place operators that the
// source lines spell out ("h += s", "x.relu_()", "inplace=True") get Key::kInplace on the way.
//
//   frame of Block.forward   r = x          residual = x
//                            h = n(x)       |--h1--|             h1: until "h" is assigned again
//                            h = a(h)              |--h2--|      h1 is also a's argument: until a returns
//                            return r + h                 |      h2: until forward returns
#ifndef MEMCREST_LIFT_LIFETIMES_H_
#define MEMCREST_LIFT_LIFETIMES_H_

#include <vector>

#include "src/graph/network.h"
#include "src/lift/fx_graph.h"

namespace memcrest {

// `fx_of_node`: per node of the network the FX node (index into graph.nodes) whose notes describe it.
void ComputeLifetimes(const FxGraph& graph, const std::vector<int>& fx_of_node, Network& network);

// The second rule alone, after ComputeLastUses' first.
void HoldArguments(Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_LIFETIMES_H_
