// What crosses the border of a call, for engines that hook modules: the activations that enter it and those that leave.
#ifndef MEMCREST_STEP_ENGINES_CALL_EDGES_H_
#define MEMCREST_STEP_ENGINES_CALL_EDGES_H_

#include <algorithm>
#include <vector>

#include "src/graph/network.h"

namespace memcrest {

struct CallEdges {
  std::vector<TensorId> in;   // made before the call, read in it, in order of first use
  std::vector<TensorId> out;  // made in the call, read after it or returned by the network
};

inline CallEdges EdgesOf(const Network& net, CallId id) {
  const Call& call = net.calls[static_cast<size_t>(id)];
  CallEdges edges;
  for (NodeId n = call.begin; n < call.end; ++n) {
    const Node& node = net.nodes[static_cast<size_t>(n)];
    for (const TensorId t : node.in) {
      if (t == kNone) continue;
      const Tensor& tensor = net.tensors[static_cast<size_t>(t)];
      if (tensor.role != Role::kActivation || tensor.def >= call.begin) continue;
      if (std::find(edges.in.begin(), edges.in.end(), t) == edges.in.end()) edges.in.push_back(t);
    }
    for (const TensorId t : node.out) {
      if (t == kNone) continue;
      const bool returned = std::find(net.outputs.begin(), net.outputs.end(), t) != net.outputs.end();
      if (returned || net.tensors[static_cast<size_t>(t)].last_use >= call.end) edges.out.push_back(t);
    }
  }
  return edges;
}

}  // namespace memcrest

#endif  // MEMCREST_STEP_ENGINES_CALL_EDGES_H_
