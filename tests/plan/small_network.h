// Small networks made in code, for searches that can be checked by trying everything.
//
// Takes: modules opened and closed around operators.  Gives: NetworkFile without an ONNX model; inputs are constants, whose sizes
// the network itself says.
#ifndef MEMCREST_TESTS_PLAN_SMALL_NETWORK_H_
#define MEMCREST_TESTS_PLAN_SMALL_NETWORK_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/plan/prepared.h"

namespace memcrest {

class SmallNetwork {
 public:
  SmallNetwork() { Open(""); }

  TensorId Input(Dims sizes) {
    Tensor t;
    t.role = Role::kConstant;
    t.exported = DType::kFloat32;
    t.dims = std::move(sizes);
    return Add(t);
  }
  TensorId Weight(Dims sizes) {
    Param p;
    p.fqn = absl::StrCat("w", net_.params.size());
    p.dims = std::move(sizes);
    p.order = static_cast<int>(net_.params.size());
    net_.params.push_back(std::move(p));
    Tensor t;
    t.role = Role::kParam;
    t.param = static_cast<ParamId>(net_.params.size() - 1);
    t.exported = DType::kFloat32;
    return Add(t);
  }
  TensorId Run(const char* op, std::vector<TensorId> in, Attrs attrs = {}) {
    Tensor t;
    t.def = static_cast<NodeId>(net_.nodes.size());
    t.exported = DType::kFloat32;
    const TensorId out = Add(t);
    Node node;
    node.op = Ops().Find(op);
    node.attrs = std::move(attrs);
    node.in = std::move(in);
    node.out = {out};
    node.call = open_.back();
    net_.nodes.push_back(std::move(node));
    return out;
  }
  TensorId Linear(TensorId x, int64_t from, int64_t to) { return Run("linear", {x, Weight({to, from}), Weight({to})}); }

  void Open(const std::string& name) {
    const ModuleId parent = open_.empty() ? kNone : net_.calls[static_cast<size_t>(open_.back())].module;
    const std::string above = parent == kNone ? "" : net_.modules[static_cast<size_t>(parent)].path;
    net_.modules.push_back({above.empty() ? name : absl::StrCat(above, ".", name), "", parent, {}});
    Call call;
    call.module = static_cast<ModuleId>(net_.modules.size() - 1);
    call.parent = open_.empty() ? kNone : open_.back();
    call.begin = static_cast<NodeId>(net_.nodes.size());
    net_.calls.push_back(call);
    open_.push_back(static_cast<CallId>(net_.calls.size() - 1));
  }
  void Close() {
    net_.calls[static_cast<size_t>(open_.back())].end = static_cast<NodeId>(net_.nodes.size());
    open_.pop_back();
  }

  std::unique_ptr<NetworkFile> Finish(TensorId output) {
    Close();
    net_.outputs = {output};
    ComputeLastUses(net_);
    auto file = std::make_unique<NetworkFile>();
    file->network = std::move(net_);
    file->device = *FindDevice("a100-40gb");
    return file;
  }

 private:
  TensorId Add(Tensor t) {
    net_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(net_.tensors.size() - 1);
  }

  Network net_;
  std::vector<CallId> open_;
};

}  // namespace memcrest

#endif  // MEMCREST_TESTS_PLAN_SMALL_NETWORK_H_
