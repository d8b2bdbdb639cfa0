// Verify: the invariants that every stage after lift relies on.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/graph/network.h"

namespace memcrest {
namespace {

class Verifier {
 public:
  explicit Verifier(const Network& network) : net_(network) {}

  std::vector<std::string> Run() {
    CheckModules();
    CheckCalls();
    CheckTensors();
    CheckNodes();
    CheckEnds();
    return std::move(broken_);
  }

 private:
  template <typename... Parts>
  void Broken(const Parts&... parts) { broken_.push_back(absl::StrCat(parts...)); }
  template <typename T>
  static bool In(int32_t id, const std::vector<T>& list) { return id >= 0 && static_cast<size_t>(id) < list.size(); }
  template <typename T>
  static bool InOrNone(int32_t id, const std::vector<T>& list) { return id == kNone || In(id, list); }

  void CheckModules() {
    if (net_.modules.empty()) return Broken("there is no root module");
    for (size_t i = 0; i < net_.modules.size(); ++i) {
      const Module& module = net_.modules[i];
      const bool sound = i == 0 ? module.parent == kNone : module.parent >= 0 && static_cast<size_t>(module.parent) < i;
      if (!sound) Broken("module ", i, " (", module.path, "): its parent ", module.parent, " does not stand before it");
      for (const ParamId param : module.own) {
        if (!In(param, net_.params)) Broken("module ", i, " owns parameter ", param, ", which does not exist");
      }
    }
  }

  void CheckCalls() {
    if (net_.calls.empty()) return Broken("there is no root call");
    const NodeId nodes = static_cast<NodeId>(net_.nodes.size());
    if (net_.calls[0].begin != 0 || net_.calls[0].end != nodes) Broken("the root call does not hold all nodes");
    std::vector<NodeId> free_from(net_.calls.size(), 0);  // where the next child may begin, per call
    for (size_t i = 0; i < net_.calls.size(); ++i) CheckCall(i, free_from);
  }

  void CheckCall(size_t i, std::vector<NodeId>& free_from) {
    const Call& call = net_.calls[i];
    if (!In(call.module, net_.modules)) Broken("call ", i, " is of module ", call.module, ", which does not exist");
    if (call.begin > call.end) Broken("call ", i, " ends before it begins");
    free_from[i] = call.begin;
    if (i == 0) {
      if (call.parent != kNone) Broken("the root call has a parent");
      return;
    }
    if (call.parent < 0 || static_cast<size_t>(call.parent) >= i)
      return Broken("call ", i, ": its parent does not stand before it");
    const size_t parent = static_cast<size_t>(call.parent);
    const Call& outer = net_.calls[parent];
    if (call.begin < outer.begin || call.end > outer.end) Broken("call ", i, " reaches out of its parent ", parent);
    if (call.begin < free_from[parent]) Broken("call ", i, " overlaps the call before it in call ", parent);
    free_from[parent] = call.end;
  }

  void CheckTensors() {
    for (size_t i = 0; i < net_.tensors.size(); ++i) {
      const Tensor& tensor = net_.tensors[i];
      if (!InOrNone(tensor.def, net_.nodes)) Broken("tensor ", i, ": its node ", tensor.def, " does not exist");
      if ((tensor.role == Role::kParam) != (tensor.param != kNone))
        Broken("tensor ", i, ": role and parameter disagree");
      if (!InOrNone(tensor.param, net_.params))
        Broken("tensor ", i, ": its parameter ", tensor.param, " does not exist");
      if (tensor.role != Role::kActivation && tensor.def != kNone)
        Broken("tensor ", i, " is not computed, yet has a node");
      if (!InOrNone(tensor.last_use, net_.nodes)) Broken("tensor ", i, ": its last use does not exist");
      if (!InOrNone(tensor.released_after, net_.nodes)) Broken("tensor ", i, ": released_after does not exist");
      if (tensor.released_after != kNone && tensor.released_after < tensor.last_use) {
        Broken("tensor ", i, " is released after node ", tensor.released_after, ", but node ", tensor.last_use,
               " reads it");
      }
    }
  }

  void CheckNodes() {
    std::vector<bool> defined(net_.tensors.size(), false);
    for (size_t i = 0; i < net_.tensors.size(); ++i) defined[i] = net_.tensors[i].role != Role::kActivation;
    for (size_t i = 0; i < net_.nodes.size(); ++i) CheckNode(i, defined);
    for (size_t i = 0; i < net_.tensors.size(); ++i) {
      if (!defined[i]) Broken("tensor ", i, " (", net_.tensors[i].name, ") is defined by no node");
    }
  }

  void CheckNode(size_t i, std::vector<bool>& defined) {
    const Node& node = net_.nodes[i];
    if (node.op == nullptr) Broken("node ", i, " has no operator");
    CheckCallOf(i, node);
    for (const TensorId id : node.in) {
      if (id == kNone) continue;
      if (!In(id, net_.tensors)) Broken("node ", i, " reads tensor ", id, ", which does not exist");
      else if (!defined[static_cast<size_t>(id)]) Broken("node ", i, " reads tensor ", id, " before it is defined");
    }
    for (const TensorId id : node.out) {
      if (id == kNone) continue;
      if (!In(id, net_.tensors)) { Broken("node ", i, " writes tensor ", id, ", which does not exist"); continue; }
      if (defined[static_cast<size_t>(id)]) Broken("node ", i, " defines tensor ", id, " again");
      if (net_.tensors[static_cast<size_t>(id)].def != static_cast<NodeId>(i))
        Broken("tensor ", id, " names another node than ", i);
      defined[static_cast<size_t>(id)] = true;
    }
  }

  // The node's call is the innermost one around it.
  void CheckCallOf(size_t i, const Node& node) {
    if (!In(node.call, net_.calls)) return Broken("node ", i, " is in call ", node.call, ", which does not exist");
    const Call& call = net_.calls[static_cast<size_t>(node.call)];
    const NodeId id = static_cast<NodeId>(i);
    if (id < call.begin || id >= call.end) Broken("node ", i, " is outside its call ", node.call);
  }

  void CheckEnds() {
    for (const TensorId id : net_.inputs) {
      if (!In(id, net_.tensors)) Broken("input ", id, " does not exist");
    }
    for (const TensorId id : net_.outputs) {
      if (!In(id, net_.tensors)) Broken("output ", id, " does not exist");
    }
  }

  const Network& net_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> Verify(const Network& network) { return Verifier(network).Run(); }

}  // namespace memcrest
