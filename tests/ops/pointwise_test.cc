// Element-wise operators. Numbers: a 64x64 float32 tensor has 16384 bytes, bfloat16 8192, bool 4096. Sequences were
// recorded with PyTorch 2.14 (lab/ask --events) for the same calls; "ones_like" is the gradient that the test starts
// with.
#include <gtest/gtest.h>

#include "src/ops/kernels.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

const Dims kSizes = {64, 64};
const Attrs kInplace = {{Key::kInplace, true}};

TEST(Pointwise, ReluKeepsItsResultAndMakesOneGradient) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("relu", {h.Leaf(kSizes)}),
            "+16384 relu\n"
            "backward\n"
            "+16384 ones_like\n"
            "+16384 relu\n"
            "-16384 relu\n"  // what arrived, then the saved result
            "-16384 relu\n"
            "-16384 accumulate_grad\n");
}

TEST(Pointwise, InPlaceActivationsCloneWhatTheirFormulaNeeds) {
  const auto clones = [](const char* op) {
    EagerHarness h;
    const Value x = h.Run("add", {h.Leaf(kSizes)}, {{Key::kScalar, 1.0}});
    h.Events();
    const Value y = h.Run(op, {x}, kInplace);
    return h.Events();
  };
  EXPECT_EQ(clones("relu"), "");        // its result serves
  EXPECT_EQ(clones("leaky_relu"), "");  // in place the formula switches to the result
  EXPECT_EQ(clones("silu"), "+16384 silu\n");
  EXPECT_EQ(clones("hardtanh"), "+16384 hardtanh\n");
}

TEST(Pointwise, InPlaceOnAViewCostsThreeMoreTensorsInBackward) {
  EagerHarness h;
  const Dims flat = {4096};
  const Value x = h.Run("add", {h.Leaf(kSizes)}, {{Key::kScalar, 1.0}});
  Value y = h.Run("relu", {h.Run("view", {x}, {}, &flat)}, kInplace);
  const Value held = x;  // as its module's output is held
  h.Events();
  h.Backward(std::move(y));
  // AsStrided's zeros (the arrived gradient dies), CopySlices' base-sized gradient and clone, relu's gradient.
  const std::string events = h.Events();
  EXPECT_EQ(
      events.find("+16384 ones_like\n+16384 relu\n-16384 relu\n+16384 relu\n+16384 relu\n+16384 relu\n-16384 relu\n"),
      0u)
      << events;
}

TEST(Pointwise, PowKeepsThreeTensorsAliveInItsFormula) {
  EagerHarness h;
  const std::string events = h.Trace("pow", {h.Leaf(kSizes)}, {{Key::kScalar, 2.0}});
  // self.pow(1), times 2, times grad: two intermediates die after the third is there.
  EXPECT_NE(events.find("+16384 pow\n+16384 pow\n+16384 pow\n-16384 pow\n-16384 pow\n"), std::string::npos) << events;
}

TEST(Pointwise, MulSavesAnOperandOnlyForTheOthersGradient) {
  EagerHarness h;
  const Value x = h.Leaf(kSizes);
  Value scale = h.Run("exp", {h.Input(kSizes)});
  const Value y = h.Run("mul", {x, scale});
  h.Events();
  scale.reset();
  EXPECT_EQ(h.Events(), "");  // saved, since x needs a gradient
  EagerHarness plain;
  Value constant = plain.Run("exp", {plain.Input(kSizes)});
  const Value product = plain.Run("mul", {constant, plain.Input(kSizes)});
  plain.Events();
  constant.reset();
  EXPECT_EQ(plain.Events(), "-16384 \n");  // nobody needs a gradient
}

TEST(Pointwise, NumberDividedByTensorIsReciprocalAndMul) {
  EagerHarness h;
  const Value y = h.Run("div", {h.Leaf(kSizes)}, {{Key::kScalar, 1.0}, {Key::kScalarFirst, true}});
  EXPECT_EQ(h.Events(), "+16384 reciprocal\n+16384 mul\n");  // the reciprocal is saved by its own formula
}

TEST(Pointwise, WhereWithANumberMakesItATensorForAMoment) {
  EagerHarness h;
  const Value y = h.Run("where", {h.Input(kSizes, DType::kBool), h.Leaf(kSizes), Value()}, {{Key::kScalar, 0.0}});
  EXPECT_EQ(h.Events(), "+4 where\n+16384 where\n-4 where\n");
}

TEST(Pointwise, TypesPromoteAsInPyTorch) {
  EagerHarness h;
  const Value ints = h.Input(kSizes, DType::kInt64), half = h.Input(kSizes, DType::kBFloat16), number = h.Input({});
  EXPECT_EQ(h.Run("mul", {ints}, {{Key::kScalar, 1.5}}).dtype(), DType::kFloat32);
  EXPECT_EQ(h.Run("mul", {ints}, {{Key::kScalar, int64_t{2}}}).dtype(), DType::kInt64);
  EXPECT_EQ(h.Run("div", {ints}, {{Key::kScalar, int64_t{2}}}).dtype(), DType::kFloat32);
  EXPECT_EQ(h.Run("add", {half, number}).dtype(), DType::kBFloat16);  // a 0-dim float32 does not widen
  EXPECT_EQ(h.Run("add", {half, h.Input(kSizes)}).dtype(), DType::kFloat32);
  EXPECT_EQ(h.Run("eq", {half, half}).dtype(), DType::kBool);
  EXPECT_EQ(h.Run("exp", {ints}).dtype(), DType::kFloat32);
  EXPECT_EQ(h.Run("add", {h.Input(kSizes, DType::kBool)}, {{Key::kScalar, int64_t{1}}}).dtype(), DType::kInt64);
}

TEST(Pointwise, AutocastRunsPowersInFloat32AndSumsInTheWidestType) {
  EagerHarness h;
  const Value x = h.Leaf(kSizes, DType::kBFloat16);
  h.rt().EnterAutocast(DType::kBFloat16, true);
  const Value squared = h.Run("pow", {x}, {{Key::kScalar, 2.0}});
  EXPECT_EQ(squared.dtype(), DType::kFloat32);
  EXPECT_EQ(h.Run("sqrt", {x}).dtype(), DType::kBFloat16);
  EXPECT_EQ(h.Run("rsqrt", {x}).dtype(), DType::kFloat32);
  EXPECT_EQ(h.Run("add", {x, squared}).dtype(), DType::kFloat32);
}

TEST(Pointwise, ResultsFollowTheLayoutOfTheirOperands) {
  EagerHarness h;
  const Value transposed = h.Permuted({64, 32}, {1, 0});
  EXPECT_EQ(h.Run("add", {transposed, transposed}).strides(), (Dims{1, 64}));
  EXPECT_EQ(h.Run("relu", {transposed}).strides(), (Dims{1, 64}));
}

}  // namespace
}  // namespace memcrest
