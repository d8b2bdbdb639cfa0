// The engine: how gradients meet, who keeps them, when saved tensors go. Events as text: see tests/support/eager_harness.h.
#include "src/eager/backward.h"

#include <string>

#include <gtest/gtest.h>
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

TEST(Backward, ASavedResultDiesWithItsNode) {
  EagerHarness h;
  const Value x = h.Leaf({256});
  Value y = h.Run("sigmoid", {x});  // saves its result: 1024 bytes
  h.Events();
  h.Backward(std::move(y));
  const std::string events = h.Events();
  EXPECT_NE(events.find("-1024 sigmoid"), std::string::npos) << events;
}

TEST(Backward, TwoUsesOfALeafAreSummedInPlace) {
  // mul(x, x): both formulas make a gradient of 1024 bytes; the second is added into the first, the dispatcher sees a third.
  EagerHarness h;
  const Value x = h.Leaf({256});
  Value y = h.Run("mul", {x, x});
  h.Events();
  h.Backward(std::move(y));
  const std::string events = h.Events();
  EXPECT_NE(events.find("?1024 add"), std::string::npos) << events;
}

TEST(Backward, AViewIsNeverSummedInto) {
  // The gradient of a transposed leaf is a transposed view, which refers to its base: the sum is a third tensor, as in
  // PyTorch 2.14 for a weight tied to two linear layers (three gradients alive at once).
  EagerHarness h;
  const Value x = h.Leaf({16, 16});
  const Value left = h.Run("t", {x}), right = h.Run("t", {x});
  Value y = h.Run("mul", {left, right});
  h.Events();
  h.Backward(std::move(y));
  const std::string events = h.Events();
  EXPECT_NE(events.find("+1024 add"), std::string::npos) << events;
}

TEST(Backward, AddHandsOneGradientToBothSides) {
  EagerHarness h;
  const Value a = h.Leaf({256}), b = h.Leaf({256});
  Value y = h.Run("add", {a, b});
  h.Events();
  h.Backward(std::move(y));
  // The same tensor arrives twice: neither leaf may steal it while the other still has it, so one copy is made.
  const std::string events = h.Events();
  EXPECT_NE(events.find("+1024 clone"), std::string::npos) << events;
}

TEST(Backward, NothingIsSavedWhereNobodyTrains) {
  EagerHarness h;
  const Value x = h.Input({256});
  const Value y = h.Run("sigmoid", {x});
  EXPECT_FALSE(y.requires_grad());
  EXPECT_FALSE(static_cast<bool>(y.impl()->grad_fn));
}

TEST(Autocast, TrainableWeightsAreCastOncePerForward) {
  EagerHarness h;
  const Value x = h.Input({4, 8}, DType::kBFloat16), w = h.Leaf({8, 8});
  h.rt().EnterAutocast(DType::kBFloat16, true);
  const Value a = h.Run("linear", {x, w, Value()}), b = h.Run("linear", {x, w, Value()});
  std::string events = h.Events();
  size_t casts = 0;
  for (size_t at = events.find("_to_copy"); at != std::string::npos; at = events.find("_to_copy", at + 1)) ++casts;
  EXPECT_EQ(casts, 1u) << events;
  EXPECT_EQ(a.dtype(), DType::kBFloat16);
  h.rt().ExitAutocast();
}

}  // namespace
}  // namespace memcrest
