#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/ops/indexed.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Leaves are float32 4 x 6 x 8 x 10: 7680 bytes. Sequences agree with the lab (PyTorch 2.14, phantom H100); "?" is
// the copy that only a watching dispatcher sees.

TEST(Indexing, IndexSelectAddsIntoZeros) {
  EagerHarness h;
  EXPECT_EQ(
      h.Trace("index_select", {h.Leaf({4, 6, 8, 10}), h.Input({5}, DType::kInt64)}, Attrs{{Key::kAxis, int64_t{1}}}),
      "+6400 index_select\nbackward\n+6400 ones_like\n-6400 ones_like\n?7680 index_select\n"
      "+7680 index_select\n-6400 index_select\n-7680 accumulate_grad\n");
}

// Five indices: linear index, sorted keys, positions and a range of 40 bytes each, cub's single tile of 1.
TEST(Indexing, IndexBackwardSorts) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("index", {h.Leaf({4, 6, 8, 10}), h.Input({5}, DType::kInt64)}),
            "+9600 index\nbackward\n+9600 ones_like\n-9600 ones_like\n?7680 index\n+7680 index\n~40 index\n"
            "~40 index\n~40 index\n~40 index\n~40 index\n~1 index\n-9600 index\n-7680 accumulate_grad\n");
}

TEST(Indexing, ApartIndicesComeFirst) {
  EagerHarness h;
  const Value i = h.Input({5}, DType::kInt64);
  EXPECT_THAT(h.Run("index", {h.Input({4, 6, 8, 10}), i, Value(), i}).sizes(), ElementsAre(5, 6, 10));
  EXPECT_THAT(h.Run("index", {h.Input({4, 6, 8, 10}), Value(), i, i}).sizes(), ElementsAre(4, 5, 10));
}

TEST(Indexing, ResultFollowsTheInputsLayout) {
  EagerHarness h;
  const Value x = h.Permuted({4, 6, 8, 10}, {0, 2, 3, 1}), i = h.Input({5}, DType::kInt64);
  EXPECT_THAT(h.Run("index", {x, i}).strides(), ElementsAre(480, 1, 60, 6));
  EXPECT_THAT(h.Run("index", {x, Value(), i}).strides(), ElementsAre(400, 80, 10, 1));
}

TEST(Indexing, BroadcastIndicesAreCopied) {
  EagerHarness h;
  h.Run("index", {h.Input({4, 6, 8, 10}), h.Input({5, 1}, DType::kInt64), h.Input({1, 5}, DType::kInt64)});
  EXPECT_THAT(h.Events(), HasSubstr("~200 index\n~200 index\n+8000 index\n"));
}

TEST(Indexing, AMaskPicksAtMostEverything) {
  EagerHarness h;
  const Value x = h.Input({4, 6, 8}), mask = h.Input({4, 6}, DType::kBool);
  EXPECT_THAT(h.Run("index", {x, mask}).sizes(), ElementsAre(24, 8));
  const Dims told{7, 8};
  EXPECT_THAT(h.Run("index", {x, mask}, {}, &told).sizes(), ElementsAre(7, 8));
}

// Sizes recorded in the lab: cub::DeviceRadixSort::SortPairs on int64 keys and values.
TEST(Indexing, SortScratchAgreesWithCub) {
  EXPECT_EQ(SortPairsScratch(2000, BitsFor(4000)), 1);
  EXPECT_EQ(SortPairsScratch(2500, BitsFor(4000)), 46079);
  EXPECT_EQ(SortPairsScratch(5000, BitsFor(200)), 4607);
  EXPECT_EQ(SortPairsScratch(5000, BitsFor(4000)), 87039);
  EXPECT_EQ(SortPairsScratch(5000, BitsFor(200000)), 89087);
  EXPECT_EQ(SortPairsScratch(50000, BitsFor(4000)), 816127);
  EXPECT_EQ(SortPairsScratch(50000, BitsFor(300 * 400)), 818175);
  EXPECT_EQ(SortPairsScratch(57600, BitsFor(40 * 4000)), 941567);
}

TEST(Indexing, GatherKeepsInputAndIndex) {
  EagerHarness h;
  const Value x = h.Run("clone", {h.Leaf({4, 6, 8, 10})});
  Value y = h.Run("gather", {x, h.Input({4, 3, 8, 10}, DType::kInt64)}, Attrs{{Key::kAxis, int64_t{1}}});
  EXPECT_EQ(h.Events(), "+7680 clone\n+3840 gather\n");
  h.Backward(std::move(y));
  EXPECT_THAT(h.Events(), HasSubstr("?7680 gather\n+7680 gather\n"));
}

TEST(Indexing, MaskedSelectNumbersTheMask) {
  EagerHarness h;
  const Dims told{100};
  EXPECT_EQ(h.Trace("masked_select", {h.Leaf({4, 6, 8, 10}), h.Input({4, 6, 8, 10}, DType::kBool)}, {}, &told),
            "+400 masked_select\nbackward\n+400 ones_like\n-400 ones_like\n?7680 masked_select\n"
            "+7680 masked_select\n~15360 masked_select\n-400 masked_select\n-7680 accumulate_grad\n");
}

TEST(Indexing, OneHotIsInt64) {
  EagerHarness h;
  EXPECT_EQ(h.Run("one_hot", {h.Input({4, 6}, DType::kInt64)}, Attrs{{Key::kCount, int64_t{20}}}).bytes(),
            4 * 6 * 20 * 8);
}

TEST(Indexing, DiagEmbedsGradientIsADiagonal) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("diag_embed", {h.Leaf({8, 10})}),
            "+3200 diag_embed\nbackward\n+3200 ones_like\n-3200 ones_like\n+320 clone\n-3200 clone\n-320 clone\n");
}

}  // namespace
}  // namespace memcrest
