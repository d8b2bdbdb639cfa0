// Names for values that come out of function bodies: readable, and unlike any name in the model.
#ifndef MEMCREST_ONNX_FRESH_NAMES_H_
#define MEMCREST_ONNX_FRESH_NAMES_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "src/onnx/context.h"
#include "src/onnx/model.h"

namespace memcrest::onnx {

class FreshNames {
 public:
  explicit FreshNames(Context& context) : context_(context) {}

  // Takes all value names of a graph and of its sub-graphs.
  void Avoid(const Graph& graph) {
    for (const Value& value : graph.values) taken_.insert(value.name);
    for (const Node& node : graph.nodes) {
      for (const Attribute& attribute : node.attributes) {
        for (const auto& body : attribute.graphs) Avoid(*body);
      }
    }
  }

  // "PREFIX/NAME", or "PREFIX/NAME#K" where that is taken. K only grows, so that many clashes stay linear.
  absl::string_view Make(absl::string_view prefix, absl::string_view name) {
    std::string candidate = absl::StrCat(prefix, "/", name);
    while (taken_.contains(candidate)) candidate = absl::StrCat(prefix, "/", name, "#", ++suffix_);
    context_.Charge(static_cast<int64_t>(candidate.size()) + 80);
    const absl::string_view kept = context_.Keep(std::move(candidate));
    taken_.insert(kept);
    return kept;
  }

  // A prefix for what a call makes: the node's name, or its operator with a number.
  absl::string_view PrefixOf(const Node& call) {
    if (!call.name.empty()) return call.name;
    return context_.Keep(absl::StrCat(call.op_type, "#", ++suffix_));
  }

 private:
  Context& context_;
  absl::flat_hash_set<absl::string_view> taken_;
  int64_t suffix_ = 0;
};

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_FRESH_NAMES_H_
