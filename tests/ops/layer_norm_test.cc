#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::HasSubstr;

// Sequences were recorded from the lab. x is 4 x 8 x 64: 8192 bytes as float32; 32 rows have 128 bytes of statistics
// each.

std::string Amp(EagerHarness& h) {
  h.rt().EnterAutocast(DType::kBFloat16, true);
  Value y = h.Run("layer_norm", {h.Leaf({4, 8, 64}, DType::kBFloat16), h.Leaf({64}), h.Leaf({64})});
  h.rt().ExitAutocast();
  h.Backward(std::move(y));
  return h.Events();
}

TEST(LayerNorm, SavesMeanAndDeviationPerRow) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("layer_norm", {h.Leaf({4, 8, 64}), h.Leaf({64}), h.Leaf({64})}),
            "+8192 layer_norm\n+128 layer_norm\n+128 layer_norm\nbackward\n+8192 ones_like\n-8192 ones_like\n"
            "+8192 layer_norm\n+256 layer_norm\n+256 layer_norm\n-8192 layer_norm\n-128 layer_norm\n"
            "-128 layer_norm\n-8192 accumulate_grad\n-256 accumulate_grad\n-256 accumulate_grad\n");
}

TEST(LayerNorm, AutocastSavesAFloat32CopyOfAHalfInput) {
  EagerHarness h;
  EXPECT_EQ(Amp(h),
            "+8192 _to_copy\n+8192 layer_norm\n+128 layer_norm\n+128 layer_norm\n+8192 ones_like\n"
            "-8192 ones_like\n+8192 layer_norm\n+256 layer_norm\n+256 layer_norm\n-8192 layer_norm\n"
            "-8192 layer_norm\n-128 layer_norm\n-128 layer_norm\n+4096 _to_copy\n-8192 _to_copy\n"
            "-4096 accumulate_grad\n-256 accumulate_grad\n-256 accumulate_grad\n");
}

TEST(LayerNorm, ManyShortRowsSumTheirWeightGradientsInBlocks) {
  // More than 65536 rows: partial sums of 3125 blocks of 32 rows x 96 floats = 1200000 bytes for each of weight
  // and bias.
  EagerHarness h;
  const std::string trace = h.Trace("layer_norm", {h.Leaf({100000, 96}), h.Leaf({96}), h.Leaf({96})});
  EXPECT_THAT(trace, HasSubstr("+1200000 layer_norm\n+1200000 layer_norm\n"));
  EXPECT_EQ(h.Trace("layer_norm", {h.Leaf({65536, 96}), h.Leaf({96}), h.Leaf({96})}).find("+786432"),
            std::string::npos);
}

TEST(LayerNorm, RmsNormIsOneKernelWhereTypesAgree) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("rms_norm", {h.Leaf({4, 8, 64}), h.Leaf({64})}),
            "+8192 _fused_rms_norm\n+128 _fused_rms_norm\nbackward\n+8192 ones_like\n-8192 ones_like\n"
            "+8192 _fused_rms_norm\n+256 _fused_rms_norm\n-8192 _fused_rms_norm\n-128 _fused_rms_norm\n"
            "-8192 accumulate_grad\n-256 accumulate_grad\n");
}

TEST(LayerNorm, RmsNormFallsApartWhereTheyDiffer) {
  // The float32 copy of the input is saved by pow and mul, the normalised value by the weight's product.
  EagerHarness h;
  EXPECT_EQ(h.Trace("rms_norm", {h.Leaf({4, 8, 64}, DType::kBFloat16), h.Leaf({64})}),
            "+8192 _to_copy\n+8192 pow\n+128 mean\n+128 rsqrt\n-128 rms_norm\n-8192 rms_norm\n+8192 mul\n"
            "+8192 mul\n+4096 _to_copy\n-8192 rms_norm\nbackward\n+4096 ones_like\n-4096 ones_like\n"
            "+8192 _to_copy\n-4096 _to_copy\n+8192 mul\n+8192 mul\n+256 sum\n-8192 sum\n-8192 sum\n-8192 sum\n"
            "+8192 mul\n+8192 mul\n+128 sum\n-8192 sum\n-8192 sum\n+128 rsqrt\n+128 rsqrt\n+128 rsqrt\n"
            "-128 rsqrt\n-128 rsqrt\n-128 rsqrt\n-128 rsqrt\n+8192 mean\n-128 mean\n+8192 pow\n+8192 pow\n"
            "+8192 pow\n-8192 pow\n-8192 pow\n-8192 pow\n-8192 pow\n?8192 add\n-8192 add\n+4096 _to_copy\n"
            "-8192 _to_copy\n-4096 accumulate_grad\n-256 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
