#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

// All leaves are float32 4 x 6 x 8: 768 bytes. Sequences agree with the lab (PyTorch 2.14, phantom H100).

TEST(ViewChain, SliceBackwardMakesTheWholeInputOnce) {
  EagerHarness h;
  const Dims part{4, 2, 8};
  const std::string text = h.Trace("slice", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxis, int64_t{1}}}, &part);
  EXPECT_EQ(text, "backward\n+256 ones_like\n+768 slice\n-256 slice\n-768 accumulate_grad\n");
}

TEST(ViewChain, SliceOfEverythingPassesItsGradientOn) {
  EagerHarness h;
  Value v = h.Run("slice", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxis, int64_t{1}}});
  h.Backward(std::move(v));
  EXPECT_EQ(h.Events(), "+768 ones_like\n-768 accumulate_grad\n");
}

TEST(ViewChain, SliceWithoutBoundSizesCountsItsSteps) {
  EagerHarness h;
  const Value v = h.Run("slice", {h.Leaf({4, 7, 8})},
                        Attrs{{Key::kAxis, int64_t{1}}, {Key::kStart, int64_t{1}}, {Key::kStep, int64_t{2}}});
  EXPECT_THAT(v.sizes(), ElementsAre(4, 3, 8));  // 1, 3, 5
  EXPECT_THAT(v.strides(), ElementsAre(56, 16, 1));
}

TEST(ViewChain, SelectDropsADimension) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("select", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxis, int64_t{1}}}),
            "backward\n+128 ones_like\n+768 select\n-128 select\n-768 accumulate_grad\n");
}

// Pieces without a gradient are zeros of their own size, then one cat.
TEST(ViewChain, SplitBackwardFillsMissingPieces) {
  EagerHarness h;
  const Attrs attrs{{Key::kAxis, int64_t{1}}, {Key::kCount, int64_t{3}}};
  Values pieces = h.rt().CallAll("split", {h.Leaf({4, 6, 8})}, attrs);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_THAT(pieces[2].sizes(), ElementsAre(4, 2, 8));
  Value first = pieces[0];
  pieces.clear();
  h.Backward(std::move(first));
  EXPECT_EQ(h.Events(),
            "+256 ones_like\n+256 split\n+256 split\n+768 split\n-256 split\n-256 split\n-256 split\n"
            "-768 accumulate_grad\n");
}

TEST(ViewChain, UnevenSplitLeavesTheRestToTheLastPiece) {
  EagerHarness h;
  const Attrs attrs{{Key::kAxis, int64_t{0}}, {Key::kCount, int64_t{3}}};
  const Values pieces = h.rt().CallAll("chunk", {h.Leaf({7, 2})}, attrs);
  EXPECT_THAT(pieces[0].sizes(), ElementsAre(3, 2));
  EXPECT_THAT(pieces[2].sizes(), ElementsAre(1, 2));
}

// Five of six pieces have no gradient: zero scalars of 4 bytes, expanded, then one stack.
TEST(ViewChain, UnbindBackwardStacks) {
  EagerHarness h;
  Values pieces = h.rt().CallAll("unbind", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxis, int64_t{1}}});
  Value second = pieces[1];
  pieces.clear();
  h.Backward(std::move(second));
  const std::string text = h.Events();
  EXPECT_THAT(text, ::testing::StartsWith(
                        "+128 ones_like\n+4 unbind\n+4 unbind\n+4 unbind\n+4 unbind\n+4 unbind\n+768 unbind\n"));
}

TEST(ViewChain, DiagonalStridesAddUp) {
  EagerHarness h;
  const Value v = h.Run("diagonal", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxes, Dims{1, 2}}});
  EXPECT_THAT(v.sizes(), ElementsAre(4, 6));
  EXPECT_THAT(v.strides(), ElementsAre(48, 9));
}

// 3 windows of 4 over a dimension of 8; the kernel's arange has 8 int64 elements.
TEST(ViewChain, UnfoldBackwardAddsWindows) {
  EagerHarness h;
  const Attrs attrs{{Key::kAxis, int64_t{2}}, {Key::kKernel, Dims{4}}, {Key::kStep, int64_t{2}}};
  EXPECT_EQ(h.Trace("unfold", {h.Leaf({4, 6, 8})}, attrs),
            "backward\n+1152 ones_like\n+768 unfold\n~64 unfold\n-1152 unfold\n-768 accumulate_grad\n");
}

TEST(ViewChain, DisjointAsStridedBackwardIsOneZeroedStorage) {
  EagerHarness h;
  const Attrs attrs{{Key::kSizes, Dims{4, 4}}, {Key::kStride, Dims{48, 1}}};
  EXPECT_EQ(h.Trace("as_strided", {h.Leaf({4, 6, 8})}, attrs),
            "backward\n+64 ones_like\n+768 as_strided\n-64 as_strided\n-768 accumulate_grad\n");
}

// Rows 2 apart, 4 long: an int64 arange over the storage (192 elements) and its windows flattened (16 elements).
TEST(ViewChain, OverlappingAsStridedBackwardAddsByIndex) {
  EagerHarness h;
  const Attrs attrs{{Key::kSizes, Dims{4, 4}}, {Key::kStride, Dims{2, 1}}};
  EXPECT_EQ(h.Trace("as_strided", {h.Leaf({4, 6, 8})}, attrs),
            "backward\n+64 ones_like\n+768 as_strided\n+1536 as_strided\n+128 as_strided\n-128 as_strided\n"
            "-1536 as_strided\n-64 as_strided\n-768 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
