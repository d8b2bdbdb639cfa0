#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sequences were recorded from the lab: B 2, H 4, S 64, D 64; one of q, k, v is 131072 bytes as float32, 65536 in half
// precision.

KernelDevice Sm(int sm) {
  KernelDevice device;
  device.sm = sm;
  return device;
}

// Heads as a projection leaves them: stored [B, S, H, D], seen [B, H, S, D].
Value Heads(EagerHarness& h, DType type, int64_t heads = 4, int64_t length = 64, int64_t width = 64) {
  return h.Permuted({2, heads, length, width}, {0, 2, 1, 3}, type);
}

Value Trained(EagerHarness& h, DType type) {
  return h.Run("transpose", {h.Leaf({2, 64, 4, 64}, type)}, {{Key::kPerm, Dims{0, 2, 1, 3}}});
}

std::string Plain(EagerHarness& h, DType type) {
  return h.Trace("scaled_dot_product_attention", {Trained(h, type), Heads(h, type), Heads(h, type)});
}

TEST(Attention, HopperRunsHalfPrecisionOnCudnn) {
  // Backward: float32 accumulator of the query gradient and a number per row, 2 * 4 * 64 * 65 * 4 = 133120 bytes.
  EagerHarness h(Sm(90));
  EXPECT_EQ(Plain(h, DType::kBFloat16),
            "+8 _scaled_dot_product_cudnn_attention\n+8 _scaled_dot_product_cudnn_attention\n"
            "+65536 _scaled_dot_product_cudnn_attention\n+2048 _scaled_dot_product_cudnn_attention\nbackward\n"
            "+65536 ones_like\n+65536 _scaled_dot_product_cudnn_attention\n"
            "+65536 _scaled_dot_product_cudnn_attention\n+65536 _scaled_dot_product_cudnn_attention\n"
            "~133120 _scaled_dot_product_cudnn_attention\n-65536 _scaled_dot_product_cudnn_attention\n"
            "-65536 _scaled_dot_product_cudnn_attention\n-65536 _scaled_dot_product_cudnn_attention\n"
            "-65536 _scaled_dot_product_cudnn_attention\n-2048 _scaled_dot_product_cudnn_attention\n"
            "-8 _scaled_dot_product_cudnn_attention\n-8 _scaled_dot_product_cudnn_attention\n"
            "-65536 accumulate_grad\n");
}

TEST(Attention, AmpereRunsItOnFlash) {
  // Backward: row sums for 128 rows, 2 * 4 * 128 * 4 = 4096; accumulator 4096 * 64.
  EagerHarness h(Sm(80));
  EXPECT_EQ(Plain(h, DType::kBFloat16),
            "+65536 _scaled_dot_product_flash_attention\n+2048 _scaled_dot_product_flash_attention\n"
            "+16 _scaled_dot_product_flash_attention\n+8 _scaled_dot_product_flash_attention\nbackward\n"
            "+65536 ones_like\n+65536 _scaled_dot_product_flash_attention\n"
            "+65536 _scaled_dot_product_flash_attention\n+65536 _scaled_dot_product_flash_attention\n"
            "~4096 _scaled_dot_product_flash_attention\n~262144 _scaled_dot_product_flash_attention\n"
            "-65536 _scaled_dot_product_flash_attention\n-65536 _scaled_dot_product_flash_attention\n"
            "-65536 _scaled_dot_product_flash_attention\n-65536 _scaled_dot_product_flash_attention\n"
            "-2048 _scaled_dot_product_flash_attention\n-16 _scaled_dot_product_flash_attention\n"
            "-8 _scaled_dot_product_flash_attention\n-65536 accumulate_grad\n");
}

TEST(Attention, Float32RunsMemoryEfficient) {
  // Row sums of gradient times result by a product and a sum; workspace of one block of 64 x 64 floats and a
  // 16-byte lock per head: 8 * 16400 = 131200.
  EagerHarness h(Sm(90));
  EXPECT_EQ(Plain(h, DType::kFloat32),
            "+8 _scaled_dot_product_efficient_attention\n+8 _scaled_dot_product_efficient_attention\n"
            "+131072 _scaled_dot_product_efficient_attention\n+2048 _scaled_dot_product_efficient_attention\n"
            "backward\n+131072 ones_like\n+131072 _scaled_dot_product_efficient_attention\n"
            "+131072 _scaled_dot_product_efficient_attention\n+131072 _scaled_dot_product_efficient_attention\n"
            "~131072 _scaled_dot_product_efficient_attention\n~2048 _scaled_dot_product_efficient_attention\n"
            "~2048 _scaled_dot_product_efficient_attention\n~131200 _scaled_dot_product_efficient_attention\n"
            "-131072 _scaled_dot_product_efficient_attention\n-131072 _scaled_dot_product_efficient_attention\n"
            "-131072 _scaled_dot_product_efficient_attention\n-131072 _scaled_dot_product_efficient_attention\n"
            "-2048 _scaled_dot_product_efficient_attention\n-8 _scaled_dot_product_efficient_attention\n"
            "-8 _scaled_dot_product_efficient_attention\n-131072 accumulate_grad\n");
}

TEST(Attention, TuringHasOnlyMathForBfloat16) {
  EagerHarness h(Sm(75));
  h.rt().UseCublas();
  EXPECT_EQ(Plain(h, DType::kBFloat16),
            "+131072 _to_copy\n+131072 _to_copy\n+131072 _to_copy\n+131072 mul\n+131072 mul\n+131072 clone\n"
            "+131072 clone\n+131072 bmm\n-131072 matmul\n-131072 _scaled_dot_product_attention_math\n"
            "+131072 _safe_softmax\n~32768 _safe_softmax\n~512 _safe_softmax\n~4 _safe_softmax\n"
            "-131072 _scaled_dot_product_attention_math\n+65536 _to_copy\n+131072 clone\n+131072 bmm\n"
            "+65536 _to_copy\n-131072 _scaled_dot_product_attention_math\n"
            "-65536 _scaled_dot_product_attention_math\n-131072 _scaled_dot_product_attention_math\n"
            "-131072 _scaled_dot_product_attention_math\n-131072 _scaled_dot_product_attention_math\n"
            "-131072 _scaled_dot_product_attention_math\nbackward\n+65536 ones_like\n-65536 ones_like\n"
            "+131072 _to_copy\n-65536 _to_copy\n+131072 bmm\n-131072 bmm\n-131072 bmm\n~131072 _safe_softmax\n"
            "+131072 _safe_softmax\n-131072 _safe_softmax\n-131072 _safe_softmax\n+131072 bmm\n-131072 bmm\n"
            "-131072 bmm\n+131072 mul\n-131072 mul\n+65536 _to_copy\n-131072 _to_copy\n+65536 clone\n"
            "-65536 clone\n-65536 clone\n");
}

TEST(Attention, BoolMaskBecomesAFloatOneAndIsSaved) {
  // where() of two scalars: 2 * 64 * 64 * 4 = 32768 bytes.
  EagerHarness h(Sm(90));
  EXPECT_EQ(h.Trace("scaled_dot_product_attention", {Trained(h, DType::kFloat32), Heads(h, DType::kFloat32),
                                                     Heads(h, DType::kFloat32), h.Input({2, 1, 64, 64}, DType::kBool)}),
            "+4 scaled_dot_product_attention\n+4 scaled_dot_product_attention\n"
            "+32768 scaled_dot_product_attention\n-4 scaled_dot_product_attention\n"
            "-4 scaled_dot_product_attention\n+8 _scaled_dot_product_efficient_attention\n"
            "+8 _scaled_dot_product_efficient_attention\n+131072 _scaled_dot_product_efficient_attention\n"
            "+2048 _scaled_dot_product_efficient_attention\nbackward\n+131072 ones_like\n"
            "+131072 _scaled_dot_product_efficient_attention\n+131072 _scaled_dot_product_efficient_attention\n"
            "+131072 _scaled_dot_product_efficient_attention\n~131072 _scaled_dot_product_efficient_attention\n"
            "~2048 _scaled_dot_product_efficient_attention\n~2048 _scaled_dot_product_efficient_attention\n"
            "~131200 _scaled_dot_product_efficient_attention\n-131072 _scaled_dot_product_efficient_attention\n"
            "-131072 _scaled_dot_product_efficient_attention\n-131072 _scaled_dot_product_efficient_attention\n"
            "-32768 _scaled_dot_product_efficient_attention\n-131072 _scaled_dot_product_efficient_attention\n"
            "-2048 _scaled_dot_product_efficient_attention\n-8 _scaled_dot_product_efficient_attention\n"
            "-8 _scaled_dot_product_efficient_attention\n-131072 accumulate_grad\n");
}

TEST(Attention, DropoutGoesToFlashOnHopper) {
  EagerHarness h(Sm(90));
  EXPECT_EQ(
      h.Trace("scaled_dot_product_attention",
              {Trained(h, DType::kBFloat16), Heads(h, DType::kBFloat16), Heads(h, DType::kBFloat16)}, {{Key::kP, 0.1}}),
      "+65536 _scaled_dot_product_flash_attention\n+2048 _scaled_dot_product_flash_attention\n"
      "~16 _scaled_dot_product_flash_attention\n+16 _scaled_dot_product_flash_attention\n"
      "+8 _scaled_dot_product_flash_attention\nbackward\n+65536 ones_like\n"
      "+65536 _scaled_dot_product_flash_attention\n+65536 _scaled_dot_product_flash_attention\n"
      "+65536 _scaled_dot_product_flash_attention\n~4096 _scaled_dot_product_flash_attention\n"
      "~262144 _scaled_dot_product_flash_attention\n-65536 _scaled_dot_product_flash_attention\n"
      "-65536 _scaled_dot_product_flash_attention\n-65536 _scaled_dot_product_flash_attention\n"
      "-65536 _scaled_dot_product_flash_attention\n-2048 _scaled_dot_product_flash_attention\n"
      "-16 _scaled_dot_product_flash_attention\n-8 _scaled_dot_product_flash_attention\n"
      "-65536 accumulate_grad\n");
}

TEST(Attention, MaskRowsAreAlignedForTheMemoryEfficientKernel) {
  // 50 columns are padded to 56: 2 * 50 * 56 * 4 bytes.
  EagerHarness h(Sm(90));
  const Value q = Heads(h, DType::kFloat32, 4, 50), mask = h.Input({2, 1, 50, 50});
  h.Run("scaled_dot_product_attention", {q, q, q, mask});
  EXPECT_THAT(h.Events(), HasSubstr("+22400 constant_pad_nd"));
}

TEST(Attention, ResultLayoutFollowsTheKernel) {
  // The memory-efficient kernel stores [B, S, H, D] whatever it reads; cuDNN keeps the query's order.
  EagerHarness h(Sm(90));
  const Value q = h.Input({2, 4, 64, 64}), low = h.Input({2, 4, 64, 64}, DType::kBFloat16);
  EXPECT_THAT(h.Run("scaled_dot_product_attention", {q, q, q}).strides(), ElementsAre(16384, 64, 256, 1));
  EXPECT_THAT(h.Run("scaled_dot_product_attention", {low, low, low}).strides(), ElementsAre(16384, 4096, 64, 1));
}

}  // namespace
}  // namespace memcrest
