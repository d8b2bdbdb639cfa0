#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

TEST(Rearrange, PixelShuffleMovesChannelsIntoPlaces) {
  EagerHarness h;
  const Attrs two{{Key::kCount, int64_t{2}}};
  EXPECT_THAT(h.Run("pixel_shuffle", {h.Input({2, 12, 4, 4})}, two).sizes(), ElementsAre(2, 3, 8, 8));
  EXPECT_THAT(h.Run("pixel_unshuffle", {h.Input({2, 3, 8, 8})}, two).sizes(), ElementsAre(2, 12, 4, 4));
}

TEST(Rearrange, PixelShuffleIsOneCopyEachWay) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("pixel_shuffle", {h.Leaf({4, 12, 4})}, Attrs{{Key::kCount, int64_t{2}}}),
            "+768 pixel_shuffle\nbackward\n+768 ones_like\n-768 ones_like\n+768 pixel_shuffle\n"
            "-768 pixel_shuffle\n-768 accumulate_grad\n");
}

// 3 x 3 windows with padding 1 over 4 x 6 x 8 x 10: 54 channels, 80 places, 69120 bytes. The result starts as an
// empty_like of the input (7680 bytes) and outgrows it; the gradient's col2im keeps its input's storage size.
// Measured in the lab.
TEST(Rearrange, Im2ColResizesItsResult) {
  EagerHarness h;
  const Attrs window{{Key::kKernel, Dims{3, 3}}, {Key::kPadding, Dims{1, 1}}};
  EXPECT_THAT(h.Run("im2col", {h.Input({4, 6, 8, 10})}, window).sizes(), ElementsAre(4, 54, 80));
  h.Events();
  EXPECT_EQ(h.Trace("im2col", {h.Leaf({4, 6, 8, 10})}, window),
            "~7680 im2col\n+69120 im2col\nbackward\n+69120 ones_like\n-69120 ones_like\n+69120 im2col\n"
            "-69120 im2col\n-69120 accumulate_grad\n");
}

TEST(Rearrange, Col2ImKeepsTheStorageOfItsInput) {
  EagerHarness h;
  const Attrs fold{{Key::kSizes, Dims{8, 10}}, {Key::kKernel, Dims{3, 3}}};
  const Value image = h.Run("col2im", {h.Input({4, 54, 80})}, fold);
  EXPECT_THAT(image.sizes(), ElementsAre(4, 6, 8, 10));
  EXPECT_EQ(image.storage()->bytes, 69120);
}

}  // namespace
}  // namespace memcrest
