#include "src/lift/base_layers.h"

#include <algorithm>
#include <iterator>

#include "src/eager/op.h"

namespace memcrest {
namespace {

// What may stand between a head and the result: layout, scales, soft caps.
constexpr absl::string_view kPassing[] = {"view", "reshape", "to", "mul", "div", "tanh", "slice", "select", "squeeze"};

bool Stored(const Network& net, const Node& node, size_t i, size_t rank) {
  if (i >= node.in.size() || node.in[i] == kNone) return false;
  const Tensor& t = net.tensors[static_cast<size_t>(node.in[i])];
  if (t.role != Role::kParam) return false;
  const size_t have = net.params[static_cast<size_t>(t.param)].dims.size();
  return rank == 0 ? have >= 3 : have == rank;
}

TensorId Operand(const Node& node, size_t i) { return i < node.in.size() ? node.in[i] : kNone; }

std::optional<BaseLayer> LayerAt(const Network& net, NodeId n) {
  const Node& node = net.nodes[static_cast<size_t>(n)];
  const absl::string_view op = node.op->name;
  BaseLayer layer;
  layer.node = n;
  const auto sizes = [&] {
    return net.params[static_cast<size_t>(net.tensors[static_cast<size_t>(layer.weight)].param)].dims;
  };
  if (op == "linear" && Stored(net, node, 1, 2)) {
    layer.weight = node.in[1];
    layer.bias = Operand(node, 2);
    layer.out = sizes()[0];
    layer.in = sizes()[1];
  } else if (op == "addmm" && Stored(net, node, 2, 2)) {
    layer.kind = LayerKind::kConv1d;
    layer.weight = node.in[2];
    layer.bias = node.in[0];
    layer.in = sizes()[0];
    layer.out = sizes()[1];
  } else if (op == "convolution" && Stored(net, node, 1, 0) && !node.attrs.Bool(Key::kTransposed)) {
    layer.kind = LayerKind::kConvolution;
    layer.weight = node.in[1];
    layer.bias = Operand(node, 2);
    layer.out = sizes()[0];
    layer.in = sizes()[1] * node.attrs.Int(Key::kGroups, 1);
  } else if (op == "linear_4bit" || op == "linear_8bit") {
    layer.kind = op == "linear_4bit" ? LayerKind::k4Bit : LayerKind::k8Bit;
    layer.weight = node.in[1];
    layer.bias = Operand(node, 2);
    layer.out = node.attrs.Ints(Key::kSizes)->front();
    layer.in = node.attrs.Ints(Key::kSizes)->back();
  } else {
    return std::nullopt;
  }
  return layer;
}

}  // namespace

std::optional<BaseLayer> BaseLayerOf(const Network& net, CallId c) {
  const Call& call = net.calls[static_cast<size_t>(c)];
  std::optional<BaseLayer> found;
  for (NodeId n = call.begin; n < call.end; ++n) {
    const Node& node = net.nodes[static_cast<size_t>(n)];
    const absl::string_view op = node.op->name;
    if (node.call != c) return std::nullopt;
    if (op == "view" || op == "reshape" || op == "contiguous" || op == "to") continue;
    if (found.has_value()) return std::nullopt;
    found = LayerAt(net, n);
    if (!found.has_value()) return std::nullopt;
  }
  return found;
}

ModuleId HeadOf(const Network& net) {
  if (net.outputs.empty() || net.outputs[0] == kNone) return kNone;
  TensorId t = net.outputs[0];
  for (NodeId n = net.tensors[static_cast<size_t>(t)].def; n != kNone;) {
    const Node& node = net.nodes[static_cast<size_t>(n)];
    if (BaseLayerOf(net, node.call).has_value()) return net.calls[static_cast<size_t>(node.call)].module;
    const absl::string_view op = node.op->name;
    const bool passes = std::find(std::begin(kPassing), std::end(kPassing), op) != std::end(kPassing);
    t = node.in.empty() || !passes ? kNone : node.in[0];
    n = t == kNone ? kNone : net.tensors[static_cast<size_t>(t)].def;
  }
  return kNone;
}

}  // namespace memcrest
