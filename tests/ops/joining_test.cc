#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

TEST(Joining, CatAllocatesItsResultOnly) {
  EagerHarness h;
  // Its gradients are views of one gradient, so neither leaf can take it over: both are copied.
  EXPECT_EQ(h.Trace("cat", {h.Leaf({4, 6, 8}), h.Leaf({4, 6, 8})}, Attrs{{Key::kAxis, int64_t{1}}}),
            "+1536 cat\nbackward\n+1536 ones_like\n-1536 ones_like\n+768 clone\n+768 clone\n-1536 clone\n"
            "-768 clone\n-768 clone\n");
}

TEST(Joining, CatTakesTheWidestType) {
  EagerHarness h;
  const Value v = h.Run("cat", {h.Input({4, 6}, DType::kBFloat16), h.Input({4, 6})});
  EXPECT_EQ(v.dtype(), DType::kFloat32);
  EXPECT_THAT(v.sizes(), ElementsAre(8, 6));
}

TEST(Joining, CatKeepsChannelsLastOnlyIfAllAre) {
  EagerHarness h;
  const Value a = h.Permuted({4, 6, 8, 10}, {0, 2, 3, 1}), b = h.Input({5, 6, 8, 10});
  EXPECT_THAT(h.Run("cat", {a, a}).strides(), ElementsAre(480, 1, 60, 6));
  EXPECT_THAT(h.Run("cat", {a, b}).strides(), ElementsAre(480, 80, 10, 1));
}

TEST(Joining, CatIgnoresEmptyVectors) {
  EagerHarness h;
  EXPECT_THAT(h.Run("cat", {h.Input({0}), h.Input({2, 3})}).sizes(), ElementsAre(2, 3));
}

// Strides as measured in the lab: a cat along the next dimension, taken apart.
TEST(Joining, StackOfChannelsLastImages) {
  EagerHarness h;
  const Value a = h.Permuted({4, 6, 8, 10}, {0, 2, 3, 1});
  EXPECT_THAT(h.Run("stack", {a, a}).strides(), ElementsAre(1920, 480, 1, 60, 6));
  EXPECT_THAT(h.Run("stack", {a, a}, Attrs{{Key::kAxis, int64_t{1}}}).strides(), ElementsAre(960, 6, 1, 120, 12));
}

TEST(Joining, StackOnTheLastDimension) {
  EagerHarness h;
  const Value v = h.Run("stack", {h.Input({4, 6}), h.Input({4, 6}), h.Input({4, 6})}, Attrs{{Key::kAxis, int64_t{-1}}});
  EXPECT_THAT(v.sizes(), ElementsAre(4, 6, 3));
}

}  // namespace
}  // namespace memcrest
