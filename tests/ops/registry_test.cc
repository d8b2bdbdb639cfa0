// The registry as a whole, and the operators without inputs.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "src/eager/op.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

TEST(Registry, NamesAreUniqueSortedAndDescribed) {
  std::string last;
  for (const OpEntry* entry : Ops().All()) {
    EXPECT_LT(last, entry->name);
    EXPECT_NE(entry->forward, nullptr) << entry->name;
    EXPECT_STRNE(entry->doc, "") << entry->name;
    last = entry->name;
  }
}

TEST(Registry, CompositesRecordNothingAndHaveNoFormula) {
  for (const OpEntry* entry : Ops().All()) {
    if (entry->composite) {
      EXPECT_EQ(entry->backward, nullptr) << entry->name;
    }
    if (!entry->differentiable) {
      EXPECT_EQ(entry->backward, nullptr) << entry->name;
    }
  }
}

TEST(Registry, HasTheOperatorsThatOthersCallByName) {
  for (const char* name : {"add", "mul", "div.Tensor", "reciprocal", "_softmax", "_log_softmax", "nll_loss",
                           "native_dropout", "max.all", "max.dim", "xlogy", "clone", "to", "_to_copy", "unknown"}) {
    EXPECT_NE(Ops().Find(name), nullptr) << name;
  }
}

TEST(Registry, FallsBackToUnknown) { EXPECT_STREQ(Op("no such operator").name, "unknown"); }

TEST(Unknown, SavesItsFloatingInputsAndResults) {
  EagerHarness h;
  const Dims sizes = {64, 64};
  Value x = h.Run("exp", {h.Leaf(sizes)});
  Value y = h.Run("unknown", {x, h.Input({3}, DType::kInt64)}, {}, &sizes);
  h.Events();
  x.reset();
  h.Backward(std::move(y));
  EXPECT_NE(h.Events().find("+16384 unknown\n"), std::string::npos);
}

TEST(Factory, TypesAreTheOnesPyTorchChooses) {
  EagerHarness h;
  const Attrs nine = {{Key::kSizes, Dims{3, 3}}};
  EXPECT_EQ(h.Run("zeros", {}, nine).bytes(), 36);
  EXPECT_EQ(h.Run("arange", {}, nine).dtype(), DType::kInt64);
  EXPECT_EQ(h.Run("full", {}, {{Key::kSizes, Dims{3, 3}}, {Key::kScalar, true}}).dtype(), DType::kBool);
  EXPECT_EQ(h.Run("new_zeros", {h.Input({1}, DType::kBFloat16)}, nine).dtype(), DType::kBFloat16);
  EXPECT_EQ(h.Run("rand_like", {h.Permuted({64, 32}, {1, 0})}).strides(), (Dims{1, 64}));
}

}  // namespace
}  // namespace memcrest
