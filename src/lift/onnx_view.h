// Questions about an ONNX graph that patterns ask: who makes a value, who reads it, is it a number.
//
// Takes: onnx::Model.  Gives: OnnxView, built in linear time. Node and value ids are those of the top graph.
#ifndef MEMCREST_LIFT_ONNX_VIEW_H_
#define MEMCREST_LIFT_ONNX_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "src/onnx/model.h"

namespace memcrest {

class OnnxView {
 public:
  explicit OnnxView(const onnx::Model& model);

  const onnx::Model& model() const { return model_; }
  const onnx::Graph& graph() const { return model_.graph; }
  const onnx::Node& node(int index) const { return graph().nodes[static_cast<size_t>(index)]; }
  const onnx::Value& value(onnx::ValueId v) const { return graph().values[static_cast<size_t>(v)]; }

  // Index of the node that makes `v` (looking through Identity), -1 for inputs, initializers and absent values.
  int Maker(onnx::ValueId v) const;
  // The node that makes `v` if it is one of that type; -1 otherwise.
  int MakerOf(onnx::ValueId v, absl::string_view op_type) const;
  absl::Span<const int> Users(onnx::ValueId v) const;
  bool IsOutput(onnx::ValueId v) const { return is_output_[static_cast<size_t>(v)]; }
  // Read once, by a node, and not a graph output: it can disappear into a pattern.
  bool UsedOnce(onnx::ValueId v) const { return v >= 0 && Users(v).size() == 1 && !IsOutput(v); }
  onnx::ValueId Through(onnx::ValueId v) const;  // the value behind Identity nodes

  // A stored tensor: initializer or Constant; nullptr if computed.
  const onnx::Literal* LiteralOf(onnx::ValueId v) const;
  // A number that the file states: one element, also behind Cast, Sqrt, Reciprocal, Mul and Div of numbers.
  std::optional<double> Number(onnx::ValueId v, int depth = 6) const;
  bool IsNumber(onnx::ValueId v, double is, double tolerance = 1e-4) const;
  // A list of integers that the file states.
  std::optional<std::vector<int64_t>> Ints(onnx::ValueId v) const;
  onnx::ValueId In(int node_index, size_t i) const;  // kNoValue where absent

 private:
  const onnx::Model& model_;
  std::vector<int> users_, users_begin_;
  std::vector<bool> is_output_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_ONNX_VIEW_H_
