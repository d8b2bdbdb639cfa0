#include "src/onnx/inline_functions.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/onnx/read.h"

namespace memcrest::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::EntryOf;
using testing::FunctionOf;
using testing::GraphAttribute;
using testing::GraphParts;
using testing::IntAttribute;
using testing::ModelOf;
using testing::NodeOf;
using testing::ReferenceAttribute;
using testing::ValueOf;
using testing::Wire;

constexpr int64_t kIntType = 2, kGraphType = 5;  // AttributeProto.AttributeType

Wire CallOf(absl::string_view function, testing::Names inputs, testing::Names outputs, absl::string_view name = "",
            std::initializer_list<Wire> attributes = {}) {
  return NodeOf(function, inputs, outputs, attributes, "local", name);
}

// A graph with inputs x and c and output y.
Wire GraphOf(std::vector<Wire> nodes) {
  return GraphParts{.nodes = std::move(nodes), .inputs = {ValueOf("x"), ValueOf("c")}, .outputs = {ValueOf("y")}}
      .Build();
}

// f(a) => (b): t = Exp(a); b = Neg(t)
Wire ExpNeg() { return FunctionOf("f", {"a"}, {"b"}, {NodeOf("Exp", {"a"}, {"t"}), NodeOf("Neg", {"t"}, {"b"})}); }

TEST(InlineFunctions, ACallBecomesTheBodyWithItsValuesUnderTheCallsName) {
  const Model model =
      Read(ModelOf(GraphOf({CallOf("f", {"x"}, {"m"}, "one"), CallOf("f", {"m"}, {"y"}, "two")}), {ExpNeg()}));
  EXPECT_EQ(Dump(model),
            "ir 10, opset 18\n"
            "graph main\n"
            "  input x\n"
            "  input c\n"
            "  one/t = Exp(x) from function 0\n"
            "  m = Neg(one/t) from function 0\n"
            "  two/t = Exp(m) from function 0\n"
            "  y = Neg(two/t) from function 0\n"
            "  output y\n"
            "function 0: local::f\n");
}

TEST(InlineFunctions, NewNamesAvoidNamesOfTheModel) {
  const Model model =
      Read(ModelOf(GraphOf({NodeOf("Abs", {"x"}, {"one/t"}), CallOf("f", {"one/t"}, {"y"}, "one")}), {ExpNeg()}));
  EXPECT_THAT(Dump(model), HasSubstr("  one/t#1 = Exp(one/t) from function 0\n"));
}

TEST(InlineFunctions, NestedCallsTellTheBodyTheyWereWrittenIn) {
  const Wire outer = FunctionOf("g", {"a"}, {"b"}, {CallOf("f", {"a"}, {"s"}, "inner"), NodeOf("Abs", {"s"}, {"b"})});
  EXPECT_EQ(Dump(Read(ModelOf(GraphOf({CallOf("g", {"x"}, {"y"}, "outer")}), {outer, ExpNeg()}))),
            "ir 10, opset 18\n"
            "graph main\n"
            "  input x\n"
            "  input c\n"
            "  outer/inner/t = Exp(x) from function 0\n"
            "  outer/s = Neg(outer/inner/t) from function 0\n"
            "  y = Abs(outer/s) from function 1\n"
            "  output y\n"
            "function 0: local::f\n"
            "function 1: local::g\n");
}

TEST(InlineFunctions, AttributeReferencesTakeTheCallsValueThenTheDefaultThenNothing) {
  Wire function = FunctionOf("f", {"a"}, {"b"}, {NodeOf("Op", {"a"}, {"b"},
                                {ReferenceAttribute("axis", "p", kIntType), ReferenceAttribute("k", "q", kIntType),
                                 ReferenceAttribute("z", "r", kIntType)})});
  function.Bytes(6, "p").Message(11, IntAttribute("q", 5)).Bytes(6, "r");
  const std::string text = Dump(Read(ModelOf(
      GraphOf({CallOf("f", {"x"}, {"m"}, "1", {IntAttribute("p", -1)}),
               CallOf("f", {"m"}, {"y"}, "2", {IntAttribute("p", 2), IntAttribute("q", 6)})}),
      {function})));
  EXPECT_THAT(text, HasSubstr("m = Op<axis=-1, k=5>(x)"));
  EXPECT_THAT(text, HasSubstr("y = Op<axis=2, k=6>(m)"));
}

TEST(InlineFunctions, AttributeReferencesPassThroughNestedCallsAndSubGraphs) {
  const Wire inner =
      FunctionOf("f", {"a"}, {"b"}, {NodeOf("Op", {"a"}, {"b"}, {ReferenceAttribute("axis", "p", kIntType)})});
  const GraphParts body{.nodes = {CallOf("f", {"a"}, {"r"}, "in", {ReferenceAttribute("p", "q", kIntType)})},
                        .outputs = {ValueOf("r")}};
  const Wire outer = FunctionOf("g", {"a", "c"}, {"b"},
                                {NodeOf("If", {"c"}, {"b"}, {GraphAttribute("then_branch", body.Build("then"))})});
  const Wire call = CallOf("g", {"x", "c"}, {"y"}, "out", {IntAttribute("q", 3)});
  EXPECT_THAT(Dump(Read(ModelOf(GraphOf({call}), {inner, outer}))),
              HasSubstr("  y = If<then_branch=graph>(c) from function 1\n"
                        "    graph then captures x\n"
                        "      out/r = Op<axis=3>(x) from function 0\n"
                        "      output out/r\n"));
}

TEST(InlineFunctions, CallsInsideSubGraphsAreInlinedThere) {
  const GraphParts body{.nodes = {CallOf("f", {"x"}, {"r"}, "in")}, .outputs = {ValueOf("r")}};
  const Wire node = NodeOf("If", {"c"}, {"y"}, {GraphAttribute("then_branch", body.Build("then"))});
  EXPECT_THAT(Dump(Read(ModelOf(GraphOf({node}), {ExpNeg()}))),
              HasSubstr("    graph then captures x\n"
                        "      in/t = Exp(x) from function 0\n"
                        "      r = Neg(in/t) from function 0\n"));
}

TEST(InlineFunctions, OptionalInputsAndOutputsMayBeLeftOut) {
  const Wire function = FunctionOf("f", {"a", "opt"}, {"b", "extra"}, {NodeOf("Op", {"a", "opt"}, {"b", "extra"})});
  const std::string text = Dump(Read(ModelOf(GraphOf({CallOf("f", {"x"}, {"y"}, "n")}), {function})));
  EXPECT_THAT(text, HasSubstr("y, n/extra = Op(x, _)"));
}

TEST(InlineFunctions, AnInputLeftOutIsAbsentInsideSubGraphsToo) {
  const GraphParts body{.nodes = {NodeOf("Op", {"a", "opt"}, {"r"})}, .outputs = {ValueOf("r")}};
  const Wire function = FunctionOf("f", {"a", "opt"}, {"b"},
                                   {NodeOf("If", {"a"}, {"b"}, {GraphAttribute("then_branch", body.Build("then"))})});
  EXPECT_THAT(Dump(Read(ModelOf(GraphOf({CallOf("f", {"x"}, {"y"}, "n")}), {function}))),
              HasSubstr("graph then captures x\n      n/r = Op(x, _)"));
}

TEST(InlineFunctions, AnOutputThatIsAnInputIsCopied) {
  const Wire function = FunctionOf("f", {"a"}, {"a", "a"}, {});
  const GraphParts parts{.nodes = {CallOf("f", {"x"}, {"y", "z"}, "n")}, .inputs = {ValueOf("x")}};
  EXPECT_EQ(Dump(Read(ModelOf(parts.Build(), {function})).graph),
            "graph main\n"
            "  input x\n"
            "  y = Identity(x) \"n/Identity\" from function 0\n"
            "  z = Identity(x) \"n/Identity\" from function 0\n");
}

TEST(InlineFunctions, ABodyWithoutNotesInheritsTheCalls) {
  Wire call = CallOf("f", {"x"}, {"y"});
  call.Message(9, EntryOf("pkg.torch.onnx.fx_node", "%call"));
  const Model model = Read(ModelOf(GraphOf({call}), {ExpNeg()}));
  EXPECT_EQ(model.graph.nodes[0].notes.fx_node, "%call");
}

TEST(InlineFunctions, OverloadsAreDifferentFunctions) {
  const Wire second = FunctionOf("f", {"a"}, {"b"}, {NodeOf("Abs", {"a"}, {"b"})}).Bytes(13, "v2");
  Wire call = CallOf("f", {"x"}, {"y"});
  call.Bytes(8, "v2");
  EXPECT_THAT(Dump(Read(ModelOf(GraphOf({call}), {ExpNeg(), second}))),
              HasSubstr("y = Abs(x) from function 0\n  output y\nfunction 0: local::f:v2\n"));
  EXPECT_THAT(Refusal(ModelOf(GraphOf({}), {ExpNeg(), ExpNeg()})),
              HasSubstr("error E0214: function \"f\" is defined twice"));
}

TEST(InlineFunctions, OperatorSetsOfAFunctionJoinTheModelsOrAreNoted) {
  Wire function = ExpNeg();
  function.Message(9, Wire().Number(2, 17)).Message(9, Wire().Bytes(1, "extra").Number(2, 3));
  const Model model = Read(ModelOf(GraphOf({CallOf("f", {"x"}, {"y"})}), {function}));
  EXPECT_EQ(model.Opset(), 18);
  EXPECT_EQ(model.Opset("extra"), 3);
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("imports another operator set version")));
}

TEST(InlineFunctions, RecursionIsRefusedWithItsPath) {
  const Wire f = FunctionOf("f", {"a"}, {"b"}, {CallOf("g", {"a"}, {"b"})});
  const Wire g = FunctionOf("g", {"a"}, {"b"}, {CallOf("f", {"a"}, {"b"})});
  EXPECT_EQ(Refusal(ModelOf(GraphOf({CallOf("f", {"x"}, {"y"})}), {f, g})),
            "error E0213: a function calls itself\n"
            "  where: m.onnx, function \"f\"\n"
            "  why: ONNX forbids recursion: \"local::f -> local::g -> local::f\"\n"
            "  fix: export the model without it\n");
  // Nobody calls them: nothing to refuse.
  Read(ModelOf(GraphOf({NodeOf("Neg", {"x"}, {"y"})}), {f, g}));
}

TEST(InlineFunctions, CallsThatDoNotFitAreRefused) {
  EXPECT_THAT(Refusal(ModelOf(GraphOf({CallOf("f", {"x", "c"}, {"y"}, "n")}), {ExpNeg()})),
              HasSubstr("why: the call has 2 inputs and 1 outputs; the function has 1 and 1"));
  const Wire branch = FunctionOf("f", {"a"}, {"b"},
                                 {NodeOf("If", {"a"}, {"b"}, {ReferenceAttribute("then_branch", "body", kGraphType)})});
  const GraphParts body{.nodes = {NodeOf("Neg", {"x"}, {"r"})}, .outputs = {ValueOf("r")}};
  EXPECT_THAT(
      Refusal(ModelOf(GraphOf({CallOf("f", {"x"}, {"y"}, "n", {GraphAttribute("body", body.Build())})}), {branch})),
      HasSubstr("attribute \"body\" passes a sub-graph to it"));
}

TEST(InlineFunctions, DoublingFunctionsAreRefusedBeforeTheyAreExpanded) {
  // f0 calls f1 twice, f1 calls f2 twice ...: 2^40 nodes from 40 functions.
  Wire model = ModelOf(GraphOf({CallOf("f0", {"x"}, {"y"})}));
  for (int i = 0; i < 40; ++i) {
    const std::string next = absl::StrCat("f", i + 1);
    model.Message(
        25, FunctionOf(absl::StrCat("f", i), {"a"}, {"b"}, {CallOf(next, {"a"}, {"t"}), CallOf(next, {"t"}, {"b"})}));
  }
  model.Message(25, FunctionOf("f40", {"a"}, {"b"}, {NodeOf("Neg", {"a"}, {"b"})}));
  EXPECT_THAT(Refusal(model), HasSubstr("error E0215: the model's functions expand to too many nodes"));
}

TEST(InlineFunctions, LongChainsOfCallsNeedNoDeepStack) {
  Wire model = ModelOf(GraphOf({CallOf("f0", {"x"}, {"y"})}));
  constexpr int kFunctions = 5000;
  for (int i = 0; i < kFunctions; ++i) {
    model.Message(25, FunctionOf(absl::StrCat("f", i), {"a"}, {"b"}, {CallOf(absl::StrCat("f", i + 1), {"a"}, {"b"})}));
  }
  model.Message(25, FunctionOf(absl::StrCat("f", kFunctions), {"a"}, {"b"}, {NodeOf("Neg", {"a"}, {"b"})}));
  EXPECT_EQ(Read(model).graph.nodes.size(), 1u);
}

TEST(InlineFunctions, SubGraphsThatNestThroughCallsAreBounded) {
  Wire model = ModelOf(GraphOf({CallOf("f0", {"x"}, {"y"})}));
  for (int i = 0; i < 100; ++i) {
    const GraphParts body{.nodes = {CallOf(absl::StrCat("f", i + 1), {"a"}, {"r"})}, .outputs = {ValueOf("r")}};
    model.Message(25, FunctionOf(absl::StrCat("f", i), {"a"}, {"b"},
                                 {NodeOf("If", {"a"}, {"b"}, {GraphAttribute("b", body.Build())})}));
  }
  model.Message(25, FunctionOf("f100", {"a"}, {"b"}, {NodeOf("Neg", {"a"}, {"b"})}));
  EXPECT_THAT(Refusal(model), HasSubstr("error E0206"));
}

}  // namespace
}  // namespace memcrest::onnx
