#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

Attrs Frames() { return Attrs{{Key::kKernel, Dims{64}}, {Key::kStride, Dims{16}}}; }

// 3 signals of 1024 samples, centered frames of 64 every 16: padded to 1088 (13056 bytes), 65 frames (49920), 33 bins
// of complex64 (51480). The overlapping frames come back by index: an int64 arange over 3*1088 and 3*65*64 positions.
// From the lab.
TEST(Stft, FramesAreOverlappingViews) {
  EagerHarness h;
  const std::string text = h.Trace("stft", {h.Leaf({3, 1024}), h.Input({64})}, Frames());
  EXPECT_EQ(text,
            "+13056 _reflection_pad\n+49920 mul\n+51480 _fft_r2c\n-13056 stft\nbackward\n+51480 ones_like\n"
            "-51480 ones_like\n+99840 _fft_r2c\n+99840 _fft_r2c\n-99840 _fft_r2c\n-51480 _fft_r2c\n"
            "-49920 _fft_r2c\n+49920 mul\n-99840 mul\n+13056 as_strided\n+26112 as_strided\n+99840 as_strided\n"
            "-99840 as_strided\n-26112 as_strided\n-49920 as_strided\n+12288 _reflection_pad\n"
            "-13056 _reflection_pad\n-12288 accumulate_grad\n");
}

TEST(Stft, ResultIsFrequencyByTime) {
  EagerHarness h;
  const Value y = h.Run("stft", {h.Leaf({3, 1024}), h.Input({64})}, Frames());
  EXPECT_THAT(y.sizes(), ElementsAre(3, 33, 65));
  EXPECT_THAT(y.strides(), ElementsAre(2145, 1, 33));
  EXPECT_THAT(h.Run("stft", {h.Leaf({1024}), h.Input({64})}, Frames()).sizes(), ElementsAre(33, 65));
}

TEST(Stft, UncenteredFramesNeedNoPadding) {
  EagerHarness h;
  Attrs attrs = Frames();
  attrs.Set(Key::kPadding, Dims{0});
  EXPECT_THAT(h.Run("stft", {h.Leaf({3, 1024}), h.Input({64})}, attrs).sizes(), ElementsAre(3, 33, 61));
  EXPECT_THAT(h.Events(), ::testing::StartsWith("+46848 mul\n+48312 _fft_r2c\n"));
}

TEST(Stft, InverseAddsFramesUpAndDividesByTheEnvelope) {
  EagerHarness h;
  const Value y = h.Run("istft", {h.Leaf({3, 33, 65}, DType::kComplex64), h.Input({64})}, Frames());
  EXPECT_THAT(y.sizes(), ElementsAre(3, 1024));
  EXPECT_EQ(h.Events(),
            "+49920 _fft_c2r\n~51480 _fft_c2r\n+49920 mul\n+13056 unfold_backward\n~8704 unfold_backward\n"
            "+256 pow\n+4352 unfold_backward\n~8704 unfold_backward\n+4096 istft\n-4096 istft\n"
            "+12288 div.Tensor\n-13056 istft\n-256 istft\n-49920 istft\n-49920 istft\n");
}

}  // namespace
}  // namespace memcrest
