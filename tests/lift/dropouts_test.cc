// Dropout that evaluation exports lost.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/lift/dropouts.h"
#include "tests/lift/fx_model.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kLinear[] = "torch.nn.modules.linear.Linear";

// A BERT layer's ends: query (so that the family is told), output.dense, and the sum behind it.
FxModel BertEnd(const std::string& cls) {
  FxModel model(
      {"x"},
      "p_q: PARAMETER target='l.attention.self.query.weight'\np_a: PARAMETER target='l.attention.output.dense.weight'\n"
      "p_d: PARAMETER target='l.output.dense.weight'\nx: USER_INPUT");
  for (const char* const name :
       {"l.attention.self.query.weight", "l.attention.output.dense.weight", "l.output.dense.weight"}) {
    model.Stored(name, {4, 4});
  }
  model.InAll({{"l", cls}, {"l.attention.self.query", kLinear}});
  model.Node("Gemm", {"x", "l.attention.self.query.weight"}, "linear", "aten.linear.default", "%x, %p_q");
  model.InAll({{"l", cls}, {"l.attention.output.dense", kLinear}});
  model.Node("Gemm", {"linear", "l.attention.output.dense.weight"}, "linear_1", "aten.linear.default", "%linear, %p_a");
  model.InAll({{"l", cls}, {"l.output.dense", kLinear}});
  model.Node("Gemm", {"linear_1", "l.output.dense.weight"}, "linear_2", "aten.linear.default", "%linear_1, %p_d");
  model.In("l", cls);
  model.Node("Add", {"linear_2", "x"}, "add", "aten.add.Tensor", "%linear_2, %x");
  model.Output("add");
  return model;
}

TEST(Dropouts, AFamilyDropsOutWhereItsConfigurationSays) {
  const Network net = BertEnd("transformers.models.bert.modeling_bert.BertLayer").Lift();
  EXPECT_THAT(NodeTexts(net),
              ElementsAre("linear(x, l.attention.self.query.weight)", "linear(linear, l.attention.output.dense.weight)",
                          "dropout(linear_1)", "linear(linear_1.dropout, l.output.dense.weight)", "dropout(linear_2)",
                          "add(linear_2.dropout, x)"));
  EXPECT_EQ(net.nodes[2].attrs.Float(Key::kP), 0.1);
  EXPECT_EQ(ModulePath(net, net.nodes[4].call), "l");
  ASSERT_EQ(net.assumptions.size(), 1u);
  EXPECT_EQ(net.assumptions[0].code, "A0307");
  EXPECT_THAT(net.assumptions[0].message, HasSubstr("2 dropouts"));
}

TEST(Dropouts, ANetworkOfOnesOwnIsLeftAlone) { EXPECT_EQ(BertEnd("net.Layer").Lift().nodes.size(), 4u); }

TEST(Dropouts, ATrainingExportIsLeftAlone) {
  FxModel model = BertEnd("transformers.models.bert.modeling_bert.BertLayer");
  model.In("d", "torch.nn.modules.dropout.Dropout");
  model.Node("Dropout", {"add"}, "native_dropout", "aten.native_dropout.default", "%add, 0.1, True", {"getitem"});
  model.Output("getitem");
  EXPECT_EQ(model.Lift().nodes.size(), 5u);
}

TEST(Dropouts, TheUserMayNameModules) {
  LiftOptions options;
  options.dropout = {{"l.output.dense", 0.3}};
  Network net = BertEnd("net.Layer").Lift();
  RestoreDropouts(options, net);
  EXPECT_TRUE(Verify(net).empty());
  EXPECT_EQ(NodeText(net, 3), "dropout(linear_2)");
  EXPECT_EQ(net.nodes[3].attrs.Float(Key::kP), 0.3);
  EXPECT_EQ(NodeText(net, 4), "add(linear_2.dropout, x)");
}

TEST(Dropouts, PathsEndSegmentBySegment) {
  EXPECT_TRUE(PathEndsWith("a.b.output.dense", "output.dense"));
  EXPECT_TRUE(PathEndsWith("output.dense", "output.dense"));
  EXPECT_TRUE(PathEndsWith("a.h.0", "*.0"));
  EXPECT_FALSE(PathEndsWith("a.xoutput.dense", "output.dense"));
  EXPECT_FALSE(PathEndsWith("dense", "output.dense"));
}

}  // namespace
}  // namespace memcrest
