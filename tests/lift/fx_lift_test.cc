// Lifting by FX notes: what the exporter's optimizer removed comes back, and only that.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/lift/repeated_heads.h"
#include "tests/lift/fx_model.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kLinear[] = "torch.nn.modules.linear.Linear";

TEST(FxLift, AnAnonymousTransposedWeightIsTheParameterAsStored) {
  FxModel model({"x"},
                "p_fc_weight: PARAMETER target='fc.weight'\np_fc_bias: PARAMETER target='fc.bias'\nx: USER_INPUT");
  model.Stored("val_7", {4, 3});  // the transpose of weight [3, 4]
  model.Stored("fc.bias", {3});
  model.In("fc", kLinear);
  model.Node("MatMul", {"x", "val_7"}, "linear", "aten.linear.default", "%x, %p_fc_weight, %p_fc_bias", {"val_8"});
  model.Node("Add", {"val_8", "fc.bias"}, "linear", "aten.linear.default", "%x, %p_fc_weight, %p_fc_bias");
  model.Output("linear");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("linear(x, fc.weight, fc.bias)"));
  EXPECT_EQ(net.nodes[0].origin.onnx_count, 2);
  EXPECT_EQ(FindParam(net, "fc.weight")->dims, (Dims{3, 4}));
  EXPECT_EQ(ModulePath(net, net.nodes[0].call), "fc");
}

TEST(FxLift, MergedInitializersAreStillSeveralParameters) {
  FxModel model({"x"},
                "p_a_weight: PARAMETER target='a.weight'\np_b_weight: PARAMETER target='b.weight'\nx: USER_INPUT");
  model.Stored("a.weight", {4});
  model.Node("LayerNormalization", {"x", "a.weight"}, "layer_norm", "aten.layer_norm.default",
             "%x, [4], %p_a_weight, None, 1e-05");
  model.Node("LayerNormalization", {"layer_norm", "a.weight"}, "layer_norm_1", "aten.layer_norm.default",
             "%layer_norm, [4], %p_b_weight, None, 1e-05");
  model.Output("layer_norm_1");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("layer_norm(x, a.weight)", "layer_norm(layer_norm, b.weight)"));
  ASSERT_NE(FindParam(net, "b.weight"), nullptr);
  EXPECT_EQ(FindParam(net, "b.weight")->dims, (Dims{4}));
}

TEST(FxLift, ATableThatTheHeadReadsInItsOwnsPlaceIsTied) {
  FxModel model(
      {"ids"},
      "p_wte_weight: PARAMETER target='wte.weight'\np_head_weight: PARAMETER target='head.weight'\nids: USER_INPUT");
  model.Stored("head.weight", {10, 4});
  model.In("wte", "torch.nn.modules.sparse.Embedding");
  model.Node("Gather", {"head.weight", "ids"}, "embedding", "aten.embedding.default", "%p_head_weight, %ids");
  model.In("head", kLinear);
  model.Node("Gemm", {"embedding", "head.weight"}, "linear", "aten.linear.default", "%embedding, %p_head_weight");
  model.Output("linear");
  const Network net = model.Lift();
  ASSERT_EQ(net.params.size(), 1u);
  EXPECT_EQ(net.params[0].dims, (Dims{10, 4}));
  EXPECT_EQ(net.params[0].aliases.size(), 1u);
}

TEST(FxLift, ADroppedCopyRunsAgainAsContiguous) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Transpose", {"x"}, "transpose", "aten.transpose.int", "%x, 0, 1");
  model.Node("Reshape", {"transpose"}, "_unsafe_view", "aten._unsafe_view.default", "%clone, [12]");
  model.Output("_unsafe_view");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("transpose(x)", "contiguous(transpose)", "_unsafe_view(clone)"));
  EXPECT_EQ(net.nodes[1].origin.evidence, Evidence::kPattern);
}

TEST(FxLift, ADroppedViewIsAnotherName) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Relu", {"x"}, "relu", "aten.relu.default", "%x");
  model.Node("Exp", {"relu"}, "exp", "aten.exp.default", "%slice_3");
  model.Output("exp");
  EXPECT_THAT(NodeTexts(model.Lift()), ElementsAre("relu(x)", "exp(relu)"));
}

TEST(FxLift, ARepetitionMergedWithTheFirstRunsTwice) {
  // silu and silu_1 of the same input were merged; silu has the one user that the file shows.
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Silu", {"x"}, "silu", "aten.silu.default", "%x");
  model.Node("Exp", {"silu"}, "exp", "aten.exp.default", "%silu");
  model.Node("Tanh", {"silu"}, "tanh", "aten.tanh.default", "%silu_1");
  model.Output("exp");
  model.Output("tanh");
  EXPECT_THAT(NodeTexts(model.Lift()), ElementsAre("silu(x)", "exp(silu)", "silu(x)", "tanh(silu_1)"));
}

TEST(FxLift, AMultiplicationByOneRunsAsOne) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Relu", {"x"}, "relu", "aten.relu.default", "%x");
  model.Node("Exp", {"relu"}, "exp", "aten.exp.default", "%mul_4");
  model.Output("exp");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("relu(x)", "mul(relu)", "exp(mul_4)"));
  EXPECT_EQ(net.nodes[1].attrs.Float(Key::kScalar), 1.0);
}

TEST(FxLift, AFoldedBatchNormIsAConvolutionAndANorm) {
  FxModel model({"x"}, "p_c_weight: PARAMETER target='c.weight'\np_n_weight: PARAMETER target='n.weight'\n"
                       "p_n_bias: PARAMETER target='n.bias'\nb_n_mean: BUFFER target='n.running_mean'\n"
                       "b_n_var: BUFFER target='n.running_var'\nx: USER_INPUT");
  model.Stored("c.weight", {8, 3, 3, 3});
  model.Stored("c.weight_bias", {8});
  model.In("n", "torch.nn.modules.batchnorm.BatchNorm2d");
  onnx::Node& conv =
      model.Node("Conv", {"x", "c.weight", "c.weight_bias"}, "_native_batch_norm_legit_functional",
                 "aten._native_batch_norm_legit_functional.default",
                 "%conv2d, %p_n_weight, %p_n_bias, %b_n_mean, %b_n_var, True, 0.1, 1e-05", {"getitem"}, 3);
  model.Rule(conv, "FuseBatchNormIntoConv, RemoveOptionalBiasFromConv");
  model.SetInts(conv, "strides", {2, 2});
  model.SetInts(conv, "pads", {1, 1, 1, 1});
  model.Output("getitem");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("convolution(x, c.weight)",
                                          "batch_norm(conv2d, n.weight, n.bias, n.running_mean, n.running_var)"));
  EXPECT_EQ(*net.nodes[0].attrs.Ints(Key::kStride), (Dims{2, 2}));
  EXPECT_EQ(*net.nodes[0].attrs.Ints(Key::kPadding), (Dims{1, 1}));
  EXPECT_TRUE(net.nodes[1].attrs.Bool(Key::kTraining));
  EXPECT_EQ(FindParam(net, "n.weight")->dims, (Dims{8}));
  EXPECT_EQ(ModulePath(net, net.nodes[0].call), "c");
}

TEST(FxLift, ASplitWithoutNoteFeedsTheItemsTakenFromIt) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Relu", {"x"}, "relu", "aten.relu.default", "%x");
  model.Node("Split", {"relu"}, "split", "", "", {"split_split_0", "split_split_1"});
  model.Node("Exp", {"split_split_1"}, "exp", "aten.exp.default", "%getitem_1");
  model.Node("Mul", {"split_split_0", "exp"}, "mul", "aten.mul.Tensor", "%getitem, %exp");
  model.Output("mul");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("relu(x)", "split(relu)", "exp(split_split_1)", "mul(split_split_0, exp)"));
  EXPECT_EQ(net.nodes[1].attrs.Int(Key::kCount), 2);
}

TEST(FxLift, AConstantComputedFromAParameterIsComputedFromItAgain) {
  // Gemma's norm: 1 + weight was folded into add_3.
  FxModel model({"x"}, "p_norm_weight: PARAMETER target='norm.weight'\nx: USER_INPUT");
  model.Stored("add_3", {4});
  model.In("norm", "GemmaRMSNorm");
  model.Node("Mul", {"x", "add_3"}, "mul", "aten.mul.Tensor", "%x, %add_3");
  model.Output("mul");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("add(norm.weight)", "mul(x, add_3)"));
  EXPECT_EQ(FindParam(net, "norm.weight")->dims, (Dims{4}));
  EXPECT_TRUE(FindParam(net, "norm.weight")->used);
}

TEST(FxLift, ARelativePositionTableIsIndexedAgain) {
  // 49 x 49 positions of a 7 x 7 window: (2 * 7 - 1)^2 = 169 rows, 3 heads.
  FxModel model({"x"}, "p_a_table: PARAMETER target='a.table'\nb_a_index: BUFFER target='a.index'\nx: USER_INPUT");
  model.Stored("unsqueeze", {1, 3, 49, 49});
  model.In("a", "WindowAttention");
  model.Node("Add", {"x", "unsqueeze"}, "add", "aten.add.Tensor", "%x, %unsqueeze");
  model.Output("add");
  const Network net = model.Lift();
  EXPECT_EQ(FindParam(net, "a.table")->dims, (Dims{169, 3}));
  EXPECT_EQ(FindParam(net, "a.index")->dims, (Dims{49, 49}));
  EXPECT_EQ(net.nodes[0].op->name, std::string("index"));
  EXPECT_EQ(net.nodes.size(), 5u);  // index, permute, contiguous, view, add
}

TEST(FxLift, HostIntegersRunNothingAndNumbersAreAttributes) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Shape", {"x"}, "sym_size_int", "aten.sym_size.int", "%x, 0");
  model.Node("Mul", {"x", "two"}, "mul", "aten.mul.Tensor", "%x, 2.0");
  model.Node("Reshape", {"mul", "sym_size_int"}, "view", "aten.view.default", "%mul, [%sym_size_int, -1]");
  model.Output("view");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("mul(x)", "view(mul)"));
  EXPECT_EQ(net.nodes[0].attrs.Float(Key::kScalar), 2.0);
  EXPECT_EQ(net.nodes[1].attrs.Ints(Key::kSizes), nullptr);  // not literal
}

TEST(FxLift, ATypePromotionOfTheExporterIsNoOperator) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Greater", {"x"}, "gt", "aten.gt.Scalar", "%x, 0");
  model.Node("Cast", {"gt"}, "convert_element_type_default", "prims.convert_element_type.default", "%gt");
  model.Node("CumSum", {"convert_element_type_default"}, "cumsum", "aten.cumsum.default",
             "%convert_element_type_default, -1");
  model.Output("cumsum");
  EXPECT_THAT(NodeTexts(model.Lift()), ElementsAre("gt(x)", "cumsum(gt)"));
}

TEST(FxLift, AnOperatorNobodyKnowsKeepsItsTensors) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Custom", {"x"}, "quux", "mylib.quux.default", "%x, 3, [%x]");
  model.Output("quux");
  const Network net = model.Lift();
  EXPECT_THAT(NodeTexts(net), ElementsAre("unknown(x, x)"));
  EXPECT_EQ(net.nodes[0].attrs.Text(Key::kReplaces), "quux");
  EXPECT_EQ(net.nodes[0].origin.evidence, Evidence::kFallback);
}

TEST(FxLift, AParameterThatNothingReadsIsListedAsUnused) {
  FxModel model({"x"}, "p_a: PARAMETER target='a'\nx: USER_INPUT");
  model.Node("Relu", {"x"}, "relu", "aten.relu.default", "%x");
  model.Output("relu");
  const Network net = model.Lift();
  EXPECT_FALSE(FindParam(net, "a")->used);
  EXPECT_EQ(NumElements(FindParam(net, "a")->dims), 0);
  ASSERT_EQ(net.assumptions.size(), 1u);
  EXPECT_EQ(net.assumptions[0].code, "A0301");
}

TEST(FxLift, ASharedLayerInALoopIsAsManyCalls) {
  FxModel model({"x"}, "p_l_weight: PARAMETER target='l.fc.weight'\nx: USER_INPUT");
  model.Stored("l.fc.weight", {4, 4});
  std::string last = "x";
  for (const char* const number : {"", "_1", "_2"}) {
    const std::string linear = std::string("linear") + number, relu = std::string("relu") + number;
    model.InAll({{"l", "Layer"}, {"l.fc", kLinear}});
    model.Node("Gemm", {last, "l.fc.weight"}, linear, "aten.linear.default", "%" + last + ", %p_l_weight");
    model.In("l", "Layer");
    model.Node("Relu", {linear}, relu, "aten.relu.default", "%" + linear);
    last = relu;
  }
  model.Output(last);
  const Network net = model.Lift();
  int layers = 0;
  for (const Call& call : net.calls) layers += net.modules[static_cast<size_t>(call.module)].path == "l" ? 1 : 0;
  EXPECT_EQ(layers, 3);
  EXPECT_EQ(net.calls[1].end, 2);  // linear, relu
}

TEST(FxLift, ALoopInsideAModuleIsOneCallOfIt) {
  // A solver calls its function twice and sums up after the second time.
  FxModel model({"x"}, "p_f_weight: PARAMETER target='s.f.weight'\nx: USER_INPUT");
  model.Stored("s.f.weight", {4, 4});
  model.InAll({{"s", "Solver"}, {"s.f", kLinear}});
  model.Node("Gemm", {"x", "s.f.weight"}, "linear", "aten.linear.default", "%x, %p_f_weight");
  model.In("s", "Solver");
  model.Node("Mul", {"linear"}, "mul", "aten.mul.Tensor", "%linear, 0.5");
  model.InAll({{"s", "Solver"}, {"s.f", kLinear}});
  model.Node("Gemm", {"mul", "s.f.weight"}, "linear_1", "aten.linear.default", "%mul, %p_f_weight");
  model.In("s", "Solver");
  model.Node("Mul", {"linear_1"}, "mul_1", "aten.mul.Tensor", "%linear_1, 0.5");
  model.Node("Add", {"mul_1", "x"}, "add", "aten.add.Tensor", "%mul_1, %x");
  model.Output("add");
  const Network net = model.Lift();
  ASSERT_EQ(net.calls.size(), 4u);  // root, s, s.f twice
  EXPECT_EQ(net.calls[1].end, 5);
}

TEST(FxLift, HeadsRepeatedForAMaskAreHeldUntilTheAttention) {
  FxModel model({"q", "k", "mask"}, "q: USER_INPUT\nk: USER_INPUT\nattention_mask: USER_INPUT");
  model.In("a", "transformers.models.llama.modeling_llama.LlamaAttention");
  model.Node("Neg", {"k"}, "neg", "aten.neg.default", "%k");
  model.Node("Unsqueeze", {"neg"}, "unsqueeze", "aten.unsqueeze.default", "%neg, 2");
  model.Node("Expand", {"unsqueeze"}, "expand", "aten.expand.default", "%unsqueeze, [2, 2, 4, 8, 16]");
  model.Node("Reshape", {"expand"}, "_unsafe_view", "aten._unsafe_view.default", "%clone, [2, 8, 8, 16]");
  model.Node("Softmax", {"q", "_unsafe_view", "mask"}, "scaled_dot_product_attention",
             "aten.scaled_dot_product_attention.default", "%q, %_unsafe_view, %_unsafe_view, %attention_mask");
  model.Output("scaled_dot_product_attention");
  const Network net = model.Lift();
  const NodeId attention = static_cast<NodeId>(net.nodes.size()) - 1;
  ASSERT_TRUE(net.nodes.back().attrs.Has(Key::kMaskKind));
  const TensorId before = BeforeRepeat(net, net.nodes.back().in[1]);
  ASSERT_NE(before, kNone);
  EXPECT_EQ(net.tensors[static_cast<size_t>(before)].name, "neg");
  EXPECT_GE(net.tensors[static_cast<size_t>(before)].released_after, attention);
}

TEST(FxLift, LiftingLeavesNoAssumptionWhereNothingIsAssumed) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.Node("Relu", {"x"}, "relu", "aten.relu.default", "%x");
  model.Output("relu");
  EXPECT_THAT(model.Lift().assumptions, IsEmpty());
}

}  // namespace
}  // namespace memcrest
