// Adding nodes to a finished network: ids, calls and lifetimes move along.
#ifndef MEMCREST_GRAPH_INSERT_H_
#define MEMCREST_GRAPH_INSERT_H_

#include <vector>

#include "src/graph/network.h"

namespace memcrest {

// `node` runs before what is now node `before` (the number of nodes: at the end), inside `node.call`. Its results are
// tensors that the caller has added to the network and that no other node defines.
struct Insertion {
  NodeId before = 0;
  Node node;
};

// Insertions of one place run in the order of the list. Afterwards definitions and last uses are right again; a
// result's release is never before its last use. Node ids held outside the network are stale. Cost: linear.
void InsertNodes(Network& network, std::vector<Insertion> insertions);

}  // namespace memcrest

#endif  // MEMCREST_GRAPH_INSERT_H_
