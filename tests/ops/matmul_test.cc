#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/ops/products.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

// Sequences were recorded from the lab; all values are float32.

Value Turned(EagerHarness& h, const Value& x, Dims perm) {
  return h.Run("transpose", {x}, {{Key::kPerm, std::move(perm)}});
}

TEST(Matmul, HeadsOfAProjectionAreCopied) {
  // q and k are [B, S, H, D] seen as heads: neither can be flattened to 64 batches by a view, so copies (65536)
  // are made and saved.
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("matmul",
                    {Turned(h, h.Leaf({4, 8, 16, 32}), {0, 2, 1, 3}), Turned(h, h.Leaf({4, 8, 16, 32}), {0, 2, 3, 1})}),
            "+65536 clone\n+65536 clone\n+16384 bmm\nbackward\n+16384 ones_like\n-16384 ones_like\n+65536 bmm\n"
            "+65536 bmm\n-16384 bmm\n-65536 bmm\n-65536 bmm\n+65536 clone\n-65536 clone\n+65536 clone\n"
            "-65536 clone\n-65536 clone\n-65536 clone\n");
}

TEST(Matmul, ContiguousHeadsAreNot) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("matmul", {h.Leaf({4, 16, 8, 32}), Turned(h, h.Leaf({4, 16, 8, 32}), {0, 1, 3, 2})}),
            "+16384 bmm\nbackward\n+16384 ones_like\n-16384 ones_like\n+65536 bmm\n+65536 bmm\n-16384 bmm\n"
            "+65536 clone\n-65536 clone\n-65536 clone\n-65536 clone\n");
}

TEST(Matmul, TrainedMatrixIsFoldedEvenAtTheCostOfACopy) {
  // should_fold: no batch of weight gradients.
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("matmul", {Turned(h, h.Leaf({4, 8, 32}), {1, 0, 2}), h.Leaf({32, 64})}),
            "+4096 clone\n+8192 mm\nbackward\n+8192 ones_like\n-8192 ones_like\n+8192 mm\n+4096 mm\n-8192 mm\n"
            "-4096 mm\n+4096 clone\n-4096 clone\n-4096 clone\n-8192 clone\n");
}

TEST(Matmul, FrozenMatrixIsExpandedWhereFoldingWouldCopy) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("matmul", {Turned(h, h.Leaf({4, 8, 32}), {1, 0, 2}), h.Input({32, 64})}),
            "+8192 bmm\nbackward\n+8192 ones_like\n-8192 ones_like\n+4096 bmm\n-8192 bmm\n+4096 clone\n"
            "-4096 clone\n-4096 clone\n");
}

TEST(Matmul, MatrixTimesBatchFoldsTransposedAndCopiesTheResult) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("matmul", {h.Leaf({64, 32}), h.Leaf({4, 32, 8})}),
            "+4096 clone\n+8192 mm\n+8192 clone\n-8192 matmul\nbackward\n+8192 ones_like\n-8192 ones_like\n"
            "+8192 _unsafe_view\n-8192 _unsafe_view\n+8192 mm\n+4096 mm\n-8192 mm\n-4096 mm\n+4096 clone\n"
            "-4096 clone\n-8192 clone\n-4096 clone\n");
}

TEST(Matmul, AddmmScalesItsGradients) {
  // Each scaled gradient is one more tensor (maybe_multiply).
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(
      h.Trace("addmm", {h.Leaf({64}), h.Leaf({32, 32}), h.Leaf({32, 64})}, {{Key::kBeta, 0.5}, {Key::kAlpha, 2.0}}),
      "+8192 addmm\nbackward\n+8192 ones_like\n-8192 ones_like\n+4096 addmm\n+4096 addmm\n-4096 addmm\n"
      "+8192 addmm\n+8192 addmm\n-8192 addmm\n+8192 addmm\n+256 sum\n-8192 sum\n-8192 sum\n"
      "-256 accumulate_grad\n-4096 accumulate_grad\n-8192 accumulate_grad\n");
}

TEST(Matmul, VectorsUseMvAndDot) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("matmul", {h.Leaf({4, 8, 32}), h.Leaf({32})}) + h.Trace("matmul", {h.Leaf({32}), h.Leaf({32})}),
            "+128 mv\nbackward\n+128 ones_like\n-128 ones_like\n+4096 mv\n+128 mv\n-128 mv\n"
            "-4096 accumulate_grad\n-128 accumulate_grad\n+4 dot\nbackward\n+4 ones_like\n-4 ones_like\n"
            "+128 dot\n+128 dot\n-4 dot\n-128 accumulate_grad\n-128 accumulate_grad\n");
}

TEST(Matmul, OperandCublasCannotReadIsCopiedInsideTheKernel) {
  // Strides (1, 32, 256): no unit stride in the matrix.
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("bmm", {Turned(h, h.Leaf({4, 8, 32}), {2, 1, 0}), h.Input({32, 4, 8})}),
            "+8192 bmm\nbackward\n+8192 ones_like\n-8192 ones_like\n+4096 bmm\n-8192 bmm\n+4096 clone\n"
            "-4096 clone\n-4096 clone\n");
}

TEST(Matmul, GradientOfAColumnMajorOperandIsColumnMajor) {
  // So that the gradient of w seen as w.t() is row-major and can be taken over as .grad.
  EagerHarness h;
  const Value g = h.Input({8, 128}), x = h.Input({8, 64}), w = h.Run("t", {h.Input({128, 64})});
  EXPECT_THAT(RightGradient(h.rt(), g, x, w.meta()).strides(), ElementsAre(1, 64));
  EXPECT_THAT(RightGradient(h.rt(), g, x, *MakeMeta({64, 128}, {128, 1}, DType::kFloat32)).strides(),
              ElementsAre(128, 1));
}

}  // namespace
}  // namespace memcrest
