// Reductions, scans, sorts. A 64x64 float32 tensor has 16384 bytes; a column of 64 float32 256, of int64 512.
// Recorded with PyTorch 2.14 for the same calls.
#include <gtest/gtest.h>

#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

const Dims kSizes = {64, 64};
const Attrs kLast = {{Key::kAxis, int64_t{-1}}};

TEST(Reductions, SumPassesAViewAndMeanAFullTensor) {
  EagerHarness h;
  const Value x = h.Run("relu", {h.Leaf(kSizes)});
  h.Events();
  Value sum = h.Run("sum", {x}, kLast);
  EXPECT_EQ(sum.sizes(), (Dims{64}));
  h.Backward(std::move(sum));
  EXPECT_EQ(h.Events().find("+16384 sum"), std::string::npos);
  Value mean = h.Run("mean", {h.Leaf(kSizes)}, kLast);
  h.Backward(std::move(mean));
  EXPECT_NE(h.Events().find("+16384 mean\n"), std::string::npos);
}

TEST(Reductions, SizesFollowAxesAndKeptDimensions) {
  EagerHarness h;
  const Value x = h.Input({2, 3, 4});
  EXPECT_EQ(h.Run("sum", {x}).sizes(), Dims());
  EXPECT_EQ(h.Run("sum", {x}, {{Key::kAxes, Dims{0, 2}}}).sizes(), (Dims{3}));
  EXPECT_EQ(h.Run("mean", {x}, {{Key::kAxis, int64_t{1}}, {Key::kKeepDims, true}}).sizes(), (Dims{2, 1, 4}));
  EXPECT_EQ(h.Run("argmax", {x}, {{Key::kAxis, int64_t{0}}}).dtype(), DType::kInt64);
  EXPECT_EQ(h.Run("sum", {h.Input(kSizes, DType::kBool)}).dtype(), DType::kInt64);
}

TEST(Reductions, SummingIntegersCastsThemInAHiddenCopy) {
  EagerHarness h;
  const Value y = h.Run("sum", {h.Input(kSizes, DType::kBool)});
  EXPECT_EQ(h.Events(), "+8 sum\n~32768 sum\n");  // 4096 int64
}

TEST(Reductions, MaxAlongAnAxisKeepsInt64IndicesAndScattersIntoZeros) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("max", {h.Leaf(kSizes)}, kLast),
            "+256 max.dim\n"
            "+512 max.dim\n"
            "backward\n"
            "+256 ones_like\n"
            "-256 ones_like\n"  // the values, which the test drops
            "?16384 max.dim\n"
            "+16384 max.dim\n"
            "-256 max.dim\n"
            "-512 max.dim\n"
            "-16384 accumulate_grad\n");
}

TEST(Reductions, VarianceGradientCentresTheInputAgain) {
  EagerHarness h;
  Value y = h.Run("var", {h.Leaf(kSizes)}, kLast);
  h.Events();
  h.Backward(std::move(y));
  const std::string events = h.Events();  // mean, input - mean, scaled gradient, product
  EXPECT_NE(events.find("+256 var\n+16384 var\n+256 var\n+16384 var\n-256 var\n-16384 var\n-256 var\n"),
            std::string::npos)
      << events;
}

TEST(Reductions, LogSumExpHidesAFullTensor) {
  EagerHarness h;
  const Value y = h.Run("logsumexp", {h.Leaf(kSizes)}, kLast);
  EXPECT_EQ(h.Events(), "+256 logsumexp\n~16384 logsumexp\n~256 logsumexp\n");
}

TEST(Reductions, AutocastSumsInFloat32WithoutACastCopy) {
  EagerHarness h;
  h.rt().EnterAutocast(DType::kBFloat16, true);
  const Value x = h.Leaf(kSizes, DType::kBFloat16);
  const Value sum = h.Run("sum", {x}, kLast);
  EXPECT_EQ(h.Events(), "+256 sum\n");
  EXPECT_EQ(h.Run("mean", {x}, kLast).dtype(), DType::kBFloat16);  // not on autocast's list
}

TEST(Scans, CumsumIsReversedByTwoFlips) {
  EagerHarness h;
  Value y = h.Run("cumsum", {h.Leaf(kSizes)}, kLast);
  h.Events();
  h.Backward(std::move(y));
  const std::string events = h.Events();
  EXPECT_NE(events.find("+16384 cumsum\n+16384 cumsum\n+16384 cumsum\n-16384 cumsum\n-16384 cumsum\n"),
            std::string::npos)
      << events;
}

TEST(Sorts, SortReturnsValuesAndIndicesWithARowOfPositionsHidden) {
  EagerHarness h;
  const Value y = h.Run("sort", {h.Input({16, 4096})}, kLast);
  EXPECT_EQ(h.Events(), "~32768 sort\n+262144 sort\n+524288 sort\n-524288 \n");  // 4096 positions of 8 bytes
}

TEST(Sorts, TopkGivesAsManyAsAskedFor) {
  EagerHarness h;
  EXPECT_EQ(h.Run("topk", {h.Input({64, 128})}, {{Key::kAxis, int64_t{-1}}, {Key::kCount, int64_t{8}}}).sizes(),
            (Dims{64, 8}));
}

}  // namespace
}  // namespace memcrest
