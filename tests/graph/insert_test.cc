// Inserted nodes move ids, calls and lifetimes along.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/eager/op.h"
#include "src/graph/insert.h"
#include "src/graph/text.h"

namespace memcrest {
namespace {

using ::testing::IsEmpty;

// y = relu(x) in module a, z = exp(y) in module b.
Network TwoModules() {
  const absl::StatusOr<Network> network = ParseNetwork(R"(
module 0 "" "" parent -
module 1 "a" "" parent 0
module 2 "b" "" parent 0
call 0 module 0 parent - nodes [0, 2)
call 1 module 1 parent 0 nodes [0, 1)
call 2 module 2 parent 0 nodes [1, 2)
tensor 0 "x" input float32
tensor 1 "y" float32 released 1
tensor 2 "z" float32
tensor 3 "new" float32 released 0
node 0 call 1 %1 = relu(%0) exporter
node 1 call 2 %2 = exp(%1) exporter
inputs %0
outputs %2
)", [](absl::string_view name) { return Ops().Find(name); });
  EXPECT_TRUE(network.ok()) << network.status();
  return network.ok() ? *network : Network();
}

Insertion CopyOf(TensorId in, NodeId before, CallId call) {
  Insertion insertion;
  insertion.before = before;
  insertion.node.op = Ops().Find("clone");
  insertion.node.in = {in};
  insertion.node.out = {3};
  insertion.node.call = call;
  return insertion;
}

TEST(InsertNodes, AtTheEndOfACallTheCallGrows) {
  Network net = TwoModules();
  InsertNodes(net, {CopyOf(1, 1, 1)});
  EXPECT_THAT(Verify(net), IsEmpty());
  EXPECT_EQ(net.calls[1].end, 2);
  EXPECT_EQ(net.calls[2].begin, 2);
  EXPECT_EQ(net.tensors[3].def, 1);
  EXPECT_EQ(net.tensors[3].released_after, 1);  // nobody reads it yet
  EXPECT_EQ(net.tensors[1].last_use, 2);        // exp moved from 1 to 2
  EXPECT_EQ(net.tensors[1].released_after, 2);
}

TEST(InsertNodes, AtTheBeginningOfTheNextCallThatOneGrows) {
  Network net = TwoModules();
  InsertNodes(net, {CopyOf(1, 1, 2)});
  EXPECT_THAT(Verify(net), IsEmpty());
  EXPECT_EQ(net.calls[1].end, 1);
  EXPECT_EQ(net.calls[2].begin, 1);
  EXPECT_EQ(net.calls[2].end, 3);
}

TEST(InsertNodes, BetweenCallsNeitherGrows) {
  Network net = TwoModules();
  InsertNodes(net, {CopyOf(1, 1, 0)});
  EXPECT_THAT(Verify(net), IsEmpty());
  EXPECT_EQ(net.calls[1].end, 1);
  EXPECT_EQ(net.calls[2].begin, 2);
  EXPECT_EQ(net.calls[0].end, 3);
}

TEST(InsertNodes, AtTheEndOfTheNetwork) {
  Network net = TwoModules();
  InsertNodes(net, {CopyOf(2, 2, 0)});
  EXPECT_THAT(Verify(net), IsEmpty());
  EXPECT_EQ(net.nodes.size(), 3u);
  EXPECT_EQ(net.nodes[2].op->name, std::string("clone"));
}

TEST(InsertNodes, NothingInsertedChangesNothing) {
  Network net = TwoModules();
  InsertNodes(net, {});
  EXPECT_EQ(net.nodes.size(), 2u);
}

}  // namespace
}  // namespace memcrest
