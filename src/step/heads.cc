#include "src/step/heads.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "src/eager/op.h"

namespace memcrest {
namespace {

// The call of the wrapped model's child ("model.NAME") that runs most nodes.
CallId LargestChild(const Network& net) {
  CallId best = kNone;
  NodeId most = 0;
  for (size_t c = 0; c < net.calls.size(); ++c) {
    const Call& call = net.calls[c];
    if (call.module == kNone) continue;
    const std::string& path = net.modules[static_cast<size_t>(call.module)].path;
    if (std::count(path.begin(), path.end(), '.') != 1 || call.end - call.begin <= most) continue;
    most = call.end - call.begin;
    best = static_cast<CallId>(c);
  }
  return best;
}

bool ReadAfter(const Network& net, TensorId t, NodeId end) { return net.tensors[static_cast<size_t>(t)].last_use >= end; }

}  // namespace

BaseModel FindBaseModel(const Network& network) {
  const CallId child = LargestChild(network);
  if (child == kNone) return {};
  const Call& call = network.calls[static_cast<size_t>(child)];
  for (NodeId n = call.end; n-- > call.begin;) {
    for (const TensorId t : network.nodes[static_cast<size_t>(n)].out) {
      if (t != kNone && ReadAfter(network, t, call.end)) return {call.end, t};
    }
  }
  return {};
}

Head FindHead(const Network& network) {
  if (network.outputs.empty()) return {};
  NodeId n = network.tensors[static_cast<size_t>(network.outputs[0])].def;
  while (n != kNone) {
    const Node& node = network.nodes[static_cast<size_t>(n)];
    const auto parameter = [&](size_t i) {
      if (i >= node.in.size() || node.in[i] == kNone) return TensorId{kNone};
      return network.tensors[static_cast<size_t>(node.in[i])].role == Role::kParam ? node.in[i] : TensorId{kNone};
    };
    if (absl::string_view(node.op->name) == "linear" && parameter(1) != kNone) return {parameter(1), parameter(2)};
    if (node.in.empty() || node.in[0] == kNone) return {};
    n = network.tensors[static_cast<size_t>(node.in[0])].def;
  }
  return {};
}

}  // namespace memcrest
