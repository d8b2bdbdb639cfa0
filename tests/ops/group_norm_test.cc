#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Sequences were recorded from the lab. x is 4 x 16 x 32 x 32 floats (262144 bytes) in 4 groups: 16 statistics (64
// bytes), 64 coefficients per sample and channel (256).

Attrs Four() { return {{Key::kGroups, int64_t{4}}}; }

TEST(GroupNorm, SavesStatisticsPerGroup) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("group_norm", {h.Leaf({4, 16, 32, 32}), h.Leaf({16}), h.Leaf({16})}, Four()),
            "+262144 group_norm\n+64 group_norm\n+64 group_norm\n~256 group_norm\n~256 group_norm\nbackward\n"
            "+262144 ones_like\n-262144 ones_like\n+262144 group_norm\n+64 group_norm\n+64 group_norm\n"
            "~256 group_norm\n~256 group_norm\n~64 group_norm\n~64 group_norm\n~256 group_norm\n"
            "-262144 group_norm\n-64 group_norm\n-64 group_norm\n-262144 accumulate_grad\n-64 accumulate_grad\n"
            "-64 accumulate_grad\n");
}

TEST(GroupNorm, ChannelsLastIsCopiedInBothDirections) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("group_norm", {h.Permuted({4, 16, 32, 32}, {0, 2, 3, 1}), h.Leaf({16}), h.Leaf({16})}, Four()),
            "+262144 group_norm\n+64 group_norm\n+64 group_norm\n~262144 group_norm\n~256 group_norm\n"
            "~256 group_norm\nbackward\n+262144 ones_like\n-262144 ones_like\n~262144 group_norm\n"
            "+64 group_norm\n+64 group_norm\n~256 group_norm\n~256 group_norm\n~64 group_norm\n~64 group_norm\n"
            "~256 group_norm\n-262144 group_norm\n-64 group_norm\n-64 group_norm\n-64 accumulate_grad\n"
            "-64 accumulate_grad\n");
}

TEST(GroupNorm, HalfPrecisionAccumulatesItsStatisticsInFloat32) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("group_norm",
                    {h.Leaf({4, 16, 32, 32}, DType::kBFloat16), h.Leaf({16}, DType::kBFloat16),
                     h.Leaf({16}, DType::kBFloat16)},
                    Four()),
            "+131072 group_norm\n+32 group_norm\n+32 group_norm\n~64 group_norm\n~64 group_norm\n"
            "~256 group_norm\n~256 group_norm\nbackward\n+131072 ones_like\n-131072 ones_like\n"
            "+131072 group_norm\n+32 group_norm\n+32 group_norm\n~256 group_norm\n~256 group_norm\n"
            "~64 group_norm\n~64 group_norm\n~256 group_norm\n-131072 group_norm\n-32 group_norm\n"
            "-32 group_norm\n-131072 accumulate_grad\n-32 accumulate_grad\n-32 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
