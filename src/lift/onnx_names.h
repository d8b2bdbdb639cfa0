// Modules from the names that the TorchScript exporter gives its nodes: "/model/layer1/layer1.0/conv1/Conv".
//
// A segment that starts with its parent's ("layer1/layer1.0") repeats it; a number behind a known module ("relu_1") is a later
// call of the same one, unless parameters or modules of that name exist. Names of modules that were called without their parent
// (net.encode() instead of net()) lack its segment: it is put back where the parameters tell it.
#ifndef MEMCREST_LIFT_ONNX_NAMES_H_
#define MEMCREST_LIFT_ONNX_NAMES_H_

#include <deque>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "src/lift/modules.h"
#include "src/onnx/model.h"

namespace memcrest {

class OnnxNames {
 public:
  explicit OnnxNames(const onnx::Model& model);
  // The modules around a node of that name; empty for names without scopes. The views stay valid as long as this lives.
  const Scopes& ScopesOf(absl::string_view node_name);

 private:
  bool IsModule(absl::string_view path) const { return known_.contains(path); }
  absl::string_view Keep(std::string text);
  bool IsBelowRoot(absl::string_view first_segment) const;

  std::deque<std::string> kept_;
  absl::string_view root_;                        // the one module that holds all parameters; empty if there is none
  absl::flat_hash_set<absl::string_view> known_;  // paths that parameters name
  absl::flat_hash_set<absl::string_view> seen_;   // paths of nodes so far
  absl::node_hash_map<absl::string_view, Scopes> by_prefix_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_ONNX_NAMES_H_
