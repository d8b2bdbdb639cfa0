// How long Python keeps results, on models whose notes carry source lines.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include "tests/lift/fx_model.h"

namespace memcrest {
namespace {

using Line = FxModel::Line;
const Line kRoot = {"net.py", "forward", 1, "return self.block(x)"};

// block.forward, in net.py, runs `code` in line `line`.
std::vector<Line> InBlock(int line, const std::string& code) { return {kRoot, {"net.py", "forward", line, code}}; }

void Unary(FxModel& model, const std::string& op, const std::string& in, const std::string& out) {
  model.Node(op, {in}, out, "aten." + op + ".default", "%" + in);
}

NodeId ReleasedAfter(const Network& net, absl::string_view name) {
  const Tensor* const tensor = FindTensor(net, name);
  return tensor == nullptr ? -2 : tensor->released_after;
}

TEST(Lifetimes, ANameHoldsUntilTheFunctionReturns) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.In("block", "net.Block");
  model.At(InBlock(10, "a = torch.exp(x)"));
  Unary(model, "exp", "x", "exp");      // node 0
  model.At(InBlock(11, "b = torch.tanh(a)"));
  Unary(model, "tanh", "exp", "tanh");  // node 1: the last use of a
  model.At(InBlock(12, "return torch.relu(b)"));
  Unary(model, "relu", "tanh", "relu");  // node 2: b's last use; then block.forward returns
  model.In("out", "net.Block");
  model.At(
      {{"net.py", "forward", 2, "return self.out(self.block(x))"}, {"net.py", "forward", 20, "return x.sigmoid()"}});
  Unary(model, "sigmoid", "relu", "sigmoid");  // node 3
  model.Output("sigmoid");
  const Network net = model.Lift();
  EXPECT_EQ(ReleasedAfter(net, "exp"), 2);  // though node 1 is its last use
  EXPECT_EQ(ReleasedAfter(net, "tanh"), 2);
  EXPECT_EQ(ReleasedAfter(net, "relu"), 3);
  EXPECT_EQ(ReleasedAfter(net, "sigmoid"), kNone);  // the network's output
}

TEST(Lifetimes, ANameHoldsUntilItIsAssignedAgain) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.In("block", "net.Block");
  model.At(InBlock(10, "h = torch.exp(x)"));
  Unary(model, "exp", "x", "exp");
  model.At(InBlock(11, "r = torch.tanh(h)"));
  Unary(model, "tanh", "exp", "tanh");
  model.At(InBlock(12, "h = torch.relu(r)"));
  Unary(model, "relu", "tanh", "relu");
  model.At(InBlock(13, "return torch.sin(h) + r"));
  Unary(model, "sin", "relu", "sin");
  model.Node("Add", {"sin", "tanh"}, "add", "aten.add.Tensor", "%sin, %tanh");
  model.Output("add");
  const Network net = model.Lift();
  EXPECT_EQ(ReleasedAfter(net, "exp"), 2);   // "h" is assigned again by node 2
  EXPECT_EQ(ReleasedAfter(net, "relu"), 4);  // node 3 is its last use, node 4 the last before returning
  EXPECT_EQ(ReleasedAfter(net, "sin"), 4);   // a temporary: its last use
}

TEST(Lifetimes, AnExpressionsTemporariesDieAtTheirLastUse) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.In("block", "net.Block");
  model.At(InBlock(10, "h = torch.tanh(torch.exp(x))"));
  Unary(model, "exp", "x", "exp");
  Unary(model, "tanh", "exp", "tanh");
  model.At(InBlock(11, "return torch.relu(h)"));
  Unary(model, "relu", "tanh", "relu");
  model.Output("relu");
  EXPECT_EQ(ReleasedAfter(model.Lift(), "exp"), 1);
}

TEST(Lifetimes, AnArgumentIsHeldUntilTheModuleReturns) {
  // No source lines: the rule of arguments stands alone.
  FxModel model({"x"}, "x: USER_INPUT");
  Unary(model, "exp", "x", "exp");  // node 0, in the root
  model.In("block", "net.Block");
  Unary(model, "tanh", "exp", "tanh");   // node 1: reads exp first and last
  Unary(model, "relu", "tanh", "relu");  // node 2: the block's last
  model.InAll({});
  Unary(model, "sin", "relu", "sin");
  model.Output("sin");
  const Network net = model.Lift();
  EXPECT_EQ(ReleasedAfter(net, "exp"), 2);
  EXPECT_EQ(ReleasedAfter(net, "tanh"), 2);
  EXPECT_EQ(ReleasedAfter(net, "relu"), 3);
}

TEST(Lifetimes, InASequentialEachOutputLivesUntilTheNext) {
  const Line loop = {"torch/nn/modules/container.py", "forward", 250, "input = module(input)"};
  FxModel model({"x"}, "x: USER_INPUT");
  std::string last = "x";
  for (const std::string name : {"relu", "relu_1", "relu_2"}) {
    const std::string path = "s." + std::to_string(name.size());
    model.InAll({{"s", "torch.nn.modules.container.Sequential"}, {path, "torch.nn.modules.activation.ReLU"}});
    model.At({kRoot,
              loop,
              {"torch/nn/modules/activation.py", "forward", 143, "return F.relu(input, inplace=self.inplace)"}});
    Unary(model, "relu", last, name);
    last = name;
  }
  model.Output(last);
  const Network net = model.Lift();
  EXPECT_EQ(ReleasedAfter(net, "relu"), 1);
  EXPECT_EQ(ReleasedAfter(net, "relu_1"), 2);
}

TEST(Lifetimes, AnAugmentedAssignmentIsInPlace) {
  FxModel model({"x", "s"}, "x: USER_INPUT\ns: USER_INPUT");
  model.In("block", "net.Block");
  model.At(InBlock(10, "h = torch.exp(x)"));
  Unary(model, "exp", "x", "exp");
  model.At(InBlock(11, "if self.act.inplace: h += s"));
  model.Node("Add", {"exp", "s"}, "add", "aten.add.Tensor", "%exp, %s");
  model.At(InBlock(12, "return F.relu(h, inplace=True)"));
  Unary(model, "relu", "add", "relu");
  model.Output("relu");
  const Network net = model.Lift();
  EXPECT_FALSE(net.nodes[0].attrs.Bool(Key::kInplace));
  EXPECT_TRUE(net.nodes[1].attrs.Bool(Key::kInplace));
  EXPECT_TRUE(net.nodes[2].attrs.Bool(Key::kInplace));
  ASSERT_NE(net.nodes[1].origin.source_line, kNone);
  EXPECT_EQ(net.source_lines[static_cast<size_t>(net.nodes[1].origin.source_line)],
            "net.py:11: if self.act.inplace: h += s");
}

TEST(Lifetimes, AListKeepsWhatIsAppendedToIt) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.In("block", "net.Block");
  model.At(InBlock(10, "outs.append(torch.exp(x))"));
  Unary(model, "exp", "x", "exp");
  Unary(model, "tanh", "exp", "tanh");
  model.At(InBlock(11, "outs.append(torch.sin(x))"));
  Unary(model, "sin", "x", "sin");
  model.At(InBlock(12, "y = torch.cat(outs)"));
  model.Node("Concat", {"tanh", "sin"}, "cat", "aten.cat.default", "[%tanh, %sin], 0");
  model.At(InBlock(13, "return torch.relu(y)"));
  Unary(model, "relu", "cat", "relu");
  model.Output("relu");
  const Network net = model.Lift();
  EXPECT_EQ(ReleasedAfter(net, "tanh"), 4);  // node 3 is its last use; the list lives until the function returns
  EXPECT_EQ(ReleasedAfter(net, "sin"), 4);
}

TEST(Lifetimes, WhatIsPoppedFromAListDiesAtItsLastUse) {
  FxModel model({"x"}, "x: USER_INPUT");
  model.In("block", "net.Block");
  model.At(InBlock(10, "for d in self.down: skips.append(d(x))"));
  Unary(model, "exp", "x", "exp");
  model.At(InBlock(11, "for u in self.up: x = u(skips.pop())"));
  Unary(model, "sin", "exp", "sin");
  model.At(InBlock(12, "return torch.relu(x)"));
  Unary(model, "relu", "sin", "relu");
  model.Output("relu");
  EXPECT_EQ(ReleasedAfter(model.Lift(), "exp"), 1);
}

}  // namespace
}  // namespace memcrest
