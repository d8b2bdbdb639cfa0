#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::HasSubstr;

// Sequences and bytes were recorded from the lab (real PyTorch on a phantom GPU) and are derived here: x is 4 x 8 x 64
// floats (8192 bytes), w 128 x 64 (32768), so a result is 4 x 8 x 128 (16384); the bias has 128 (512).

Value Turned(EagerHarness& h, const Value& x) { return h.Run("transpose", {x}, {{Key::kPerm, Dims{1, 0, 2}}}); }

TEST(Linear, ContiguousInputWithBiasIsOneAddmm) {
  // addmm formulas: input, weight, then the bias summed over the rows.
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("linear", {h.Leaf({4, 8, 64}), h.Leaf({128, 64}), h.Leaf({128})}),
            "+16384 linear_folded\nbackward\n+16384 ones_like\n-16384 ones_like\n+8192 linear_folded\n"
            "+32768 linear_folded\n+512 sum\n-16384 sum\n-8192 accumulate_grad\n-32768 accumulate_grad\n"
            "-512 accumulate_grad\n");
}

TEST(Linear, WithoutBiasTheWeightGradientComesFirst) {
  // mm formulas run mat2 before self.
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("linear", {h.Leaf({4, 8, 64}), h.Leaf({128, 64})}),
            "+16384 linear_folded\nbackward\n+16384 ones_like\n-16384 ones_like\n+32768 linear_folded\n"
            "+8192 linear_folded\n-16384 linear_folded\n-8192 accumulate_grad\n-32768 accumulate_grad\n");
}

TEST(Linear, StridedInputIsCopiedSavedAndTheBiasAddedInPlace) {
  // The copy made by folding lives until the weight gradient; a watching dispatcher sees the bias added out of
  // place.
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("linear", {Turned(h, h.Leaf({4, 8, 64})), h.Leaf({128, 64}), h.Leaf({128})}),
            "+8192 linear_folded\n+16384 linear_folded\n?16384 linear_folded\nbackward\n+16384 ones_like\n"
            "-16384 ones_like\n+512 linear_folded\n+32768 linear_folded\n+8192 linear_folded\n"
            "-16384 linear_folded\n-8192 linear_folded\n+8192 clone\n-8192 clone\n-8192 clone\n-32768 clone\n"
            "-512 clone\n");
}

TEST(Linear, FrozenWeightSavesOnlyTheWeight) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("linear", {h.Leaf({4, 8, 64}), h.Input({128, 64}), h.Input({128})}),
            "+16384 linear_folded\nbackward\n+16384 ones_like\n-16384 ones_like\n+8192 linear_folded\n"
            "-16384 linear_folded\n-8192 accumulate_grad\n");
}

TEST(Linear, FirstProductOfAThreadTakesTheWorkspace) {
  EagerHarness h;
  h.Run("linear", {h.Input({4, 64}), h.Input({128, 64})});
  EXPECT_THAT(h.Events(), HasSubstr("~33554432 "));
  h.Run("linear", {h.Input({4, 64}), h.Input({128, 64})});
  EXPECT_EQ(h.Events().find('~'), std::string::npos);
}

}  // namespace
}  // namespace memcrest
