#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Attrs Pads(Dims pads, const char* mode = "constant") {
  return Attrs{{Key::kPadding, std::move(pads)}, {Key::kMode, std::string(mode)}};
}

// Leaves are float32 4 x 6 x 8 x 10: 7680 bytes; padded by 3 columns and 7 rows 4 x 6 x 15 x 13: 18720. From the lab.

TEST(Padding, ConstantIsOneResultEachWay) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("pad", {h.Leaf({4, 6, 8, 10})}, Pads({1, 2, 3, 4})),
            "+18720 constant_pad_nd\nbackward\n+18720 ones_like\n-18720 ones_like\n+7680 constant_pad_nd\n"
            "-18720 constant_pad_nd\n-7680 accumulate_grad\n");
}

TEST(Padding, ConstantKeepsChannelsLast) {
  EagerHarness h;
  const Value x = h.Permuted({4, 6, 8, 10}, {0, 2, 3, 1});
  EXPECT_THAT(h.Run("pad", {x}, Pads({1, 2, 3, 4})).strides(), ElementsAre(1170, 1, 78, 6));
}

TEST(Padding, NegativePadsCut) {
  EagerHarness h;
  EXPECT_THAT(h.Run("pad", {h.Input({4, 6, 8, 10})}, Pads({-1, -2})).sizes(), ElementsAre(4, 6, 8, 7));
}

TEST(Padding, ReflectionSavesItsInputAndReadsItRowMajor) {
  EagerHarness h;
  const Value x = h.Run("to", {h.Leaf({4, 6, 8, 10})}, Attrs{{Key::kMemoryFormat, std::string("channels_last")}});
  h.Events();
  h.Run("pad", {x}, Pads({1, 2, 3, 4}, "reflect"));
  EXPECT_THAT(h.Events(), HasSubstr("+18720 _reflection_pad\n~7680 _reflection_pad\n"));
}

TEST(Padding, ReplicationReadsAnyLayout) {
  EagerHarness h;
  h.Run("pad", {h.Permuted({4, 6, 8, 10}, {0, 2, 3, 1})}, Pads({1, 2, 3, 4}, "replicate"));
  EXPECT_EQ(h.Events(), "+18720 _replication_pad\n-18720 \n");
}

// Two borders (2 and 1 columns: 1536 and 768 bytes), each undone through CopySlices: a whole gradient, a clone,
// zeros, a whole one.
TEST(Padding, CircularGoesThroughCopySlices) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("pad", {h.Leaf({4, 6, 8, 10})}, Pads({1, 2, 0, 0}, "circular")),
            "+9984 _pad_circular\nbackward\n+9984 ones_like\n-9984 ones_like\n+9984 _pad_circular\n"
            "+1536 _pad_circular\n+1536 _pad_circular\n-1536 _pad_circular\n-9984 _pad_circular\n"
            "+9984 _pad_circular\n-1536 _pad_circular\n?9984 _pad_circular\n-9984 _pad_circular\n"
            "+9984 _pad_circular\n+768 _pad_circular\n+768 _pad_circular\n-768 _pad_circular\n"
            "-9984 _pad_circular\n+9984 _pad_circular\n-768 _pad_circular\n?9984 _pad_circular\n"
            "-9984 _pad_circular\n+9984 _pad_circular\n+7680 _pad_circular\n-9984 _pad_circular\n"
            "-9984 _pad_circular\n+7680 _pad_circular\n-7680 _pad_circular\n+7680 _pad_circular\n"
            "-7680 _pad_circular\n-7680 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
