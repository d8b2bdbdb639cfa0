// Patterns of plain exports: each small model is what the TorchScript exporter writes for one module.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include "src/eager/op.h"
#include "src/lift/lift.h"
#include "src/onnx/text.h"

namespace memcrest {
namespace {

Network MustLift(const std::string& text) {
  const absl::StatusOr<onnx::Model> model = onnx::ParseModelText(text);
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return Network();
  absl::StatusOr<Network> network = Lift(*model, LiftOptions());
  EXPECT_TRUE(network.ok()) << network.status();
  return network.ok() ? *std::move(network) : Network();
}

std::vector<std::string> OpsOf(const Network& network) {
  std::vector<std::string> ops;
  for (const Node& n : network.nodes) ops.emplace_back(n.op->name);
  return ops;
}

using Names = std::vector<std::string>;

TEST(PlainLift, ATransposedWeightAndABiasAreALinear) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[batch, 4] x) => (float[batch, 3] y)
      <float[3, 4] "fc.weight", float[3] "fc.bias"> {
      t = Transpose<perm = [1, 0]>("fc.weight")
      m = MatMul(x, t)
      y = Add("fc.bias", m)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"linear"}));
  EXPECT_EQ(net.params.size(), 2u);
  EXPECT_TRUE(Verify(net).empty());
}

TEST(PlainLift, ErfGeluIsOneOperator) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[batch, 4] x) => (float[batch, 4] y) {
      r = Constant<value = float {1.4142135}>()
      one = Constant<value = float {1.0}>()
      half = Constant<value = float {0.5}>()
      d = Div(x, r)
      e = Erf(d)
      a = Add(e, one)
      m = Mul(x, a)
      y = Mul(m, half)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"gelu"}));
}

TEST(PlainLift, AGateByHandOfAnotherTensorStaysTwoOperators) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[batch, 4] x, float[batch, 4] z) => (float[batch, 4] y) {
      s = Sigmoid(x)
      y = Mul(z, s)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"sigmoid", "mul"}));
}

TEST(PlainLift, SigmoidTimesItsInputIsSilu) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[batch, 4] x) => (float[batch, 4] y) {
      s = Sigmoid(x)
      y = Mul(x, s)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"silu"}));
}

TEST(PlainLift, ShapeArithmeticRunsOnTheHost) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[batch, 4, 6] x) => (float[n, m] y) {
      s = Shape(x)
      zero = Constant<value = int64 {0}>()
      b = Gather(s, zero)
      axes = Constant<value = int64[1] {0}>()
      b1 = Unsqueeze(b, axes)
      rest = Constant<value = int64[1] {-1}>()
      target = Concat<axis = 0>(b1, rest)
      y = Reshape(x, target)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"reshape"}));
}

TEST(PlainLift, AttentionWithItsScaleOnBothSidesIsOneOperator) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[b, 2, s, 8] q, float[b, 2, s, 8] k, float[b, 2, s, 8] v) => (float[b, 2, s, 8] y) {
      scale = Constant<value = float {0.5946}>()
      kt = Transpose<perm = [0, 1, 3, 2]>(k)
      qs = Mul(q, scale)
      ks = Mul(kt, scale)
      scores = MatMul(qs, ks)
      p = Softmax<axis = -1>(scores)
      y = MatMul(p, v)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"permute", "scaled_dot_product_attention"}));
}

TEST(PlainLift, AttentionByHandStaysSeveralOperators) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[b, 2, s, 8] q, float[b, 2, s, 8] k, float[b, 2, s, 8] v) => (float[b, 2, s, 8] y) {
      scale = Constant<value = float {0.3535}>()
      kt = Transpose<perm = [0, 1, 3, 2]>(k)
      raw = MatMul(q, kt)
      scores = Mul(raw, scale)
      p = Softmax<axis = -1>(scores)
      y = MatMul(p, v)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"permute", "matmul", "mul", "softmax", "matmul"}));
}

// transformers' attention function: torch.where(mask, position_bias, finfo.min).contiguous() in every call; the exporter
// merges the equal `where`s and drops the copies.
TEST(PlainLift, EveryAttentionCallMasksASharedBiasForItself) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[b, 2, s, 8] q, bool[b, 1, s, s] mask, float[b, 2, s, s] given) => (float[b, 2, s, 8] z) {
      bias = Relu(given)
      lowest = Constant<value = float {-3.4028234e38}>()
      masked = Where(mask, bias, lowest)
      one = Constant<value = float {1.0}>()
      qt = Transpose<perm = [0, 1, 3, 2]>(q)
      q1 = Mul(q, one)
      k1 = Mul(qt, one)
      s1 = MatMul(q1, k1)
      a1 = Add(s1, masked)
      p1 = Softmax<axis = -1>(a1)
      y = MatMul(p1, q)
      yt = Transpose<perm = [0, 1, 3, 2]>(y)
      q2 = Mul(y, one)
      k2 = Mul(yt, one)
      s2 = MatMul(q2, k2)
      a2 = Add(s2, masked)
      p2 = Softmax<axis = -1>(a2)
      z = MatMul(p2, y)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"relu", "where", "permute", "contiguous", "scaled_dot_product_attention", "permute", "where",
                               "contiguous", "scaled_dot_product_attention"}));
  EXPECT_TRUE(Verify(net).empty());
}

TEST(PlainLift, ANumberKeepsItsType) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (int64[n] i, float[n] x) => (int64[n] j, float[n] y) {
      two = Constant<value = int64 {2}>()
      half = Constant<value = float {0.5}>()
      j = Mul(i, two)
      y = Mul(x, half)
    })");
  ASSERT_EQ(net.nodes.size(), 2u);
  EXPECT_EQ(*net.nodes[0].attrs.Find(Key::kScalar), AttrValue(int64_t{2}));
  EXPECT_EQ(*net.nodes[1].attrs.Find(Key::kScalar), AttrValue(0.5));
}

// F.batch_norm(weight.reshape(1, out, -1), None, None, weight=(gain * scale).view(-1), training=True): the exporter folds the
// reshape, a transpose of it and the gain into tensors without names.
TEST(PlainLift, AStandardisedWeightIsOneParameterAndItsGain) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[batch, 3, 8, 8] x) => (float[batch, 4, 8, 8] y)
      <float[1, 4, 27] "onnx::BatchNormalization_1", float[4] "onnx::BatchNormalization_2", float[1, 27, 4] "onnx::ReduceMean_3",
       float[4] "stem.bias"> {
      zeros = Constant<value = float[4] {0.0, 0.0, 0.0, 0.0}>()
      mean = ReduceMean<axes = [0, 1], keepdims = 0>("onnx::ReduceMean_3")
      kept = ReduceMean<axes = [0, 1], keepdims = 1>("onnx::ReduceMean_3")
      d = Sub("onnx::ReduceMean_3", kept)
      d2 = Mul(d, d)
      var = ReduceMean<axes = [0, 1], keepdims = 0>(d2)
      n = BatchNormalization<training_mode = 1>("onnx::BatchNormalization_1", "onnx::BatchNormalization_2", zeros, mean, var)
      sizes = Constant<value = int64[4] {4, 3, 3, 3}>()
      w = Reshape(n, sizes)
      y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w, "stem.bias")
    })");
  EXPECT_EQ(OpsOf(net), (Names{"view", "mul", "view", "batch_norm", "reshape", "convolution"}));
  ASSERT_EQ(net.params.size(), 3u);
  EXPECT_EQ(net.params[1].dims, (Dims{4, 3, 3, 3}));
  EXPECT_EQ(net.params[2].dims, (Dims{4, 1, 1, 1}));
  EXPECT_TRUE(Verify(net).empty());
}

std::vector<std::string> ParamsOfHead(const std::string& table) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int64[n] i) => (float[n, 9] y) <float[9, 2] ")" + table + R"(", float[2, 9] "onnx::MatMul_1"> {
      x = Gather(")" + table + R"(", i)
      y = MatMul(x, "onnx::MatMul_1")
    })");
  std::vector<std::string> names;
  for (const Param& p : net.params) names.push_back(p.fqn);
  return names;
}

TEST(PlainLift, AFoldedHeadIsTheTokenTableUnlessItsFamilyKeepsItsOwn) {
  EXPECT_EQ(ParamsOfHead("transformer.wte.weight"), (Names{"transformer.wte.weight"}));
  EXPECT_EQ(ParamsOfHead("gpt_neox.embed_in.weight"), (Names{"gpt_neox.embed_in.weight", ".weight"}));
}

// A window's attention adds table[index], heads first and copied; the exporter folds all of it. 4 tokens are a window of
// 2 x 2: 9 relative positions.
TEST(PlainLift, AFoldedPositionBiasIsATableAgain) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[b, 2, 4, 4] scores) => (float[b, 2, 4, 4] y) <float[1, 2, 4, 4] "onnx::Add_1"> {
      biased = Add(scores, "onnx::Add_1")
      y = Softmax<axis = -1>(biased)
    })");
  EXPECT_EQ(OpsOf(net), (Names{"index", "permute", "contiguous", "view", "add", "softmax"}));
  ASSERT_EQ(net.params.size(), 2u);
  EXPECT_EQ(net.params[0].dims, (Dims{9, 2}));
  EXPECT_TRUE(net.params[1].buffer);
}

// Two products of one call are two parameters; the same one in the next call of the module ("fc_1") is not a third.
TEST(PlainLift, EachCallHasFoldedCopiesOfItsModulesWeights) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[b, 4] x) => (float[b, 4] y)
      <float[4, 4] "onnx::MatMul_1", float[4, 4] "onnx::MatMul_2", float[4, 4] "onnx::MatMul_3", float[4] "net.fc.bias"> {
      ["/net/fc/MatMul"] a = MatMul(x, "onnx::MatMul_1")
      ["/net/fc/MatMul_1"] c = MatMul(a, "onnx::MatMul_2")
      ["/net/fc/Add"] d = Add(c, "net.fc.bias")
      ["/net/fc_1/MatMul"] y = MatMul(d, "onnx::MatMul_3")
    })");
  ASSERT_EQ(net.params.size(), 3u);
  EXPECT_EQ(net.nodes[0].in[1] == kNone, false);
  EXPECT_EQ(net.tensors[static_cast<size_t>(net.nodes[0].in[1])].param,
            net.tensors[static_cast<size_t>(net.nodes.back().in[1])].param);
}

// torch.where(mask, torch.tensor(0.0, dtype=dtype), finfo(dtype).min): in the type of the model, whatever the job makes it.
TEST(PlainLift, AMaskOfTwoNumbersHasTheTypeOfTheExport) {
  const Network net = MustLift(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (bool[b, s] mask) => (float[b, s] y) {
      zero = Constant<value = float {0.0}>()
      lowest = Constant<value = float {-3.4028234e38}>()
      y = Where(mask, zero, lowest)
    })");
  ASSERT_EQ(OpsOf(net), (Names{"where"}));
  EXPECT_EQ(net.nodes[0].attrs.Type(Key::kDtype), DType::kFloat32);
}

}  // namespace
}  // namespace memcrest
