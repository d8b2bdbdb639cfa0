// Building new operators into a lifted network: what peft, bitsandbytes or a hook add around the calls of a module.
//
// Takes: a finished network.  Gives: the same network with more nodes, parameters and tensors; call Finish() once.
// New results die after their last use, as expression temporaries do; Hold() says which have a Python name that lasts
// longer. New parameters have no module of their own: they belong to the module that is named.
#ifndef MEMCREST_LIFT_GRAFT_H_
#define MEMCREST_LIFT_GRAFT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/graph/insert.h"
#include "src/graph/network.h"

namespace memcrest {

class Graft {
 public:
  explicit Graft(Network& network) : net_(network) {}

  // From here on nodes run just before what is now node `before`, inside `call`.
  void At(NodeId before, CallId call);
  // A node with one result, which has this name.
  TensorId Emit(const char* op, std::vector<TensorId> in, Attrs attrs, absl::string_view name);
  // A parameter registered after all others; the tensor that stands for it.
  TensorId Parameter(Param param, ModuleId owner);
  // Everything from node `first` on, outputs included, reads `to` in place of `from`; `from` then dies with its last use.
  void Redirect(TensorId from, TensorId to, NodeId first);
  // `held` is not released before the node that makes `until` has run.
  void Hold(TensorId held, TensorId until) { holds_.emplace_back(held, until); }
  void Finish();

 private:
  Network& net_;
  NodeId before_ = 0;
  CallId call_ = kNone;
  std::vector<Insertion> insertions_;
  std::vector<std::pair<TensorId, TensorId>> holds_;
};

// What a call reads first of what was made before it, and what is made in it and read after it (or an output); kNone if
// there is none.
TensorId ArgumentOf(const Network& network, const Call& call);
TensorId ResultOf(const Network& network, const Call& call);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_GRAFT_H_
