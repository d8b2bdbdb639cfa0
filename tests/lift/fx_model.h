// Small models as PyTorch's dynamo exporter writes them, built in memory.
//
//   FxModel model({"x"}, "p_fc_weight: PARAMETER target='fc.weight'\nx: USER_INPUT");
//   model.Stored("fc.weight", {3, 4});
//   model.In("fc", "torch.nn.modules.linear.Linear");
//   model.Node("Gemm", {"x", "fc.weight"}, "linear", "aten.linear.default", "%x, %p_fc_weight");
#ifndef MEMCREST_TESTS_LIFT_FX_MODEL_H_
#define MEMCREST_TESTS_LIFT_FX_MODEL_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/lift/lift.h"
#include "src/onnx/model.h"

namespace memcrest {

class FxModel {
 public:
  FxModel(std::vector<std::string> inputs, std::string signature) {
    model_.graph_signature = Keep(absl::StrCat("\n# inputs\n", signature, "\n\n# outputs\n"));
    for (const std::string& name : inputs) {
      const onnx::ValueId v = ValueOf(name);
      model_.graph.values[static_cast<size_t>(v)].is_input = true;
      model_.graph.inputs.push_back(v);
    }
  }

  void Stored(const std::string& name, Dims dims, DType dtype = DType::kFloat32) {
    onnx::Literal literal;
    literal.name = Keep(name);
    literal.dims = std::move(dims);
    literal.dtype = dtype;
    const size_t v = static_cast<size_t>(ValueOf(name));
    model_.graph.values[v].initializer = static_cast<int>(model_.graph.initializers.size());
    model_.graph.initializers.push_back(std::move(literal));
  }

  // The module that the next nodes run in: "a.b" inside "a" inside the root.
  void In(const std::string& path, const std::string& cls) { InAll({{path, cls}}); }
  void InAll(const std::vector<std::pair<std::string, std::string>>& scopes) { scopes_ = scopes; }
  // The stack trace of the next nodes, as (function, line number, code), outermost first; the file is "net.py" or given
  // in front.
  struct Line { std::string file, function; int line; std::string code; };
  void At(const std::vector<Line>& lines) {
    trace_.clear();
    for (const Line& l : lines)
      absl::StrAppend(&trace_, "  File \"", l.file, "\", line ", l.line, ", in ", l.function, "\n    ", l.code, "\n");
  }

  // An ONNX node made of FX node `fx`; its first output is called `fx` unless `outputs` says otherwise.
  onnx::Node& Node(const std::string& op_type, const std::vector<std::string>& inputs, const std::string& fx,
                   const std::string& target, const std::string& args, std::vector<std::string> outputs = {},
                   int users = 1) {
    onnx::Node node;
    node.op_type = Keep(op_type);
    for (const std::string& name : inputs) node.inputs.push_back(ValueOf(name));
    if (outputs.empty()) outputs.push_back(fx);
    for (const std::string& name : outputs) {
      node.outputs.push_back(ValueOf(name));
      model_.graph.values[static_cast<size_t>(node.outputs.back())].node = static_cast<int>(model_.graph.nodes.size());
    }
    if (!target.empty()) Note(node, fx, target, args, users);
    model_.graph.nodes.push_back(std::move(node));
    return model_.graph.nodes.back();
  }
  void SetInts(onnx::Node& node, const std::string& name, std::vector<int64_t> ints) {
    onnx::Attribute attribute;
    attribute.name = Keep(name);
    attribute.kind = onnx::Attribute::Kind::kInts;
    attribute.ints = std::move(ints);
    node.attributes.push_back(std::move(attribute));
  }
  void Output(const std::string& name) { model_.graph.outputs.push_back(ValueOf(name)); }
  void Rule(onnx::Node& node, const std::string& rule) { node.notes.rule_name = Keep(rule); }

  Network Lift() const {
    absl::StatusOr<Network> network = memcrest::Lift(model_, LiftOptions());
    EXPECT_TRUE(network.ok()) << network.status();
    if (!network.ok()) return Network();
    for (const std::string& broken : Verify(*network)) ADD_FAILURE() << broken;
    return *std::move(network);
  }

 private:
  void Note(onnx::Node& node, const std::string& fx, const std::string& target, const std::string& args, int users) {
    std::string names = "['', ", classes = "['Net', ";
    for (const auto& [path, cls] : scopes_) {
      absl::StrAppend(&names, "'", path, "', ");
      absl::StrAppend(&classes, "'", cls, "', ");
    }
    node.notes.fx_node = Keep(absl::StrCat("%", fx, " : [num_users=", users, "] = call_function[target=torch.ops.",
                                           target, "](args = (", args, "), kwargs = {})"));
    node.notes.name_scopes = Keep(absl::StrCat(names, "'", fx, "']"));
    node.notes.class_hierarchy = Keep(absl::StrCat(classes, "'", target, "']"));
    node.notes.stack_trace = Keep(trace_);
  }
  onnx::ValueId ValueOf(const std::string& name) {
    const onnx::ValueId known = model_.graph.Find(name);
    if (known != onnx::kNoValue) return known;
    model_.graph.values.emplace_back();
    model_.graph.values.back().name = Keep(name);
    return static_cast<onnx::ValueId>(model_.graph.values.size()) - 1;
  }
  absl::string_view Keep(std::string text) { return strings_.emplace_back(std::move(text)); }

  std::deque<std::string> strings_;
  onnx::Model model_;
  std::vector<std::pair<std::string, std::string>> scopes_;
  std::string trace_;
};

// "linear(x, fc.weight)" of node i: the operator and its operands' names; "-" for an absent one.
inline std::string NodeText(const Network& net, size_t i) {
  if (i >= net.nodes.size()) return "none";
  std::string text = absl::StrCat(net.nodes[i].op->name, "(");
  for (size_t k = 0; k < net.nodes[i].in.size(); ++k) {
    const TensorId id = net.nodes[i].in[k];
    absl::StrAppend(&text, k > 0 ? ", " : "", id == kNone ? "-" : net.tensors[static_cast<size_t>(id)].name);
  }
  return text + ")";
}
inline std::vector<std::string> NodeTexts(const Network& net) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < net.nodes.size(); ++i) texts.push_back(NodeText(net, i));
  return texts;
}
inline const Param* FindParam(const Network& net, absl::string_view fqn) {
  for (const Param& param : net.params) {
    if (param.fqn == fqn) return &param;
  }
  return nullptr;
}
inline const Tensor* FindTensor(const Network& net, absl::string_view name) {
  for (const Tensor& tensor : net.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

}  // namespace memcrest

#endif  // MEMCREST_TESTS_LIFT_FX_MODEL_H_
