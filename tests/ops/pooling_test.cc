#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Sequences were recorded from the lab. x is 4 x 16 x 32 x 32 floats (262144 bytes); a pooled quarter has 65536.

Attrs Two() { return {{Key::kKernel, Dims{2, 2}}, {Key::kStride, Dims{2, 2}}}; }

Value Turned(EagerHarness& h) {
  return h.Run("transpose", {h.Leaf({4, 16, 32, 32})}, {{Key::kPerm, Dims{0, 1, 3, 2}}});
}

TEST(Pooling, MaxPoolMakesInt64Indices) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("max_pool", {h.Leaf({4, 16, 32, 32})}, Two()),
            "+65536 max_pool\n+131072 max_pool\nbackward\n+65536 ones_like\n-65536 ones_like\n+262144 max_pool\n"
            "-65536 max_pool\n-131072 max_pool\n-262144 accumulate_grad\n");
}

TEST(Pooling, AndAlsoWhereNothingTrains) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("max_pool", {h.Input({4, 16, 32, 32})}, Two()),
            "+65536 max_pool\n+131072 max_pool\n-131072 \nbackward\n");
}

TEST(Pooling, AveragePoolSavesItsInput) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("avg_pool", {h.Leaf({4, 16, 32, 32})}, Two()),
            "+65536 avg_pool\nbackward\n+65536 ones_like\n-65536 ones_like\n+262144 avg_pool\n-65536 avg_pool\n"
            "-262144 accumulate_grad\n");
}

TEST(Pooling, StridedInputIsCopiedInsideTheKernel) {
  EagerHarness h;
  EXPECT_EQ(
      h.Trace("max_pool", {h.Permuted({4, 16, 32, 32}, {0, 1, 3, 2})}, Two()) + h.Trace("avg_pool", {Turned(h)}, Two()),
      "+65536 max_pool\n+131072 max_pool\n~262144 max_pool\n-131072 clone\nbackward\n+65536 avg_pool\n"
      "~262144 avg_pool\nbackward\n+65536 ones_like\n-65536 ones_like\n+262144 avg_pool\n~262144 avg_pool\n"
      "-65536 avg_pool\n+262144 clone\n-262144 clone\n-262144 clone\n");
}

TEST(Pooling, AdaptiveAverageToOnePlaceIsAMean) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("adaptive_avg_pool", {h.Leaf({4, 16, 32, 32})}, {{Key::kSizes, Dims{1, 1}}}),
            "+256 mean\nbackward\n+256 ones_like\n-256 ones_like\n+262144 mean\n-256 mean\n"
            "-262144 accumulate_grad\n");
}

TEST(Pooling, AdaptiveMaximumKeepsIndices) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("adaptive_max_pool", {h.Leaf({4, 16, 32, 32})}, {{Key::kSizes, Dims{7, 7}}}),
            "+12544 adaptive_max_pool\n+25088 adaptive_max_pool\nbackward\n+12544 ones_like\n-12544 ones_like\n"
            "+262144 adaptive_max_pool\n-12544 adaptive_max_pool\n-25088 adaptive_max_pool\n"
            "-262144 accumulate_grad\n");
}

TEST(Pooling, SizesFollowTheAttributes) {
  // (112 + 2 - 3) / 2 + 1 = 56; ceil((54 - 3) / 2) + 1 = 27; 100 / 2.
  EagerHarness h;
  const Attrs resnet = {{Key::kKernel, Dims{3, 3}}, {Key::kStride, Dims{2, 2}}, {Key::kPadding, Dims{1, 1}}};
  EXPECT_EQ(h.Run("max_pool", {h.Input({4, 16, 112, 112})}, resnet).sizes(), (Dims{4, 16, 56, 56}));
  const Attrs ceil = {{Key::kKernel, Dims{3, 3}}, {Key::kStride, Dims{2, 2}}, {Key::kCeilMode, true}};
  EXPECT_EQ(h.Run("max_pool", {h.Input({4, 16, 54, 54})}, ceil).sizes(), (Dims{4, 16, 27, 27}));
  EXPECT_EQ(h.Run("avg_pool", {h.Input({4, 16, 100})}, {{Key::kKernel, Dims{2}}}).sizes(), (Dims{4, 16, 50}));
}

}  // namespace
}  // namespace memcrest
