#include "src/lift/masks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/eager/op.h"

namespace memcrest {
namespace {

constexpr size_t kMaskOperand = 3;

bool Compares(absl::string_view op) { return op == "le" || op == "lt" || op == "ge" || op == "gt" || op == "tril" || op == "triu"; }

// The library whose models decide on masks by value. Its classes stand in the exporter's notes; without notes a mask that is
// made from an input called a mask, or that looks for packed rows (cumsum over positions), is its work.
bool FromTransformers(const Network& net) {
  return std::any_of(net.modules.begin(), net.modules.end(), [](const Module& m) { return absl::StartsWith(m.cls, "transformers."); });
}

struct Origins {
  bool only_positions = true, compared = false, mask_input = false, packed = false;
};

Origins OriginsOf(const Network& net, TensorId mask) {
  Origins o;
  std::vector<TensorId> stack = {mask};
  std::vector<bool> seen(net.tensors.size());
  while (!stack.empty() && o.only_positions) {
    const TensorId t = stack.back();
    stack.pop_back();
    if (t == kNone || seen[static_cast<size_t>(t)]) continue;
    seen[static_cast<size_t>(t)] = true;
    const Tensor& tensor = net.tensors[static_cast<size_t>(t)];
    const bool buffer = tensor.role == Role::kParam && net.params[static_cast<size_t>(tensor.param)].buffer;
    if (tensor.role == Role::kParam && (!buffer || IsFloating(tensor.exported))) o.only_positions = false;
    if (tensor.role == Role::kInput) {
      if (IsFloating(tensor.exported)) o.only_positions = false;
      o.mask_input = o.mask_input || absl::StrContains(tensor.name, "mask");
    }
    if (tensor.def == kNone) continue;
    const Node& node = net.nodes[static_cast<size_t>(tensor.def)];
    const absl::string_view op = node.op->name;
    o.compared = o.compared || Compares(op);
    o.packed = o.packed || op == "cumsum";
    stack.insert(stack.end(), node.in.begin(), node.in.end());
  }
  return o;
}

}  // namespace

void MarkSkippableMasks(Network& network) {
  const bool transformers = FromTransformers(network);
  TensorId last = kNone;
  Origins origins;
  int64_t marked = 0;
  for (Node& node : network.nodes) {
    if (absl::string_view(node.op->name) != "scaled_dot_product_attention" || node.in.size() <= kMaskOperand) continue;
    const TensorId mask = node.in[kMaskOperand];
    if (mask == kNone) continue;
    if (mask != last) origins = OriginsOf(network, mask);
    last = mask;
    if (!origins.only_positions || !(transformers || origins.mask_input || origins.packed)) continue;
    node.attrs.Set(Key::kMaskKind, std::string(origins.compared ? "causal" : "padding"));
    ++marked;
  }
  if (marked == 0) return;
  network.assumptions.push_back({"A0302", absl::StrCat(marked, " attention masks are made of positions and padding alone: rows are taken to be "
                                                       "unpadded and the mask skipped, as transformers does; --padding true or "
                                                       "--attention-mask as-exported counts it"), 0});
}

}  // namespace memcrest
