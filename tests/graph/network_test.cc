// Invariants and last uses, on networks written as text.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/graph/network.h"
#include "tests/graph/must_parse.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// y = relu(x), z = relu(y), in module "a" called twice.
constexpr absl::string_view kTwoCalls = R"(
module 0 "" "Net" parent -
module 1 "a" "ReLU" parent 0
call 0 module 0 parent - nodes [0, 2)
call 1 module 1 parent 0 nodes [0, 1)
call 2 module 1 parent 0 nth 1 nodes [1, 2)
tensor 0 "x" input float32
tensor 1 "y" float32
tensor 2 "z" float32
node 0 call 1 %1 = relu(%0) exporter
node 1 call 2 %2 = relu(%1) exporter
inputs %0
outputs %2
)";

TEST(Network, ASoundNetworkHasNothingBroken) { EXPECT_THAT(Verify(MustParse(kTwoCalls)), IsEmpty()); }

TEST(Network, ResultsDieAtTheirLastUseAndOutputsStay) {
  Network net = MustParse(kTwoCalls);
  ComputeLastUses(net);
  EXPECT_EQ(net.tensors[1].last_use, 1);
  EXPECT_EQ(net.tensors[1].released_after, 1);
  EXPECT_EQ(net.tensors[2].last_use, kNone);
  EXPECT_EQ(net.tensors[2].released_after, kNone);
}

TEST(Network, AReleaseThatIsAlreadyLaterIsKept) {
  Network net = MustParse(kTwoCalls);
  net.tensors[0].released_after = 1;  // used by node 0 only
  ComputeLastUses(net);
  EXPECT_EQ(net.tensors[0].last_use, 0);
  EXPECT_EQ(net.tensors[0].released_after, 1);
}

TEST(Network, ModulePathsComeFromTheCall) {
  const Network net = MustParse(kTwoCalls);
  EXPECT_EQ(ModulePath(net, 2), "a");
  EXPECT_EQ(ModulePath(net, 0), "");
  EXPECT_EQ(ModulePath(net, kNone), "");
}

TEST(Network, UseBeforeDefinitionIsBroken) {
  Network net = MustParse(kTwoCalls);
  net.nodes[0].in[0] = 2;
  EXPECT_THAT(Verify(net), ElementsAre(HasSubstr("node 0 reads tensor 2 before it is defined")));
}

TEST(Network, OverlappingCallsAreBroken) {
  Network net = MustParse(kTwoCalls);
  net.calls[2].begin = 0;
  EXPECT_THAT(Verify(net), ElementsAre(HasSubstr("call 2 overlaps the call before it in call 0")));
}

TEST(Network, ANodeOutsideItsCallIsBroken) {
  Network net = MustParse(kTwoCalls);
  net.nodes[1].call = 1;
  EXPECT_THAT(Verify(net), ElementsAre(HasSubstr("node 1 is outside its call 1")));
}

TEST(Network, AReleaseBeforeTheLastUseIsBroken) {
  Network net = MustParse(kTwoCalls);
  net.tensors[1].released_after = 0;
  EXPECT_THAT(Verify(net), ElementsAre(HasSubstr("tensor 1 is released after node 0, but node 1 reads it")));
}

TEST(Network, ATensorWrittenTwiceIsBroken) {
  Network net = MustParse(kTwoCalls);
  net.nodes[1].out[0] = 1;
  // Node 1 defines tensor 1 again, tensor 1 names node 0, and nobody is left to define tensor 2.
  EXPECT_EQ(Verify(net).size(), 3u);
}

}  // namespace
}  // namespace memcrest
