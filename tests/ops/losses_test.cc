// Losses. Sizes: 64 rows of 1000 classes: 256000 bytes in float32, 128000 in half precision; 64x64 float32 = 16384
// bytes. Recorded with PyTorch 2.14 for the same calls.
#include <gtest/gtest.h>

#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

const Dims kLogits = {64, 1000};
const Dims kSizes = {64, 64};

Value CrossEntropy(EagerHarness& h, DType dtype, Attrs attrs = {}) {
  const Value logits = h.Leaf(kLogits, dtype);
  return h.Run("cross_entropy", {logits, h.Input({64}, DType::kInt64)}, std::move(attrs));
}

TEST(CrossEntropy, KeepsLogProbabilitiesAndMakesTwoFullGradients) {
  EagerHarness h;
  Value loss = CrossEntropy(h, DType::kFloat32);
  EXPECT_EQ(h.Events(), "+256000 _log_softmax\n+4 nll_loss\n+4 nll_loss\n");
  h.Backward(std::move(loss));
  const std::string events = h.Events();
  EXPECT_NE(events.find("+256000 nll_loss\n"), std::string::npos) << events;
  EXPECT_NE(events.find("+256000 _log_softmax\n-256000 _log_softmax\n-256000 _log_softmax\n"), std::string::npos)
      << events;  // the logits' gradient while log-probabilities and nll gradient live
}

TEST(CrossEntropy, UnderAutocastKeepsLogProbabilitiesInBothTypes) {
  EagerHarness h;
  h.rt().EnterAutocast(DType::kBFloat16, true);
  const Value loss = CrossEntropy(h, DType::kBFloat16);
  EXPECT_EQ(h.Events(), "+128000 _log_softmax\n+256000 _to_copy\n+4 nll_loss\n+4 nll_loss\n");
  EXPECT_EQ(loss.dtype(), DType::kFloat32);
}

TEST(CrossEntropy, LabelSmoothingAddsSumsOverTheClassesNotFullTensors) {
  EagerHarness h;
  const Value loss = CrossEntropy(h, DType::kFloat32, {{Key::kSmoothing, 0.1}});
  const std::string events = h.Events();
  EXPECT_NE(events.find("+256 sum\n+256 neg\n-256 "), std::string::npos) << events;
  EXPECT_EQ(events.find("+256000", 1), std::string::npos) << events;  // only the first line has a full tensor
}

TEST(CrossEntropy, TakesTheSecondDimensionAsClassesForImages) {
  EagerHarness h;
  const Value logits = h.Leaf({2, 10, 16, 16});
  const Value loss =
      h.Run("cross_entropy", {logits, h.Input({2, 16, 16}, DType::kInt64)}, {{Key::kReduction, std::string("none")}});
  EXPECT_EQ(loss.sizes(), (Dims{2, 16, 16}));
}

TEST(Losses, AMeanSquaredErrorOwnsAFullSizeStorage) {
  EagerHarness h;
  Value loss = h.Run("mse_loss", {h.Leaf(kSizes), h.Input(kSizes)});
  EXPECT_EQ(h.Events(), "+16384 mse_loss\n~16384 mse_loss\n");
  EXPECT_EQ(loss.elements(), 1);
  h.Backward(std::move(loss));
  EXPECT_NE(h.Events().find("+16384 mse_loss\n"), std::string::npos);
}

TEST(Losses, LogitsLossHidesTwoTensorsAndItsFormulaMakesThree) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("binary_cross_entropy_with_logits", {h.Leaf(kSizes), h.Input(kSizes)}),
            "~16384 binary_cross_entropy_with_logits\n"
            "~16384 binary_cross_entropy_with_logits\n"
            "+4 binary_cross_entropy_with_logits\n"
            "backward\n"
            "+4 ones_like\n"
            "-4 ones_like\n"  // the loss, which the test drops
            "+16384 binary_cross_entropy_with_logits\n"
            "+16384 binary_cross_entropy_with_logits\n"
            "-16384 binary_cross_entropy_with_logits\n"
            "+16384 binary_cross_entropy_with_logits\n"
            "-16384 binary_cross_entropy_with_logits\n"
            "-4 binary_cross_entropy_with_logits\n"
            "-16384 accumulate_grad\n");
}

TEST(Losses, AbsoluteErrorIsSubAbsMean) {
  EagerHarness h;
  const Value loss = h.Run("l1_loss", {h.Leaf(kSizes), h.Input(kSizes)});
  EXPECT_EQ(h.Events(), "+16384 sub\n+16384 abs\n+4 mean\n-16384 l1_loss\n");  // the difference is saved by abs
}

TEST(Losses, AutocastComputesThemInFloat32) {
  EagerHarness h;
  h.rt().EnterAutocast(DType::kBFloat16, true);
  for (const char* op : {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div"}) {
    const Value x = h.Leaf(kSizes, DType::kBFloat16);
    EXPECT_EQ(h.Run(op, {x, h.Input(kSizes, DType::kBFloat16)}).dtype(), DType::kFloat32) << op;
  }
}

}  // namespace
}  // namespace memcrest
