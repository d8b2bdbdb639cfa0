// Makes onnx::Model values by name, for tests that need a graph but no file.
//
//   ModelBuilder b(18);
//   b.Input("x", DType::kFloat32, {"batch", "3"}).Weight("w", {3, 4});
//   b.Node("MatMul", {"x", "w"}, {"y"});
//   b.Output("y");
//   onnx::Model model = b.Build();
//
// Nodes must be given in topological order. Names that a sub-graph does not define are captured from the graph around
// it.
#ifndef MEMCREST_TESTS_SUPPORT_MODEL_BUILDER_H_
#define MEMCREST_TESTS_SUPPORT_MODEL_BUILDER_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "src/onnx/model.h"

namespace memcrest {

class GraphBuilder {
 public:
  using Strings = std::deque<std::string>;
  explicit GraphBuilder(std::shared_ptr<Strings> strings) : strings_(std::move(strings)) {}

  // Dimensions: "3" is a number, "" unknown, anything else a symbol or an expression.
  GraphBuilder& Input(absl::string_view name, DType dtype, const std::vector<std::string>& dims) {
    const onnx::ValueId id = Define(name);
    graph_.values[Index(id)].is_input = true;
    graph_.inputs.push_back(id);
    return Declare(name, dtype, dims);
  }
  // A value's declared dtype and shape (value_info).
  GraphBuilder& Declare(absl::string_view name, DType dtype, const std::vector<std::string>& dims) {
    onnx::Value& value = graph_.values[Index(Define(name))];
    value.dtype = dtype;
    value.has_shape = true;
    value.shape.clear();
    for (const std::string& dim : dims) {
      onnx::SymDim size;
      if (!absl::SimpleAtoi(dim, &size.value)) size = {-1, Keep(dim)};
      value.shape.push_back(size);
    }
    return *this;
  }
  // An initializer without data.
  GraphBuilder& Weight(absl::string_view name, Dims dims, DType dtype = DType::kFloat32) {
    return Literal(name, {{}, dtype, std::move(dims), false, {}, {}, 0});
  }
  // A one-dimensional integer literal.
  GraphBuilder& Ints(absl::string_view name, std::vector<int64_t> ints) {
    const Dims dims = {static_cast<int64_t>(ints.size())};
    return Literal(name, {{}, DType::kInt64, dims, true, std::move(ints), {}, 0});
  }
  GraphBuilder& Int(absl::string_view name, int64_t value) {
    return Literal(name, {{}, DType::kInt64, {}, true, {value}, {}, 0});
  }
  GraphBuilder& Floats(absl::string_view name, std::vector<double> floats) {
    const Dims dims = {static_cast<int64_t>(floats.size())};
    return Literal(name, {{}, DType::kFloat32, dims, true, {}, std::move(floats), 0});
  }
  GraphBuilder& Literal(absl::string_view name, onnx::Literal literal) {
    onnx::Value& value = graph_.values[Index(Define(name))];
    value.initializer = static_cast<int>(graph_.initializers.size());
    value.dtype = literal.dtype;
    literal.name = value.name;
    graph_.initializers.push_back(std::move(literal));
    return *this;
  }
  // "" is an absent input or output. Attributes follow as calls that refer to the node added last.
  GraphBuilder& Node(absl::string_view op_type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, absl::string_view domain = "") {
    onnx::Node node;
    node.op_type = Keep(op_type);
    node.domain = Keep(domain);
    for (const std::string& name : inputs) node.inputs.push_back(name.empty() ? onnx::kNoValue : Use(name));
    for (const std::string& name : outputs) {
      node.outputs.push_back(name.empty() ? onnx::kNoValue : Define(name));
      if (!name.empty()) graph_.values[Index(node.outputs.back())].node = static_cast<int>(graph_.nodes.size());
    }
    node.name = Keep(outputs.empty() ? std::string(op_type) : outputs[0] + "_node");
    graph_.nodes.push_back(std::move(node));
    return *this;
  }
  GraphBuilder& With(absl::string_view name, int64_t value) {
    Add(name, onnx::Attribute::Kind::kInt).i = value;
    return *this;
  }
  GraphBuilder& With(absl::string_view name, int value) { return With(name, int64_t{value}); }
  GraphBuilder& With(absl::string_view name, std::vector<int64_t> values) {
    Add(name, onnx::Attribute::Kind::kInts).ints = std::move(values);
    return *this;
  }
  GraphBuilder& With(absl::string_view name, absl::string_view value) {
    const absl::string_view kept = Keep(value);
    Add(name, onnx::Attribute::Kind::kString).s = kept;
    return *this;
  }
  GraphBuilder& With(absl::string_view name, const char* value) { return With(name, absl::string_view(value)); }
  GraphBuilder& WithFloat(absl::string_view name, double value) {
    Add(name, onnx::Attribute::Kind::kFloat).f = value;
    return *this;
  }
  GraphBuilder& WithTensor(absl::string_view name, onnx::Literal literal) {
    Add(name, onnx::Attribute::Kind::kTensor).tensors.push_back(std::move(literal));
    return *this;
  }
  GraphBuilder& WithGraph(absl::string_view name, const GraphBuilder& body) {
    Add(name, onnx::Attribute::Kind::kGraph).graphs.push_back(std::make_shared<onnx::Graph>(body.graph_));
    return *this;
  }
  GraphBuilder& Output(absl::string_view name) {
    graph_.outputs.push_back(Use(name));
    return *this;
  }
  // A builder for a body whose strings live as long as this graph's.
  GraphBuilder SubGraph() const {
    GraphBuilder body(strings_);
    body.is_body_ = true;
    return body;
  }
  // The node added last, for notes and names.
  onnx::Node& Last() { return graph_.nodes.back(); }
  absl::string_view Keep(absl::string_view text) { return strings_->emplace_back(text); }

 protected:
  static size_t Index(onnx::ValueId id) { return static_cast<size_t>(id); }
  onnx::ValueId Define(absl::string_view name) {
    const auto [it, added] = ids_.try_emplace(std::string(name), static_cast<onnx::ValueId>(graph_.values.size()));
    if (added) graph_.values.emplace_back().name = Keep(name);
    return it->second;
  }
  onnx::ValueId Use(absl::string_view name) {
    const bool known = ids_.count(std::string(name)) > 0;
    const onnx::ValueId id = Define(name);
    if (!known && is_body_) graph_.captured.emplace_back(id, graph_.values[Index(id)].name);
    return id;
  }
  onnx::Attribute& Add(absl::string_view name, onnx::Attribute::Kind kind) {
    onnx::Attribute& attribute = graph_.nodes.back().attributes.emplace_back();
    attribute.name = Keep(name);
    attribute.kind = kind;
    return attribute;
  }

  onnx::Graph graph_;
  std::shared_ptr<Strings> strings_;
  std::map<std::string, onnx::ValueId> ids_;
  bool is_body_ = false;
};

class ModelBuilder : public GraphBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 18) : GraphBuilder(std::make_shared<Strings>()), opset_(opset) {}

  onnx::Model Build() const {
    onnx::Model model;
    model.ir_version = 8;
    model.opsets = {{"", opset_}, {"com.microsoft", 1}, {"ai.onnx.ml", 3}};
    model.graph = graph_;
    model.backing.push_back(strings_);
    return model;
  }

 private:
  int64_t opset_;
};

}  // namespace memcrest

#endif  // MEMCREST_TESTS_SUPPORT_MODEL_BUILDER_H_
