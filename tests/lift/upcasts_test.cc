// Casts that float32 exports cannot show, and activations in place by their library's habit.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/lift/inplace.h"
#include "tests/lift/fx_model.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

// weight * (x * rsqrt(mean(x^2) + eps)) in a module of that class.
Network NormOf(const std::string& cls, const std::string& line = "") {
  FxModel model({"x"}, "p_n_weight: PARAMETER target='n.weight'\nx: USER_INPUT");
  model.Stored("n.weight", {4});
  model.In("n", cls);
  if (!line.empty()) model.At({{"net.py", "forward", 1, "return self.n(x)"}, {"norm.py", "forward", 7, line}});
  model.Node("Pow", {"x"}, "pow_1", "aten.pow.Tensor_Scalar", "%x, 2");
  model.Node("ReduceMean", {"pow_1"}, "mean", "aten.mean.dim", "%pow_1, [-1], True");
  model.Node("Add", {"mean"}, "add", "aten.add.Tensor", "%mean, 1e-06");
  model.Node("Rsqrt", {"add"}, "rsqrt", "aten.rsqrt.default", "%add");
  model.Node("Mul", {"x", "rsqrt"}, "mul", "aten.mul.Tensor", "%x, %rsqrt");
  model.Node("Mul", {"n.weight", "mul"}, "mul_1", "aten.mul.Tensor", "%p_n_weight, %mul");
  model.Output("mul_1");
  return model.Lift();
}

TEST(Upcasts, ALlamaNormComputesInFloat32AndCastsBack) {
  const Network net = NormOf("transformers.models.llama.modeling_llama.LlamaRMSNorm");
  EXPECT_THAT(NodeTexts(net), ElementsAre("to(x)", "pow(x.float)", "mean(pow_1)", "add(mean)", "rsqrt(add)",
                                          "mul(x.float, rsqrt)", "to(mul)", "mul(n.weight, mul.narrow)"));
  EXPECT_TRUE(net.nodes[0].attrs.Bool(Key::kExplicit));
  EXPECT_FALSE(net.nodes[6].attrs.Bool(Key::kExplicit));
  EXPECT_EQ(net.calls[1].end, 8);
}

TEST(Upcasts, AT5NormCastsForTheVarianceOnly) {
  EXPECT_THAT(NodeTexts(NormOf("transformers.models.t5.modeling_t5.T5LayerNorm")),
              ElementsAre("to(x)", "pow(x.float)", "mean(pow_1)", "add(mean)", "rsqrt(add)", "mul(x, rsqrt)", "to(mul)",
                          "mul(n.weight, mul.narrow)"));
}

TEST(Upcasts, ANormOfOnesOwnCastsIfItsLineSaysSo) {
  EXPECT_EQ(NormOf("net.RMSNorm", "return self._norm(x.float()).type_as(x) * self.weight").nodes.size(), 8u);
  EXPECT_EQ(NormOf("net.RMSNorm", "return x * torch.rsqrt(x.pow(2).mean(-1, True) + 1e-6) * self.weight").nodes.size(),
            6u);
}

Scopes Around(const std::string& builder, const std::string& cls) { return {{"b", builder, 0}, {"b.act", cls, 0}}; }

TEST(InPlace, LibrariesBuildTheirActivationsInPlace) {
  const std::string relu = "torch.nn.modules.activation.ReLU", silu = "torch.nn.modules.activation.SiLU";
  EXPECT_TRUE(RunsInPlace("relu", Around("torchvision.models.resnet.BasicBlock", relu)));
  EXPECT_TRUE(RunsInPlace("relu", Around("timm.models.ghostnet.GhostModule", relu)));
  EXPECT_FALSE(RunsInPlace("relu", Around("torchvision.ops.misc.SqueezeExcitation", relu)));
  EXPECT_TRUE(RunsInPlace("silu", Around("torchvision.ops.misc.SqueezeExcitation", silu)));
  EXPECT_FALSE(RunsInPlace("relu", Around("torchvision.models.segmentation.deeplabv3.ASPP", relu)));
  EXPECT_FALSE(RunsInPlace("relu", Around("net.Block", relu)));
  EXPECT_FALSE(RunsInPlace("gelu", Around("torchvision.models.resnet.BasicBlock", "torch.nn.modules.activation.GELU")));
  EXPECT_FALSE(RunsInPlace("relu", {}));
}

}  // namespace
}  // namespace memcrest
