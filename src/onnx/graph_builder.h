// One graph under construction: names become dense ids, definitions are checked.
//
// Takes: inputs, initializers, nodes, outputs and declared types, in this order.  Gives: a Graph whose every value has
// exactly one definition, or is captured from around a sub-graph. Guarantees: linear time; problems are collected, not
// only the first. Internal to src/onnx.
#ifndef MEMCREST_ONNX_GRAPH_BUILDER_H_
#define MEMCREST_ONNX_GRAPH_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "src/onnx/context.h"
#include "src/onnx/model.h"
#include "src/onnx/sort.h"

namespace memcrest::onnx {

class GraphBuilder {
 public:
  // `captures`: names without a definition come from enclosing graphs (sub-graphs); otherwise they are problems.
  GraphBuilder(Graph& graph, bool captures, Context& context) : graph_(graph), captures_(captures), context_(context) {}

  void Reserve(size_t inputs, size_t initializers, size_t nodes);
  // A name and its declared type. An input without a name keeps its place but nothing can refer to it.
  void AddInput(Value declared);
  void AddInitializer(Literal literal);
  void AddOutput(Value declared);
  // A declared type; ignored where the name does not occur or the type is known.
  void Declare(Value declared);

  // The id of a name that a node uses; kNoValue for "".
  ValueId Use(absl::string_view name) { return name.empty() ? kNoValue : Intern(name); }
  // The id of a name that node `node` (of graph.nodes, complete but for its outputs) defines; kNoValue for "".
  ValueId Define(absl::string_view name, int node);
  // A name that a sub-graph of node `node` captures.
  void AddHiddenUse(int node, absl::string_view name) { hidden_uses_.emplace_back(node, Use(name)); }

  // Checks definitions, fills `captured`, sorts the nodes. False if there are problems.
  bool Finish();

 private:
  ValueId Intern(absl::string_view name);
  Value& at(ValueId id) { return graph_.values[static_cast<size_t>(id)]; }
  void ReportTwice(const Value& value, absl::string_view again);
  std::string MakerOf(const Value& value) const;
  std::vector<ValueId> UndefinedValues() const;
  void ReportUndefined(const std::vector<ValueId>& values);
  void ReportCycle(const std::vector<int>& nodes);

  Graph& graph_;
  const bool captures_;
  Context& context_;
  absl::flat_hash_map<absl::string_view, ValueId> ids_;
  std::vector<HiddenUse> hidden_uses_;
};

// "node 12 \"/fc/MatMul\" (MatMul)", for messages.
std::string DescribeNode(const Graph& graph, int node);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_GRAPH_BUILDER_H_
