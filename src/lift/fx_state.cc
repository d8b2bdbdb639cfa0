#include "src/lift/fx_state.h"

#include "absl/hash/hash.h"
#include "absl/strings/match.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

// Modules of torch.nn that are one operator: called again means executed again.
bool IsAtomic(absl::string_view cls) {
  for (const absl::string_view family :
       {"activation.", "dropout.", "pooling.", "padding.", "upsampling.", "flatten."}) {
    if (absl::StrContains(cls, family)) return !absl::EndsWith(cls, "MultiheadAttention");
  }
  return false;
}

}  // namespace

FxState::FxState(const FxGraph& graph, Network& network)
    : fx(graph), net(network), params(graph, network), calls(network, RootClass(*graph.model)),
      by_value(graph.model->graph.values.size(), kNone), of_param_(network.params.size(), kNone) {}

const onnx::Literal* FxState::LiteralOf(ValueId v) const {
  const int index = ValueAt(v).initializer;
  return index < 0 ? nullptr : &fx.model->graph.initializers[static_cast<size_t>(index)];
}

TensorId FxState::NewTensor(std::string name, ValueId source) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.source = source;
  if (source != kNoValue) tensor.exported = ValueAt(source).dtype;
  net.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(net.tensors.size()) - 1;
}

TensorId FxState::OfParam(ParamId id) {
  TensorId& tensor = of_param_[static_cast<size_t>(id)];
  if (tensor != kNone) return tensor;
  Param& param = net.params[static_cast<size_t>(id)];
  param.used = true;
  tensor = NewTensor(param.fqn, kNoValue);
  net.tensors.back().role = Role::kParam;
  net.tensors.back().param = id;
  net.tensors.back().exported = param.stored;
  return tensor;
}

TensorId FxState::Constant(ValueId v) {
  TensorId& tensor = by_value[static_cast<size_t>(v)];
  if (tensor != kNone) return tensor;
  tensor = NewTensor(std::string(ValueAt(v).name), v);
  net.tensors.back().role = Role::kConstant;
  if (const onnx::Literal* const literal = LiteralOf(v); literal != nullptr) {
    net.tensors.back().dims = literal->dims;
    net.tensors.back().exported = literal->dtype;
  }
  return tensor;
}

TensorId FxState::OfOutside(ValueId v) {
  const onnx::Value& value = ValueAt(v);
  if (by_value[static_cast<size_t>(v)] != kNone) return by_value[static_cast<size_t>(v)];
  if (value.initializer >= 0) {
    const ParamId id = params.OfName(value.name);
    return id != kNone ? OfParam(id) : Constant(v);
  }
  if (!value.is_input) return kNone;
  const TensorId id = NewTensor(std::string(value.name), v);
  net.tensors.back().role = Role::kInput;
  return by_value[static_cast<size_t>(v)] = id;
}

TensorId FxState::Emit(Emission emission, const Scopes& scopes, int fx_index) {
  Node node;
  node.op = Ops().Find(emission.op);
  if (node.op == nullptr) {
    node.op = &Op("unknown");
    emission.attrs.Set(Key::kReplaces, std::string(emission.op));
    emission.evidence = Evidence::kFallback;
  }
  bool reads_param = false;
  uint64_t position = absl::HashOf(emission.op, scopes.empty() ? absl::string_view() : scopes.back().path);
  for (const TensorId id : emission.in) {
    if (id == kNone || net.tensors[static_cast<size_t>(id)].role != Role::kParam) continue;
    reads_param = true;
    position = absl::HashOf(position, id);
    if (!scopes.empty())
      reads.emplace_back(std::string(scopes.back().path), net.tensors[static_cast<size_t>(id)].param);
  }
  node.call = calls.Enter(scopes, position, reads_param || (!scopes.empty() && IsAtomic(scopes.back().cls)));
  node.attrs = std::move(emission.attrs);
  node.in.assign(emission.in.begin(), emission.in.end());
  const FxNode& made_for = fx.nodes[static_cast<size_t>(fx_index)];
  node.origin = {made_for.first, made_for.count, emission.evidence, kNone};
  const NodeId here = static_cast<NodeId>(net.nodes.size());
  for (auto& [name, source] : emission.out) {
    if (name.empty()) {
      node.out.push_back(kNone);
      continue;
    }
    node.out.push_back(NewTensor(std::move(name), source));
    net.tensors.back().def = here;
  }
  const TensorId first = node.out.empty() ? kNone : node.out.front();
  net.nodes.push_back(std::move(node));
  fx_of_node.push_back(fx_index);
  return first;
}

Scopes FxState::CallersOf(const Scopes& scopes) {
  Scopes callers = scopes;
  if (!callers.empty() && absl::StartsWith(callers.back().cls, "torch.nn.modules.")) callers.pop_back();
  return callers;
}

}  // namespace memcrest
