#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Sequences were recorded from the lab. x is 4 x 16 x 32 x 32: 262144 bytes as float32, 131072 in half precision.

std::string Norm(EagerHarness& h, const Value& x, DType type, bool training = true) {
  const Value w = h.Leaf({16}, type), b = h.Leaf({16}, type), mean = h.Input({16}, type), var = h.Input({16}, type);
  return h.Trace("batch_norm", {x, w, b, mean, var}, {{Key::kTraining, training}});
}

TEST(BatchNorm, Float32RunsOnCudnnAndSavesBatchStatistics) {
  EagerHarness h;
  EXPECT_EQ(Norm(h, h.Leaf({4, 16, 32, 32}), DType::kFloat32),
            "+262144 batch_norm\n+64 batch_norm\n+64 batch_norm\nbackward\n+262144 ones_like\n-262144 ones_like\n"
            "+262144 batch_norm\n+64 batch_norm\n+64 batch_norm\n-262144 batch_norm\n-64 batch_norm\n"
            "-64 batch_norm\n-262144 accumulate_grad\n-64 accumulate_grad\n-64 accumulate_grad\n");
}

TEST(BatchNorm, Bfloat16RunsNativelyWithFloat32Statistics) {
  EagerHarness h;
  EXPECT_EQ(Norm(h, h.Leaf({4, 16, 32, 32}, DType::kBFloat16), DType::kBFloat16),
            "+131072 batch_norm\n+64 batch_norm\n+64 batch_norm\nbackward\n+131072 ones_like\n-131072 ones_like\n"
            "+131072 batch_norm\n+32 batch_norm\n+32 batch_norm\n-131072 batch_norm\n-64 batch_norm\n"
            "-64 batch_norm\n-131072 accumulate_grad\n-32 accumulate_grad\n-32 accumulate_grad\n");
}

TEST(BatchNorm, NativeChannelsLastReducesFirstAndWritesTheInputGradientLast) {
  // 4096 rows x 16 channels on blocks of 32 rows x 16 items: 8 block rows, so staging is 4 * 16 * 8 floats = 2048
  // bytes forward, 2 * 16 * 8 backward.
  EagerHarness h;
  EXPECT_EQ(Norm(h, h.Permuted({4, 16, 32, 32}, {0, 2, 3, 1}, DType::kBFloat16), DType::kFloat32),
            "+131072 batch_norm\n+64 batch_norm\n+64 batch_norm\n~2048 batch_norm\nbackward\n+131072 ones_like\n"
            "-131072 ones_like\n+64 batch_norm\n+64 batch_norm\n+64 batch_norm\n+64 batch_norm\n"
            "~1024 batch_norm\n-64 batch_norm\n-64 batch_norm\n-131072 batch_norm\n-64 batch_norm\n"
            "-64 batch_norm\n-64 accumulate_grad\n-64 accumulate_grad\n");
}

TEST(BatchNorm, CudnnSavesARowMajorCopyOfAStridedInput) {
  EagerHarness h;
  EXPECT_EQ(Norm(h, h.Permuted({4, 16, 32, 32}, {0, 1, 3, 2}), DType::kFloat32),
            "+262144 batch_norm\n+262144 batch_norm\n+64 batch_norm\n+64 batch_norm\nbackward\n"
            "+262144 ones_like\n-262144 ones_like\n+262144 batch_norm\n+64 batch_norm\n+64 batch_norm\n"
            "-262144 batch_norm\n-262144 batch_norm\n-262144 batch_norm\n-64 batch_norm\n-64 batch_norm\n"
            "-64 accumulate_grad\n-64 accumulate_grad\n");
}

TEST(BatchNorm, EvaluationKeepsNoStatistics) {
  EagerHarness h;
  EXPECT_EQ(Norm(h, h.Leaf({4, 16, 32, 32}), DType::kFloat32, false),
            "+262144 batch_norm\nbackward\n+262144 ones_like\n-262144 ones_like\n+262144 batch_norm\n"
            "+64 batch_norm\n+64 batch_norm\n-262144 batch_norm\n-262144 accumulate_grad\n-64 accumulate_grad\n"
            "-64 accumulate_grad\n");
}

TEST(BatchNorm, InstanceNormRepeatsItsWeights) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("instance_norm", {h.Leaf({4, 16, 32, 32}), h.Leaf({16}), h.Leaf({16})}),
            "+256 repeat\n+256 repeat\n+262144 batch_norm\n+256 batch_norm\n+256 batch_norm\n-256 instance_norm\n"
            "backward\n+262144 ones_like\n-262144 ones_like\n+262144 batch_norm\n+256 batch_norm\n"
            "+256 batch_norm\n-262144 batch_norm\n-256 batch_norm\n-256 batch_norm\n-256 batch_norm\n+64 repeat\n"
            "-256 repeat\n+64 repeat\n-256 repeat\n-262144 accumulate_grad\n-64 accumulate_grad\n"
            "-64 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
