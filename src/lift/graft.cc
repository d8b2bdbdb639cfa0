#include "src/lift/graft.h"

#include <algorithm>

#include "src/eager/op.h"

namespace memcrest {

void Graft::At(NodeId before, CallId call) {
  before_ = before;
  call_ = call;
}

TensorId Graft::Emit(const char* op, std::vector<TensorId> in, Attrs attrs, absl::string_view name) {
  const TensorId id = static_cast<TensorId>(net_.tensors.size());
  Tensor result;
  result.name = std::string(name);
  result.released_after = 0;  // raised to the last use when the nodes are in
  net_.tensors.push_back(std::move(result));
  Insertion insertion;
  insertion.before = before_;
  insertion.node.op = &Op(op);
  insertion.node.attrs = std::move(attrs);
  insertion.node.in = std::move(in);
  insertion.node.out = {id};
  insertion.node.call = call_;
  insertion.node.origin.evidence = Evidence::kMapping;
  insertions_.push_back(std::move(insertion));
  return id;
}

TensorId Graft::Parameter(Param param, ModuleId owner) {
  const ParamId p = static_cast<ParamId>(net_.params.size());
  if (owner != kNone) net_.modules[static_cast<size_t>(owner)].own.push_back(p);
  Tensor tensor;
  tensor.name = param.fqn;
  tensor.role = Role::kParam;
  tensor.param = p;
  tensor.exported = param.stored;
  net_.params.push_back(std::move(param));
  net_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(net_.tensors.size()) - 1;
}

void Graft::Redirect(TensorId from, TensorId to, NodeId first) {
  const size_t f = static_cast<size_t>(from), t = static_cast<size_t>(to);
  for (size_t n = static_cast<size_t>(first); n < net_.nodes.size(); ++n) {
    std::replace(net_.nodes[n].in.begin(), net_.nodes[n].in.end(), from, to);
  }
  for (Insertion& other : insertions_) {
    if (other.before > first) std::replace(other.node.in.begin(), other.node.in.end(), from, to);
  }
  std::replace(net_.outputs.begin(), net_.outputs.end(), from, to);
  net_.tensors[t].released_after = net_.tensors[f].released_after;
  net_.tensors[t].source = net_.tensors[f].source;
  net_.tensors[t].exported = net_.tensors[f].exported;
  net_.tensors[f].released_after = 0;
}

void Graft::Finish() {
  InsertNodes(net_, std::move(insertions_));
  insertions_.clear();
  for (const auto& [held, until] : holds_) {
    Tensor& tensor = net_.tensors[static_cast<size_t>(held)];
    if (tensor.released_after == kNone || tensor.role != Role::kActivation) continue;
    tensor.released_after = std::max(tensor.released_after, net_.tensors[static_cast<size_t>(until)].def);
  }
  holds_.clear();
}

TensorId ArgumentOf(const Network& net, const Call& call) {
  for (NodeId n = call.begin; n < call.end; ++n) {
    for (const TensorId id : net.nodes[static_cast<size_t>(n)].in) {
      if (id == kNone) continue;
      const Tensor& tensor = net.tensors[static_cast<size_t>(id)];
      if (tensor.role == Role::kInput) return id;
      if (tensor.role == Role::kActivation && tensor.def < call.begin) return id;
    }
  }
  return kNone;
}

TensorId ResultOf(const Network& net, const Call& call) {
  const auto output = [&](TensorId id) {
    return std::find(net.outputs.begin(), net.outputs.end(), id) != net.outputs.end();
  };
  for (NodeId n = call.end; n-- > call.begin;) {
    for (const TensorId id : net.nodes[static_cast<size_t>(n)].out) {
      if (id == kNone) continue;
      if (net.tensors[static_cast<size_t>(id)].last_use >= call.end || output(id)) return id;
    }
  }
  return kNone;
}

}  // namespace memcrest
