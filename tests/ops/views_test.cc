#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

// All leaves here are float32 4 x 6 x 8: 768 bytes. Sequences agree with the lab (PyTorch 2.14, phantom H100).

TEST(Views, ShareStorageForwardAndBackward) {
  EagerHarness h;
  const Dims flat{24, 8};
  EXPECT_EQ(h.Trace("view", {h.Leaf({4, 6, 8})}, {}, &flat), "backward\n+768 ones_like\n-768 accumulate_grad\n");
  EXPECT_EQ(h.Trace("squeeze", {h.Leaf({4, 1, 8})}), "backward\n+128 ones_like\n-128 accumulate_grad\n");
}

TEST(Views, TransposedGradientComesBackInTheLeafsLayout) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("transpose", {h.Leaf({4, 6, 8})}, Attrs{{Key::kPerm, Dims{1, 0, 2}}}),
            "backward\n+768 ones_like\n-768 accumulate_grad\n");
}

TEST(Views, ReshapeOfATransposeClones) {
  EagerHarness h;
  const Value t = h.Run("transpose", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxes, Dims{0, 1}}});
  const Dims flat{24, 8};
  Value r = h.Run("reshape", {t}, {}, &flat);
  EXPECT_EQ(h.Events(), "+768 clone\n");
  EXPECT_THAT(r.strides(), ElementsAre(8, 1));
}

TEST(Views, ReshapeThatCanViewDoesNotCopy) {
  EagerHarness h;
  const Value t = h.Run("transpose", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxes, Dims{0, 1}}});
  const Dims split{6, 4, 2, 4};
  EXPECT_THAT(h.Run("reshape", {t}, {}, &split).strides(), ElementsAre(8, 48, 4, 1));
  EXPECT_EQ(h.Events(), "");
}

TEST(Views, ViewWorksOutTheMissingSize) {
  EagerHarness h;
  EXPECT_THAT(h.Run("view", {h.Leaf({4, 6, 8})}, Attrs{{Key::kSizes, Dims{4, -1}}}).sizes(), ElementsAre(4, 48));
}

TEST(Views, ExpandSumsItsGradientOnce) {
  EagerHarness h;
  const Dims wide{4, 6, 8};  // the gradient is 768 bytes, its sum over the middle 128
  const std::string text = h.Trace("expand", {h.Leaf({4, 1, 8})}, {}, &wide);
  EXPECT_EQ(text, "backward\n+768 ones_like\n+128 expand\n-768 expand\n-128 accumulate_grad\n");
}

TEST(Views, UnsqueezeKeepsTheStrideOfWhatFollows) {
  EagerHarness h;
  EXPECT_THAT(h.Run("unsqueeze", {h.Leaf({4, 6})}, Attrs{{Key::kAxis, int64_t{1}}}).strides(), ElementsAre(6, 6, 1));
  EXPECT_THAT(h.Run("unsqueeze", {h.Leaf({4, 6})}, Attrs{{Key::kAxis, int64_t{-1}}}).strides(), ElementsAre(6, 1, 1));
}

TEST(Views, ComplexPairsAreViews) {
  EagerHarness h;
  const Value c = h.Run("view_as_complex", {h.Leaf({4, 6, 2})});
  EXPECT_EQ(c.dtype(), DType::kComplex64);
  EXPECT_THAT(c.strides(), ElementsAre(6, 1));
  const Value r = h.Run("view_as_real", {c});
  EXPECT_EQ(r.dtype(), DType::kFloat32);
  EXPECT_THAT(r.strides(), ElementsAre(12, 2, 1));
  EXPECT_EQ(h.Events(), "");
}

// The gradient of real() is zeros for both components (select_backward): 4*6*2*4 bytes.
TEST(Views, RealSelectsFromThePairs) {
  EagerHarness h;
  Value c = h.Run("view_as_complex", {h.Leaf({4, 6, 2})});
  Value r = h.Run("real", {c});
  EXPECT_THAT(r.strides(), ElementsAre(12, 2));
  c.reset();
  h.Backward(std::move(r));
  EXPECT_EQ(h.Events(), "+96 ones_like\n+192 select\n-96 select\n-192 accumulate_grad\n");
}

TEST(Views, BoundSizesWinOverTheOperatorsOwn) {
  EagerHarness h;
  const Dims told{2, 12, 8};
  EXPECT_THAT(h.Run("squeeze", {h.Leaf({4, 6, 8})}, {}, &told).sizes(), ElementsAre(2, 12, 8));
}

}  // namespace
}  // namespace memcrest
