// Names become ids: inputs, initializers, nodes, sub-graphs, order, and what is wrong with them.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/onnx/read.h"

namespace memcrest::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::GraphAttribute;
using testing::GraphParts;
using testing::ModelOf;
using testing::NodeOf;
using testing::TensorOf;
using testing::ValueOf;
using testing::Wire;

TEST(Graph, ListsInputsInitializersAndNodesWithTheirTypes) {
  const GraphParts parts{
      .nodes = {NodeOf("MatMul", {"x", "w"}, {"t"}, {}, "", "/fc/MatMul"), NodeOf("Relu", {"t"}, {"y"})},
      .initializers = {TensorOf("w", kFloat, {4, 8})},
      .inputs = {ValueOf("x", kFloat, {-1, 4})},
      .outputs = {ValueOf("y", kFloat, {-1, 8})},
      .value_infos = {ValueOf("t", kFloat, {-1, 8})}};
  EXPECT_EQ(Dump(Read(ModelOf(parts.Build()))),
            "ir 10, opset 18\n"
            "graph main\n"
            "  input x: float32[N,4]\n"
            "  initializer w: float32[4,8]\n"
            "  t: float32[N,8] = MatMul(x, w) \"/fc/MatMul\"\n"
            "  y: float32[N,8] = Relu(t)\n"
            "  output y: float32[N,8]\n");
}

TEST(Graph, ValuesKnowWhatDefinesThem) {
  const GraphParts parts{.nodes = {NodeOf("Add", {"x", "w"}, {"y"})},
                         .initializers = {TensorOf("w", kFloat, {4})},
                         .inputs = {ValueOf("x", kFloat, {4})},
                         .outputs = {ValueOf("y"), ValueOf("y")}};
  const Model model = Read(ModelOf(parts.Build()));
  const Graph& graph = model.graph;
  const Value& x = graph.values[static_cast<size_t>(graph.Find("x"))];
  const Value& w = graph.values[static_cast<size_t>(graph.Find("w"))];
  const Value& y = graph.values[static_cast<size_t>(graph.Find("y"))];
  EXPECT_TRUE(x.is_input);
  EXPECT_EQ(x.node, -1);
  EXPECT_EQ(w.initializer, 0);
  EXPECT_EQ(w.dtype, DType::kFloat32);  // from the stored tensor
  EXPECT_EQ(w.shape[0].value, 4);
  EXPECT_EQ(y.node, 0);
  EXPECT_EQ(graph.outputs.size(), 2u);  // an output may repeat
  EXPECT_EQ(graph.Find("z"), kNoValue);
}

TEST(Graph, InitializersListedAsInputsAreNoInputs) {
  const GraphParts parts{.nodes = {NodeOf("Add", {"x", "w"}, {"y"})},
                         .initializers = {TensorOf("w", kFloat, {4})},
                         .inputs = {ValueOf("w", kFloat, {4}), ValueOf("x", kFloat, {4})}};
  const Model model = Read(ModelOf(parts.Build()));
  ASSERT_EQ(model.graph.inputs.size(), 1u);
  EXPECT_EQ(model.graph.values[static_cast<size_t>(model.graph.inputs[0])].name, "x");
  EXPECT_FALSE(model.graph.values[static_cast<size_t>(model.graph.Find("w"))].is_input);
}

TEST(Graph, EmptyNamesAreAbsentAndMakeNoEdges) {
  const GraphParts parts{.nodes = {NodeOf("Clip", {"x", "", "x"}, {"y", ""}), NodeOf("Resize", {"y", ""}, {"", "z"})},
                         .inputs = {ValueOf("x", kFloat, {4})}};
  EXPECT_EQ(Dump(Read(ModelOf(parts.Build())).graph),
            "graph main\n"
            "  input x: float32[4]\n"
            "  y, _ = Clip(x, _, x)\n"
            "  _, z = Resize(y, _)\n");
}

TEST(Graph, AValueInfoForNoValueIsIgnored) {
  const GraphParts parts{.inputs = {ValueOf("x", kFloat, {4})}, .value_infos = {ValueOf("gone", kFloat, {1})}};
  EXPECT_EQ(Read(ModelOf(parts.Build())).graph.values.size(), 1u);
}

TEST(Graph, NodesOutOfOrderAreSortedWithANote) {
  // c <- b <- a, written c, a, b, d: b and its maker a are pulled before c; d stays last.
  const GraphParts parts{.nodes = {NodeOf("C", {"b"}, {"c"}), NodeOf("A", {"x"}, {"a"}), NodeOf("B", {"a"}, {"b"}),
                                   NodeOf("D", {"x"}, {"d"})},
                         .inputs = {ValueOf("x")}};
  EXPECT_EQ(Dump(Read(ModelOf(parts.Build()))),
            "ir 10, opset 18\n"
            "graph main\n"
            "  input x\n"
            "  a = A(x)\n"
            "  b = B(a)\n"
            "  c = C(b)\n"
            "  d = D(x)\n"
            "note: nodes were not in topological order: sorted (\"main\")\n");
}

TEST(Graph, ASubGraphCapturesWhatItDoesNotDefine) {
  // The inner body uses x, which the outer body then captures as well, and t of the outer body.
  const GraphParts inner{.nodes = {NodeOf("Add", {"x", "t"}, {"i"})}, .outputs = {ValueOf("i")}};
  const GraphParts outer{.nodes = {NodeOf("Neg", {"w"}, {"t"}),
                                   NodeOf("If", {"c"}, {"o"}, {GraphAttribute("then_branch", inner.Build("inner"))})},
                         .outputs = {ValueOf("o")}};
  const GraphParts parts{.nodes = {NodeOf("If", {"c"}, {"y"}, {GraphAttribute("then_branch", outer.Build("outer"))})},
                         .initializers = {TensorOf("w", kFloat, {4})},
                         .inputs = {ValueOf("x"), ValueOf("c")}};
  EXPECT_EQ(Dump(Read(ModelOf(parts.Build())).graph),
            "graph main\n"
            "  input x\n"
            "  input c\n"
            "  initializer w: float32[4]\n"
            "  y = If<then_branch=graph>(c)\n"
            "    graph outer captures w, c, x\n"
            "      t = Neg(w)\n"
            "      o = If<then_branch=graph>(c)\n"
            "        graph inner captures x, t\n"
            "          i = Add(x, t)\n"
            "          output i\n"
            "      output o\n");
}

TEST(Graph, WhatASubGraphCapturesOrdersItsNode) {
  const GraphParts body{.nodes = {NodeOf("Neg", {"late"}, {"i"})}, .outputs = {ValueOf("i")}};
  const GraphParts parts{.nodes = {NodeOf("If", {"c"}, {"y"}, {GraphAttribute("then_branch", body.Build())}),
                                   NodeOf("Relu", {"c"}, {"late"})},
                         .inputs = {ValueOf("c")}};
  const Model model = Read(ModelOf(parts.Build()));
  EXPECT_EQ(model.graph.nodes[0].op_type, "Relu");
  const Graph& sub_graph = *model.graph.nodes[1].attributes[0].graphs[0];
  EXPECT_THAT(sub_graph.captured, ElementsAre(Pair(sub_graph.Find("late"), "late")));
}

TEST(Graph, ADefaultForABodysInputIsNotUsed) {
  const GraphParts body{
      .nodes = {NodeOf("Neg", {"i"}, {"o"})}, .initializers = {TensorOf("i", kFloat, {1})}, .inputs = {ValueOf("i")}};
  const GraphParts parts{.nodes = {NodeOf("Loop", {"n"}, {"y"}, {GraphAttribute("body", body.Build())})},
                         .inputs = {ValueOf("n")}};
  const Model model = Read(ModelOf(parts.Build()));
  const Graph& sub_graph = *model.graph.nodes[0].attributes[0].graphs[0];
  EXPECT_EQ(sub_graph.inputs.size(), 1u);
  EXPECT_TRUE(sub_graph.initializers.empty());
}

TEST(Graph, AValueThatNothingDefinesIsRefused) {
  const GraphParts parts{.nodes = {NodeOf("Add", {"x", "ghost"}, {"y"}, {}, "", "/add")}, .inputs = {ValueOf("x")}};
  EXPECT_EQ(Refusal(ModelOf(parts.Build())),
            "error E0208: value \"ghost\" is used but never defined\n"
            "  where: m.onnx, node 0 \"/add\" (Add)\n"
            "  why: no graph input, initializer or node makes it\n"
            "  fix: export the model again; in a part cut out of a model, list it as an input\n");
}

TEST(Graph, SeveralProblemsAreToldAtOnceUpToALimit) {
  GraphParts parts{.outputs = {ValueOf("lost")}};
  for (int i = 0; i < 20; ++i) parts.nodes.push_back(NodeOf("Neg", {absl::StrCat("ghost", i)}, {absl::StrCat("y", i)}));
  const std::string text = Refusal(ModelOf(parts.Build()));
  EXPECT_THAT(text, HasSubstr("\"ghost0\""));
  EXPECT_THAT(text, HasSubstr("\"ghost7\""));
  EXPECT_THAT(text, HasSubstr("(and 13 more problems in this file)"));  // 20 inputs and the output, less 8
}

TEST(Graph, AValueDefinedTwiceIsRefused) {
  const GraphParts parts{
      .nodes = {NodeOf("Neg", {"x"}, {"y"}), NodeOf("Abs", {"x"}, {"y"}), NodeOf("Exp", {"x"}, {"x"})},
      .inputs = {ValueOf("x")}};
  const std::string text = Refusal(ModelOf(parts.Build()));
  EXPECT_THAT(text, HasSubstr("error E0207: value \"y\" is defined twice"));
  EXPECT_THAT(text, HasSubstr("why: first by node 0 (Neg), then by node 1 (Abs)"));
  EXPECT_THAT(text, HasSubstr("why: first as an input, then by node 2 (Exp)"));
}

TEST(Graph, ACycleNamesItsNodes) {
  const GraphParts parts{
      .nodes = {NodeOf("Relu", {"x"}, {"r"}), NodeOf("A", {"r", "b"}, {"a"}), NodeOf("B", {"a"}, {"b"})},
      .inputs = {ValueOf("x")}};
  EXPECT_EQ(Refusal(ModelOf(parts.Build())),
            "error E0209: the graph has a cycle\n"
            "  where: m.onnx, node 2 (B) -> node 1 (A)\n"
            "  why: each of these nodes needs a result of the one before it, in a circle\n"
            "  fix: export the model again; loops must be Loop or Scan nodes\n");
}

TEST(Graph, ANodeWithoutOperatorIsRefused) {
  EXPECT_THAT(Refusal(ModelOf(Wire().Message(1, Wire().Bytes(2, "y")))),
              HasSubstr("error E0212: node 0 names no operator"));
}

TEST(Graph, SubGraphsAreNestedUpToTheLimit) {
  const auto nested = [](int depth) {
    Wire graph = GraphParts{.nodes = {NodeOf("Neg", {"x"}, {"y"})}}.Build();
    for (int i = 0; i < depth; ++i)
      graph = GraphParts{.nodes = {NodeOf("If", {"x"}, {"y"}, {GraphAttribute("b", graph)})}}.Build();
    GraphParts top{.inputs = {ValueOf("x")}};
    top.nodes = {NodeOf("If", {"x"}, {"y"}, {GraphAttribute("b", graph)})};
    return ModelOf(top.Build());
  };
  Read(nested(63));  // 64 bodies inside each other
  EXPECT_THAT(Refusal(nested(64)), HasSubstr("error E0206: sub-graphs are nested too deep"));
}

}  // namespace
}  // namespace memcrest::onnx
