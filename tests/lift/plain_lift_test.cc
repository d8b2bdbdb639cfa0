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

}  // namespace
}  // namespace memcrest
