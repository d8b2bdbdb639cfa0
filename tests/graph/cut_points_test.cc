// Cut points, on networks drawn as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/graph/cut_points.h"
#include "tests/graph/must_parse.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two blocks with a skip around each: h1 = h0 + mm(h0, w1), h2 = h1 + mm(h1, w2), where h0 = mm(x, w0). A mask made of
// the input alone (relu(x)) goes into both.
constexpr absl::string_view kResidual = R"(
module 0 "" "Net" parent - own [0, 1, 2]
param 0 "w0" float32 [4, 4] order 0
param 1 "w1" float32 [4, 4] order 1
param 2 "w2" float32 [4, 4] order 2
call 0 module 0 parent - nodes [0, 6)
tensor 0 "x" input float32
tensor 1 "w0" param 0 float32
tensor 2 "w1" param 1 float32
tensor 3 "w2" param 2 float32
tensor 4 "mask" float32
tensor 5 "h0" float32
tensor 6 "a" float32
tensor 7 "h1" float32
tensor 8 "b" float32
tensor 9 "h2" float32
node 0 call 0 %4 = relu(%0) exporter
node 1 call 0 %5 = mm(%0, %1) exporter
node 2 call 0 %6 = mm(%5, %2) exporter
node 3 call 0 %7 = where(%4, %6, %5) exporter
node 4 call 0 %8 = mm(%7, %3) exporter
node 5 call 0 %9 = where(%4, %8, %7) exporter
inputs %0
outputs %9
)";

TEST(CutPoints, AreWhereResidualBranchesMeetAndMasksDoNotCount) {
  EXPECT_THAT(CutPoints(MustParse(kResidual)), ElementsAre(1, 3, 5));
}

TEST(CutPoints, AnInputThatSkipsEverythingLeavesOnlyTheEnd) {
  // A second parameter's product joins at the very end: only the last operator is on every path.
  EXPECT_THAT(CutPoints(MustParse(R"(
module 0 "" "Net" parent - own [0, 1]
param 0 "w0" float32 [4, 4] order 0
param 1 "w1" float32 [4, 4] order 1
call 0 module 0 parent - nodes [0, 4)
tensor 0 "x" input float32
tensor 1 "w0" param 0 float32
tensor 2 "w1" param 1 float32
tensor 3 "a" float32
tensor 4 "b" float32
tensor 5 "c" float32
tensor 6 "d" float32
node 0 call 0 %3 = mm(%0, %1) exporter
node 1 call 0 %4 = mm(%0, %2) exporter
node 2 call 0 %5 = relu(%3) exporter
node 3 call 0 %6 = add(%5, %4) exporter
inputs %0
outputs %6
)")),
              ElementsAre(3));
}

TEST(CutPoints, ANetworkWithoutParametersHasNone) {
  EXPECT_THAT(CutPoints(MustParse(R"(
module 0 "" "Net" parent -
call 0 module 0 parent - nodes [0, 1)
tensor 0 "x" input float32
tensor 1 "y" float32
node 0 call 0 %1 = relu(%0) exporter
inputs %0
outputs %1
)")),
              IsEmpty());
}

}  // namespace
}  // namespace memcrest
