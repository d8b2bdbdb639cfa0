#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

Attrs Mode(const char* mode, Dims axes) {
  return Attrs{{Key::kMode, std::string(mode)}, {Key::kAxes, std::move(axes)}};
}

// Leaves are float32 4 x 6 x 16: 1536 bytes, 3072 as complex64, 1728 one-sided (9 of 16). Sequences agree with the lab.

// Zeros for the full spectrum, its transform, whose real part is a strided view: the leaf takes a copy.
TEST(Spectral, RealTransformComesBackThroughTheFullSpectrum) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("fft", {h.Leaf({4, 6, 16})}, Mode("rfft", {2})),
            "+1728 _fft_r2c\nbackward\n+1728 ones_like\n-1728 ones_like\n+3072 _fft_r2c\n+3072 _fft_r2c\n"
            "-3072 _fft_r2c\n-1728 _fft_r2c\n+1536 clone\n-3072 clone\n-1536 clone\n");
}

TEST(Spectral, InnerDimensionIsTransformedFromACopy) {
  EagerHarness h;
  const Value y = h.Run("fft", {h.Leaf({4, 6, 16})}, Mode("rfft", {1}));
  EXPECT_EQ(h.Events(), "+2048 _fft_r2c\n~1536 _fft_r2c\n");
  EXPECT_THAT(y.sizes(), ElementsAre(4, 4, 16));
  EXPECT_THAT(y.strides(), ElementsAre(64, 1, 4));
}

TEST(Spectral, BackToRealClonesItsInput) {
  EagerHarness h;
  const Value y = h.Run("fft", {h.Input({4, 6, 9}, DType::kComplex64)}, Mode("irfft", {2}));
  EXPECT_EQ(h.Events(), "+1536 _fft_c2r\n~1728 _fft_c2r\n");
  EXPECT_EQ(y.dtype(), DType::kFloat32);
  EXPECT_THAT(y.sizes(), ElementsAre(4, 6, 16));
}

TEST(Spectral, TwoDimensionalTransformOfRealsCastsFirst) {
  EagerHarness h;
  h.Run("fft", {h.Leaf({4, 6, 16})}, Mode("fft", {1, 2}));
  EXPECT_EQ(h.Events(), "+3072 _to_copy\n+3072 _fft_c2c\n-3072 fft\n-3072 \n");
}

TEST(Spectral, LongerTransformsPad) {
  EagerHarness h;
  Attrs attrs = Mode("rfft", {2});
  attrs.Set(Key::kSizes, Dims{32});
  EXPECT_THAT(h.Run("fft", {h.Leaf({4, 6, 16})}, attrs).sizes(), ElementsAre(4, 6, 17));
  EXPECT_THAT(h.Events(), ::testing::StartsWith("+3072 constant_pad_nd\n+3264 _fft_r2c\n"));
}

TEST(Spectral, TrailingPairOfTheExportIsTakenOff) {
  EagerHarness h;
  const Dims told{4, 6, 9, 2};
  EXPECT_THAT(h.Run("_fft_r2c", {h.Leaf({4, 6, 16})}, Attrs{{Key::kAxes, Dims{2}}}, &told).sizes(),
              ElementsAre(4, 6, 9));
}

}  // namespace
}  // namespace memcrest
