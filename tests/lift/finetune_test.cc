// Adapters, trained copies, packed weights and the input hook, built into small networks. Expected operators: peft 0.21
// (tuners/lora/layer.py, bnb.py, dora.py) and bitsandbytes 0.50 (nn/modules.py), line by line.
#include "src/lift/finetune.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/lift/lora.h"
#include "src/lift/quantize.h"
#include "tests/lift/fx_model.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

// embed (10 x 4) -> block.fc (4 -> 8, bias) -> head (8 -> 10).
Network Net() {
  FxModel model({"x"},
                "p_embed_weight: PARAMETER target='embed.weight'\np_fc_weight: PARAMETER target='block.fc.weight'\n"
                "p_fc_bias: PARAMETER target='block.fc.bias'\np_head_weight: PARAMETER target='head.weight'\n"
                "x: USER_INPUT");
  const std::string linear = "torch.nn.modules.linear.Linear";
  model.Stored("embed.weight", {10, 4});
  model.Stored("block.fc.weight", {8, 4});
  model.Stored("block.fc.bias", {8});
  model.Stored("head.weight", {10, 8});
  model.In("embed", "torch.nn.modules.sparse.Embedding");
  model.Node("Gather", {"embed.weight", "x"}, "embedding", "aten.embedding.default", "%p_embed_weight, %x");
  model.InAll({{"block", "net.Block"}, {"block.fc", linear}});
  model.Node("Gemm", {"embedding", "block.fc.weight", "block.fc.bias"}, "linear", "aten.linear.default",
             "%embedding, %p_fc_weight, %p_fc_bias");
  model.InAll({{"head", linear}});
  model.Node("Gemm", {"linear", "head.weight"}, "linear_1", "aten.linear.default", "%linear, %p_head_weight");
  model.Output("linear_1");
  return model.Lift();
}

Lora Rank2(std::vector<std::string> targets, double dropout = 0) {
  Lora lora;
  lora.rank = 2;
  lora.dropout = dropout;
  lora.targets = std::move(targets);
  return lora;
}

std::vector<std::string> Ops(const Network& net) {
  std::vector<std::string> ops;
  for (const Node& node : net.nodes) ops.push_back(node.op->name);
  return ops;
}

Dims SizesOf(const Network& net, const std::string& fqn) {
  const Param* param = FindParam(net, fqn);
  return param != nullptr ? param->dims : Dims{-1};
}

void ExpectSound(const Network& net) {
  for (const std::string& broken : Verify(net)) ADD_FAILURE() << broken;
}

TEST(Lora, RunsBesideTheBaseLayerInsideItsCall) {
  Network net = Net();
  ASSERT_TRUE(InjectLora(Rank2({"fc"}, 0.1), false, net).ok());
  ExpectSound(net);
  EXPECT_THAT(Ops(net), ElementsAre("embedding", "linear", "dtype_of", "to", "dropout", "linear", "linear", "mul", "add",
                                    "to_dtype_of", "linear"));
  EXPECT_EQ(SizesOf(net, "block.fc.lora_A.default.weight"), (Dims{2, 4}));
  EXPECT_EQ(SizesOf(net, "block.fc.lora_B.default.weight"), (Dims{8, 2}));
  for (NodeId n = 1; n < 10; ++n) EXPECT_EQ(ModulePath(net, net.nodes[static_cast<size_t>(n)].call), "block.fc") << n;
  EXPECT_EQ(net.nodes[10].in[0], net.nodes[9].out[0]);
  // `result` is assigned again by the sum; the cast input is a local of the layer's forward.
  EXPECT_EQ(net.tensors[static_cast<size_t>(net.nodes[1].out[0])].released_after, 8);
  EXPECT_EQ(net.tensors[static_cast<size_t>(net.nodes[3].out[0])].released_after, 9);
}

TEST(Lora, OnlyAdaptersTrainUnlessNamed) {
  Network net = Net();
  ASSERT_TRUE(InjectLora(Rank2({"fc"}), false, net).ok());
  EXPECT_EQ(FindParam(net, "block.fc.weight")->trains, Trains::kIfNamed);
  EXPECT_EQ(FindParam(net, "block.fc.lora_A.default.weight")->trains, Trains::kUnlessFrozen);
  EXPECT_TRUE(FindParam(net, "block.fc.lora_A.default.weight")->own_type);
}

TEST(Lora, AllLinearLeavesTheHeadOut) {
  const Network net = Net();
  const std::vector<ModuleId> targets = LoraTargets(Rank2({"all-linear"}), net);
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(net.modules[static_cast<size_t>(targets[0])].path, "block.fc");
}

TEST(Lora, ASavedModuleIsATrainedCopyBesideTheFrozenOne) {
  Network net = Net();
  Lora lora = Rank2({"fc"});
  lora.modules_to_save = {"head"};
  ASSERT_TRUE(InjectLora(lora, false, net).ok());
  ExpectSound(net);
  EXPECT_EQ(SizesOf(net, "head.modules_to_save.default.weight"), (Dims{10, 8}));
  EXPECT_EQ(FindParam(net, "head.weight")->trains, Trains::kIfNamed);
  EXPECT_EQ(NodeText(net, net.nodes.size() - 1).substr(0, 6), "linear");
  EXPECT_NE(NodeText(net, net.nodes.size() - 1).find("head.modules_to_save.default.weight"), std::string::npos);
}

TEST(Lora, DoraComputesTheNormOfTheWholeWeightEachTime) {
  Network net = Net();
  Lora lora = Rank2({"fc"});
  lora.dora = true;
  ASSERT_TRUE(InjectLora(lora, false, net).ok());
  ExpectSound(net);
  EXPECT_THAT(Ops(net), ElementsAre("embedding", "linear", "dtype_of", "to", "eye", "linear", "linear", "t", "to",
                                    "detach", "mul", "add", "linalg_vector_norm", "detach", "div", "unsqueeze", "linear",
                                    "linear", "sub", "sub", "mul", "mul", "mul", "add", "add", "to_dtype_of", "linear"));
  EXPECT_EQ(SizesOf(net, "block.fc.lora_magnitude_vector.default.weight"), (Dims{8}));
}

TEST(Lora, UnknownNamesAreRefused) {
  Network net = Net();
  EXPECT_NE(std::string(InjectLora(Rank2({"q_proj"}), false, net).message()).find("E0320"), std::string::npos);
  Lora lora = Rank2({"fc"});
  lora.modules_to_save = {"classifier"};
  EXPECT_NE(std::string(InjectLora(lora, false, net).message()).find("E0321"), std::string::npos);
}

TEST(InputGrads, TheEmbeddingsResultBecomesALeaf) {
  Network net = Net();
  ASSERT_TRUE(RequireInputGrads(net).ok());
  ExpectSound(net);
  EXPECT_THAT(Ops(net), ElementsAre("embedding", "requires_grad_", "linear", "linear"));
  EXPECT_EQ(net.nodes[2].in[0], net.nodes[1].out[0]);
}

Job Quantized(const std::string& type, bool nested) {
  Job job;
  job.precision = Precision::kBf16;
  job.quantize.emplace();
  job.quantize->type = type;
  job.quantize->double_quant = nested;
  return job;
}

// 32 weights: 16 bytes, one block of 64 and so one absmax, which has one absmax of its own.
TEST(Quantize, PacksLinearWeightsAndKeepsTheirState) {
  Network net = Net();
  ASSERT_TRUE(QuantizeBase(Quantized("nf4", true), net).ok());
  ExpectSound(net);
  EXPECT_THAT(Ops(net), ElementsAre("embedding", "linear_4bit", "linear"));
  EXPECT_EQ(SizesOf(net, "block.fc.weight"), (Dims{16, 1}));
  EXPECT_EQ(FindParam(net, "block.fc.weight")->stored, DType::kUInt8);
  EXPECT_EQ(FindParam(net, "block.fc.weight.absmax")->stored, DType::kUInt8);
  EXPECT_EQ(SizesOf(net, "block.fc.weight.nested_absmax"), (Dims{1}));
  EXPECT_EQ(SizesOf(net, "block.fc.weight.nested_quant_map"), (Dims{256}));
  EXPECT_EQ(FindParam(net, "block.fc.bias")->stored, DType::kBFloat16);
  EXPECT_EQ(SizesOf(net, "head.weight"), (Dims{10, 8}));
}

TEST(Quantize, AnEmptySkipListPacksTheHeadToo) {
  Network net = Net();
  Job job = Quantized("int8", false);
  job.quantize->skip.clear();
  ASSERT_TRUE(QuantizeBase(job, net).ok());
  EXPECT_THAT(Ops(net), ElementsAre("embedding", "linear_8bit", "linear_8bit"));
  EXPECT_EQ(SizesOf(net, "head.weight.SCB"), (Dims{10}));
}

TEST(Quantize, PreparingWidensWhatIsLeft) {
  Network net = Net();
  Job job = Quantized("nf4", false);
  job.quantize->prepare_kbit = true;
  ASSERT_TRUE(QuantizeBase(job, net).ok());
  EXPECT_TRUE(FindParam(net, "embed.weight")->own_type);
  EXPECT_EQ(FindParam(net, "embed.weight")->stored, DType::kFloat32);
  EXPECT_EQ(FindParam(net, "block.fc.bias")->stored, DType::kBFloat16);
}

TEST(Quantize, AdaptersSitOnPackedLayers) {
  Job job = Quantized("nf4", true);
  job.lora = Rank2({"fc"});
  Network net = Net();
  ASSERT_TRUE(PrepareFineTuning(job, net).ok());
  ExpectSound(net);
  EXPECT_THAT(Ops(net), ElementsAre("embedding", "linear_4bit", "clone", "dtype_of", "to", "linear", "linear", "mul",
                                    "to_dtype_of", "add", "linear"));
  EXPECT_EQ(SizesOf(net, "block.fc.lora_B.default.weight"), (Dims{8, 2}));
}

}  // namespace
}  // namespace memcrest
