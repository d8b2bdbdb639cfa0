// The narrow places of a network: operators that everything after them depends on.
//
// Takes: Network.  Gives: nodes whose first result lies on every path by which a gradient can reach the outputs: where
// a pipeline or a checkpointed region can be cut with one tensor crossing. Masks, positions and other tensors that no
// parameter went into do not count as crossing. Cost: nearly linear (dominator tree, Boost.Graph).
#ifndef MEMCREST_GRAPH_CUT_POINTS_H_
#define MEMCREST_GRAPH_CUT_POINTS_H_

#include <vector>

#include "src/graph/network.h"

namespace memcrest {

// In execution order; empty if there is none, or if no parameter reaches an output.
std::vector<NodeId> CutPoints(const Network& network);

}  // namespace memcrest

#endif  // MEMCREST_GRAPH_CUT_POINTS_H_
