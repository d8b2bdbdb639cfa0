#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Sequences were recorded from the lab. x is 4 x 16 x 32 x 32 floats (262144 bytes), twice as large in both directions
// 1048576.

Attrs Twice(const char* mode) { return {{Key::kMode, std::string(mode)}, {Key::kSizes, Dims{64, 64}}}; }

std::string Amp(EagerHarness& h) {
  h.rt().EnterAutocast(DType::kBFloat16, true);
  Value y = h.Run("upsample", {h.Leaf({4, 16, 32, 32}, DType::kBFloat16)}, Twice("bilinear"));
  h.rt().ExitAutocast();
  h.Backward(std::move(y));
  return h.Events();
}

TEST(Resampling, UpsamplingSavesNothing) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("upsample", {h.Leaf({4, 16, 32, 32})}, Twice("bilinear")),
            "+1048576 _upsample\nbackward\n+1048576 ones_like\n-1048576 ones_like\n+262144 _upsample\n"
            "-1048576 _upsample\n-262144 accumulate_grad\n");
}

TEST(Resampling, AutocastRunsItInFloat32) {
  EagerHarness h;
  EXPECT_EQ(Amp(h),
            "+262144 _to_copy\n+1048576 _upsample\n-262144 upsample\n+1048576 ones_like\n-1048576 ones_like\n"
            "+262144 _upsample\n-1048576 _upsample\n+131072 _to_copy\n-262144 _to_copy\n-131072 accumulate_grad\n");
}

TEST(Resampling, ChannelsLastStays) {
  EagerHarness h;
  const Value y = h.Run("upsample", {h.Permuted({4, 16, 32, 32}, {0, 2, 3, 1})}, Twice("nearest"));
  EXPECT_EQ(y.strides(), ChannelsLastStrides({4, 16, 64, 64}));
}

TEST(Resampling, GridSamplerMakesBothGradients) {
  // The grid's gradient (2048 bytes) is made though nobody wants it.
  EagerHarness h;
  EXPECT_EQ(h.Trace("grid_sampler", {h.Leaf({4, 16, 32, 32}), h.Input({4, 8, 8, 2})}),
            "+16384 grid_sampler\nbackward\n+16384 ones_like\n-16384 ones_like\n+262144 grid_sampler\n"
            "+2048 grid_sampler\n-2048 grid_sampler\n-16384 grid_sampler\n-262144 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
