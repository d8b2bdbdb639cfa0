#include "src/graph/network.h"

#include <algorithm>

namespace memcrest {

const std::string& ModulePath(const Network& network, CallId call) {
  static const std::string& root = *new std::string();
  if (call < 0 || static_cast<size_t>(call) >= network.calls.size()) return root;
  const ModuleId module = network.calls[static_cast<size_t>(call)].module;
  if (module < 0 || static_cast<size_t>(module) >= network.modules.size()) return root;
  return network.modules[static_cast<size_t>(module)].path;
}

void ComputeLastUses(Network& network) {
  for (Tensor& tensor : network.tensors) tensor.last_use = kNone;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    for (const TensorId id : network.nodes[i].in) {
      if (id != kNone) network.tensors[static_cast<size_t>(id)].last_use = static_cast<NodeId>(i);
    }
  }
  std::vector<bool> is_output(network.tensors.size(), false);
  for (const TensorId id : network.outputs) is_output[static_cast<size_t>(id)] = true;
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    Tensor& tensor = network.tensors[i];
    if (is_output[i] || tensor.released_after != kNone) continue;
    // A result that nobody reads dies when its node has run.
    tensor.released_after = std::max(tensor.last_use, tensor.def);
  }
}

}  // namespace memcrest
