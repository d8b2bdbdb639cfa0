#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::HasSubstr;

// Sequences were recorded from the lab. x is 4 x 16 x 32 x 32 floats (262144 bytes), w 32 x 16 x 3 x 3 (18432): y is
// 524288.

Attrs Same() { return {{Key::kPadding, Dims{1, 1}}}; }

std::string Amp(EagerHarness& h) {
  h.rt().EnterAutocast(DType::kBFloat16, true);
  Value y = h.Run("convolution", {h.Leaf({4, 16, 32, 32}), h.Leaf({32, 16, 3, 3}), h.Leaf({32})}, Same());
  h.rt().ExitAutocast();
  h.Backward(std::move(y));
  return h.Events();
}

TEST(Convolution, RowMajorMakesItsThreeGradients) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("convolution", {h.Leaf({4, 16, 32, 32}), h.Leaf({32, 16, 3, 3}), h.Leaf({32})}, Same()),
            "+524288 convolution\nbackward\n+524288 ones_like\n-524288 ones_like\n+262144 convolution\n"
            "+18432 convolution\n+128 convolution\n-524288 convolution\n-262144 accumulate_grad\n"
            "-18432 accumulate_grad\n-128 accumulate_grad\n");
}

TEST(Convolution, ChannelsLastInputCopiesTheWeightInsideEachKernel) {
  // The weight gradient comes out channels_last and is copied to the parameter's layout; the bias gradient reduces
  // outer dimensions.
  EagerHarness h;
  EXPECT_EQ(
      h.Trace("convolution", {h.Permuted({4, 16, 32, 32}, {0, 2, 3, 1}), h.Leaf({32, 16, 3, 3}), h.Leaf({32})}, Same()),
      "+524288 convolution\n~18432 convolution\nbackward\n+524288 ones_like\n-524288 ones_like\n"
      "+18432 convolution\n+128 convolution\n~65540 convolution\n-524288 convolution\n+18432 clone\n"
      "-18432 clone\n-18432 accumulate_grad\n-128 accumulate_grad\n");
}

TEST(Convolution, StridedInputIsCopiedForTheTimeOfTheKernel) {
  EagerHarness h;
  EXPECT_EQ(
      h.Trace("convolution", {h.Permuted({4, 16, 32, 32}, {0, 1, 3, 2}), h.Leaf({32, 16, 3, 3}), h.Leaf({32})}, Same()),
      "~262144 convolution\n+524288 convolution\nbackward\n+524288 ones_like\n-524288 ones_like\n"
      "~262144 convolution\n+18432 convolution\n+128 convolution\n-524288 convolution\n"
      "-18432 accumulate_grad\n-128 accumulate_grad\n");
}

TEST(Convolution, DepthwiseKernelMakesTheWeightGradientFirst) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("convolution", {h.Leaf({4, 16, 32, 32}), h.Leaf({16, 1, 3, 3}), h.Leaf({16})},
                    {{Key::kPadding, Dims{1, 1}}, {Key::kGroups, int64_t{16}}}),
            "+262144 convolution\nbackward\n+262144 ones_like\n-262144 ones_like\n+576 convolution\n"
            "+262144 convolution\n+64 convolution\n-262144 convolution\n-262144 accumulate_grad\n"
            "-576 accumulate_grad\n-64 accumulate_grad\n");
}

TEST(Convolution, AutocastCastsAllThreeAndTheirGradients) {
  // Half-size casts of x, w, b; backward the float32 gradient of w is made while the low-precision one lives.
  EagerHarness h;
  const std::string trace = Amp(h);
  for (const char* copy :
       {"+131072 _to_copy\n", "+9216 _to_copy\n", "+64 _to_copy\n", "+18432 _to_copy\n-9216 _to_copy\n"}) {
    EXPECT_THAT(trace, HasSubstr(copy));
  }
}

TEST(Convolution, SizesFollowTheAttributes) {
  EagerHarness h;
  const Value image = h.Input({4, 16, 33, 33}), line = h.Input({4, 16, 100}), one = h.Input({16, 32, 32});
  EXPECT_EQ(h.Run("convolution", {image, h.Input({8, 16, 3, 3})}, {{Key::kStride, Dims{2}}, {Key::kPadding, Dims{1}}})
                .sizes(),
            (Dims{4, 8, 17, 17}));
  EXPECT_EQ(h.Run("convolution", {line, h.Input({8, 16, 3})}, {{Key::kDilation, Dims{2}}}).sizes(), (Dims{4, 8, 96}));
  EXPECT_EQ(h.Run("convolution", {one, h.Input({8, 16, 3, 3})}).sizes(), (Dims{8, 30, 30}));
  const Attrs up = {{Key::kStride, Dims{2, 2}}, {Key::kTransposed, true}, {Key::kOutputPadding, Dims{1, 1}}};
  EXPECT_EQ(h.Run("convolution", {image, h.Input({16, 8, 3, 3})}, up).sizes(), (Dims{4, 8, 68, 68}));
}

}  // namespace
}  // namespace memcrest
