// Modules, and the calls of modules, from the scopes that the exporter notes on each node.
//
// Takes: nodes in execution order with the modules around each ("['', 'model', 'model.fc', 'linear']").
// Gives: Network::modules and Network::calls; one call per execution: leaving a module and entering it again is a new
// call, and so is starting over without leaving (a shared layer in a loop), seen by the call's first parameter-reading
// operator coming round again. Calls nest as contiguous node ranges.
#ifndef MEMCREST_LIFT_MODULES_H_
#define MEMCREST_LIFT_MODULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "src/graph/network.h"
#include "src/onnx/model.h"

namespace memcrest {

struct Scope {
  absl::string_view path;  // "model.layers.0", without the "@1" of repeated calls
  absl::string_view cls;
  int repeat = 0;          // the number after "@"
};
using Scopes = absl::InlinedVector<Scope, 10>;  // outermost first; without the root and without the operator itself

// The modules around a node; empty where the note is missing or names none.
Scopes ParseScopes(const onnx::ExporterNotes& notes);
// The part both share.
Scopes CommonScopes(const Scopes& a, const Scopes& b);

// The class of the root module ("oracle.Wrapped") as the first node's note gives it; may be empty.
absl::string_view RootClass(const onnx::Model& model);

class CallTree {
 public:
  // `network` must outlive the tree; it gets the root module and the root call here.
  CallTree(Network& network, absl::string_view root_class);

  // The call that the next node (index network.nodes.size()) runs in. `position` identifies the operator inside its
  // module; `marks_start`: if this position comes again within the call it was first in, the module has been called
  // again.
  CallId Enter(const Scopes& scopes, uint64_t position, bool marks_start);
  // The last node ran inside of all these modules.
  bool Running(const Scopes& scopes) const;
  // Closes all open calls at network.nodes.size().
  void Finish();

  // The module of that path, made if new; its parent is the module with the longest path that is a prefix.
  ModuleId ModuleAt(absl::string_view path, absl::string_view cls);
  // Gives every parameter to the module that its name says, made if it never ran.
  void OwnParams();

 private:
  struct Open {
    CallId call;
    ModuleId module;
    int repeat;
    uint64_t first = 0;
    bool first_marks = false;
  };
  size_t Kept(const Scopes& scopes, uint64_t position, bool marks_start) const;
  void Push(const Scope& scope, uint64_t position, bool marks_start);
  ModuleId ParentOf(absl::string_view path) const;

  Network& net_;
  std::vector<Open> open_;  // without the root
  absl::flat_hash_map<std::string, ModuleId> by_path_;
  std::vector<int> executions_;  // per module
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_MODULES_H_
