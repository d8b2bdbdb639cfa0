// softmax, log_softmax, dropout. Sizes: 8x2048 float32 = 65536 bytes, half precision 32768; 64x64 float32 = 16384, bool
// 4096. Recorded with PyTorch 2.14 for the same calls.
#include <gtest/gtest.h>

#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

const Dims kSizes = {8, 2048};
const Attrs kToFloat32 = {{Key::kAxis, int64_t{-1}}, {Key::kDtype, DType::kFloat32}};

TEST(Softmax, BackwardMultipliesInAHiddenTensorButLogSoftmaxDoesNot) {
  EagerHarness h;
  const std::string softmax = h.Trace("softmax", {h.Leaf(kSizes)}, {{Key::kAxis, int64_t{-1}}});
  EXPECT_NE(softmax.find("~65536 _softmax\n+65536 _softmax\n"), std::string::npos) << softmax;
  const std::string logs = h.Trace("log_softmax", {h.Leaf(kSizes)}, {{Key::kAxis, int64_t{-1}}});
  EXPECT_EQ(logs.find('~'), std::string::npos) << logs;
}

TEST(Softmax, BFloat16IsCastToFloat32InACopyThatDiesAtOnce) {
  EagerHarness h;
  const Value y = h.Run("softmax", {h.Leaf(kSizes, DType::kBFloat16)}, kToFloat32);
  EXPECT_EQ(h.Events(), "+65536 _to_copy\n+65536 _softmax\n-65536 softmax\n");
}

TEST(Softmax, Float16IsWidenedInsideTheKernel) {
  EagerHarness h;
  Value y = h.Run("softmax", {h.Leaf(kSizes, DType::kFloat16)}, kToFloat32);
  EXPECT_EQ(h.Events(), "+65536 _softmax\n");
  h.Backward(std::move(y));
  // The product is in the gradient's float32, the result in the input's float16.
  EXPECT_NE(h.Events().find("~65536 _softmax\n+32768 _softmax\n"), std::string::npos);
}

TEST(Softmax, AutocastAsksForFloat32) {
  EagerHarness h;
  h.rt().EnterAutocast(DType::kBFloat16, true);
  EXPECT_EQ(h.Run("softmax", {h.Leaf(kSizes, DType::kBFloat16)}).dtype(), DType::kFloat32);
}

TEST(Softmax, ANonContiguousInputIsCopiedInsideTheKernel) {
  EagerHarness h;
  const Value y = h.Run("softmax", {h.Permuted(kSizes, {1, 0})});
  EXPECT_EQ(h.Events(), "~65536 _softmax\n+65536 _softmax\n");
  EXPECT_EQ(y.strides(), (Dims{2048, 1}));
}

TEST(Dropout, KeepsAMaskOfOneByteAnElement) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("dropout", {h.Leaf({64, 64})}, {{Key::kP, 0.1}}),
            "+4096 native_dropout\n"
            "+16384 native_dropout\n"
            "backward\n"
            "+16384 ones_like\n"
            "-16384 ones_like\n"  // the result, which the test drops
            "+16384 native_dropout\n"
            "-16384 native_dropout\n"
            "-4096 native_dropout\n"
            "-16384 accumulate_grad\n");
}

TEST(Dropout, IsNothingInEvaluationOrWithoutProbability) {
  EagerHarness h;
  const Value x = h.Leaf({64, 64});
  EXPECT_EQ(h.Run("dropout", {x}, {{Key::kP, 0.1}, {Key::kTraining, false}}), x);
  EXPECT_EQ(h.Run("dropout", {x}, {{Key::kP, 0.0}}), x);
  EXPECT_EQ(h.Events(), "");
}

TEST(Dropout, InPlaceKeepsFullSizeNoiseInsteadOfAMask) {
  EagerHarness h;
  const Value x = h.Run("add", {h.Leaf({64, 64})}, {{Key::kScalar, 1.0}});
  h.Events();
  const Value y = h.Run("dropout", {x}, {{Key::kP, 0.1}, {Key::kInplace, true}});
  EXPECT_EQ(h.Events(), "+16384 dropout\n");
}

TEST(Dropout, OfFeaturesMultipliesByOneNumberAChannel) {
  EagerHarness h;
  const Value y = h.Run("feature_dropout", {h.Leaf({4, 8, 16, 16})}, {{Key::kP, 0.1}});
  EXPECT_EQ(h.Events(), "+128 feature_dropout\n+32768 mul\n");  // 4 x 8 x 4 bytes, kept by mul
}

}  // namespace
}  // namespace memcrest
