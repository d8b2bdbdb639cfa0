// The functions that a model defines, by identity, before and while they are inlined.
//
// Takes: FunctionProto messages.  Gives: which node calls which function. Internal to src/onnx.
#ifndef MEMCREST_ONNX_FUNCTION_TABLE_H_
#define MEMCREST_ONNX_FUNCTION_TABLE_H_

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "src/onnx/model.h"

namespace memcrest::onnx {

struct Function {
  absl::string_view domain, name, overload;
  absl::string_view message;            // FunctionProto
  absl::flat_hash_map<absl::string_view, Attribute> defaults;  // attribute_proto: parameters with a default
  std::vector<std::pair<absl::string_view, int64_t>> opsets;
  Graph body;                           // decoded when a call is reached
  int origin = -1;                      // index into Model::inlined_from
  int64_t flat_nodes = 0;               // nodes of the body once its own calls are inlined
  bool has_sub_graphs = false;          // of the body, once its own calls are inlined
};

// While functions are not inlined yet, Node::function of a call is CallMark(index of the function), below -1.
inline constexpr int CallMark(int function) { return -2 - function; }
inline constexpr bool IsCall(int node_function) { return node_function < -1; }

class FunctionTable {
 public:
  // False if a function of that identity exists already.
  bool Add(Function function) {
    const Key key(function.domain, function.name, function.overload);
    if (!index_.emplace(key, static_cast<int>(functions_.size())).second) return false;
    functions_.push_back(std::move(function));
    return true;
  }
  // The function that a node calls; -1 if it is an operator.
  int Find(absl::string_view domain, absl::string_view op_type, absl::string_view overload) const {
    if (index_.empty()) return -1;
    const auto found = index_.find(Key(domain, op_type, overload));
    return found == index_.end() ? -1 : found->second;
  }
  bool empty() const { return functions_.empty(); }
  int size() const { return static_cast<int>(functions_.size()); }
  Function& at(int i) { return functions_[static_cast<size_t>(i)]; }
  const Function& at(int i) const { return functions_[static_cast<size_t>(i)]; }

 private:
  using Key = std::tuple<absl::string_view, absl::string_view, absl::string_view>;
  std::vector<Function> functions_;
  absl::flat_hash_map<Key, int> index_;
};

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_FUNCTION_TABLE_H_
