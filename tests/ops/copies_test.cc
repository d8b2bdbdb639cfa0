#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;

// Leaves are float32 4 x 6 x 8: 768 bytes. Sequences agree with the lab (PyTorch 2.14, phantom H100).

TEST(Copies, CloneKeepsTheOrderOfDimensions) {
  EagerHarness h;
  const Value t = h.Permuted({6, 4, 8}, {1, 0, 2});
  EXPECT_THAT(h.Run("clone", {t}).strides(), ElementsAre(8, 48, 1));
  EXPECT_THAT(h.Run("clone", {t}, Attrs{{Key::kMemoryFormat, std::string("contiguous")}}).strides(),
              ElementsAre(32, 8, 1));
}

TEST(Copies, ContiguousIsItselfWhereItCanBe) {
  EagerHarness h;
  const Value x = h.Input({4, 6, 8, 10}), y = h.Permuted({4, 6, 8, 10}, {0, 2, 3, 1});
  const Attrs last{{Key::kMemoryFormat, std::string("channels_last")}};
  EXPECT_EQ(h.Run("contiguous", {x}), x);
  EXPECT_EQ(h.Run("contiguous", {y}, last), y);
  EXPECT_EQ(h.Events(), "");
  EXPECT_THAT(h.Run("contiguous", {y}).strides(), ElementsAre(480, 80, 10, 1));
  EXPECT_THAT(h.Run("contiguous", {x}, last).strides(), ElementsAre(480, 1, 60, 6));
}

TEST(Copies, CastsBackInBackward) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("to", {h.Leaf({4, 6, 8})}, Attrs{{Key::kDtype, DType::kBFloat16}}),
            "+384 _to_copy\nbackward\n+384 ones_like\n-384 ones_like\n+768 _to_copy\n-384 _to_copy\n"
            "-768 accumulate_grad\n");
}

TEST(Copies, ToTheSameTypeIsItself) {
  EagerHarness h;
  const Value x = h.Leaf({4, 6, 8});
  EXPECT_EQ(h.Run("to", {x}, Attrs{{Key::kDtype, DType::kFloat32}}), x);
}

// 5 x 8 x 18 x 8 from 4 x 6 x 8: the new dimension is summed first (4608 bytes), then both repeats at once.
TEST(Copies, RepeatSumsNewDimensionsFirst) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("repeat", {h.Leaf({4, 6, 8})}, Attrs{{Key::kSizes, Dims{5, 2, 3, 1}}}),
            "+23040 repeat\nbackward\n+23040 ones_like\n-23040 ones_like\n+4608 repeat\n+768 repeat\n"
            "-4608 repeat\n-23040 repeat\n-768 accumulate_grad\n");
}

TEST(Copies, RollOfTwoDimensionsHasAnIntermediate) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("roll", {h.Leaf({4, 6, 8})}, Attrs{{Key::kPerm, Dims{1, 2}}}),
            "~768 roll\n+768 roll\nbackward\n+768 ones_like\n-768 ones_like\n~768 roll\n+768 roll\n-768 roll\n"
            "-768 accumulate_grad\n");
}

TEST(Copies, FlipKeepsLayoutWhereTrilDoesNot) {
  EagerHarness h;
  const Value t = h.Permuted({6, 4, 8}, {1, 0, 2});
  EXPECT_THAT(h.Run("flip", {t}).strides(), ElementsAre(8, 48, 1));
  EXPECT_THAT(h.Run("tril", {t}).strides(), ElementsAre(32, 8, 1));
}

TEST(Copies, RepeatInterleaveByANumberExpandsAndClones) {
  EagerHarness h;
  EXPECT_EQ(
      h.Trace("repeat_interleave", {h.Leaf({4, 6, 8})}, Attrs{{Key::kAxis, int64_t{1}}, {Key::kCount, int64_t{2}}}),
      "+1536 clone\nbackward\n+1536 ones_like\n-1536 ones_like\n+768 expand\n-1536 expand\n"
      "-768 accumulate_grad\n");
}

// Repeats of 6 rows to 12: the index is 12 int64 elements and is kept for backward.
TEST(Copies, RepeatInterleaveByATensorSelects) {
  EagerHarness h;
  const Value x = h.Leaf({4, 6, 8}), repeats = h.Input({6}, DType::kInt64);
  const Dims told{4, 12, 8};
  Value y = h.Run("repeat_interleave", {x, repeats}, Attrs{{Key::kAxis, int64_t{1}}}, &told);
  EXPECT_EQ(h.Events(), "~48 repeat_interleave\n+96 repeat_interleave\n+1536 index_select\n");
}

TEST(Copies, CopyWritesInPlace) {
  EagerHarness h;
  const Value x = h.Run("clone", {h.Leaf({4, 6, 8})}), s = h.Leaf({4, 6, 8});
  h.Events();
  EXPECT_EQ(h.Run("copy", {x, s}).storage(), x.storage());
  EXPECT_EQ(h.Events(), "");
}

}  // namespace
}  // namespace memcrest
