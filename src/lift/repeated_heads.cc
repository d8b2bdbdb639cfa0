#include "src/lift/repeated_heads.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "src/eager/op.h"

namespace memcrest {
namespace {

const Node* Definition(const Network& net, TensorId id) {
  const NodeId def = id == kNone ? kNone : net.tensors[static_cast<size_t>(id)].def;
  return def == kNone ? nullptr : &net.nodes[static_cast<size_t>(def)];
}

// Steps over the definition of `id` if it is one of `ops`: to what it reads.
bool Over(const Network& net, TensorId& id, std::initializer_list<absl::string_view> ops) {
  const Node* const node = Definition(net, id);
  if (node == nullptr || node->in.empty() || std::find(ops.begin(), ops.end(), node->op->name) == ops.end())
    return false;
  id = node->in[0];
  return true;
}

}  // namespace

TensorId BeforeRepeat(const Network& network, TensorId heads) {
  TensorId id = heads;
  if (Over(network, id, {"repeat_interleave"})) return id;
  if (!Over(network, id, {"_unsafe_view", "view", "reshape"})) return kNone;
  Over(network, id, {"clone", "contiguous"});
  if (!Over(network, id, {"expand"})) return kNone;
  while (Over(network, id, {"slice"})) {
  }
  return Over(network, id, {"unsqueeze"}) ? id : kNone;
}

void HoldUnrepeatedHeads(Network& network) {
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const Node& node = network.nodes[n];
    if (!node.attrs.Has(Key::kMaskKind) || node.in.size() < 3) continue;
    for (const size_t operand : {size_t{1}, size_t{2}}) {
      const TensorId id = BeforeRepeat(network, node.in[operand]);
      if (id == kNone) continue;
      NodeId& released = network.tensors[static_cast<size_t>(id)].released_after;
      if (released != kNone) released = std::max(released, static_cast<NodeId>(n));
    }
  }
}

}  // namespace memcrest
