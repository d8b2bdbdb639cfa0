#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// x is float32 4 x 6 x 8 x 10: 7680 bytes; src 4 x 3 x 8 x 10: 3840. Sequences agree with the lab (PyTorch 2.14,
// phantom H100).

Attrs OnChannels() { return Attrs{{Key::kAxis, int64_t{1}}}; }

TEST(Scatter, ClearsWhatWasOverwrittenAndReadsTheRest) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("scatter", {h.Leaf({4, 6, 8, 10}), h.Input({4, 3, 8, 10}, DType::kInt64), h.Leaf({4, 3, 8, 10})},
                    OnChannels()),
            "+7680 scatter\nbackward\n+7680 ones_like\n-7680 ones_like\n+7680 scatter\n+3840 scatter\n"
            "-7680 scatter\n-7680 accumulate_grad\n-3840 accumulate_grad\n");
}

TEST(Scatter, AddPassesTheGradientToItsInput) {
  EagerHarness h;
  EXPECT_EQ(
      h.Trace("scatter_add", {h.Input({4, 6, 8, 10}), h.Input({4, 3, 8, 10}, DType::kInt64), h.Leaf({4, 3, 8, 10})},
              OnChannels()),
      "+7680 scatter_add\nbackward\n+7680 ones_like\n-7680 ones_like\n+3840 scatter_add\n"
      "-7680 scatter_add\n-3840 accumulate_grad\n");
}

TEST(Scatter, IndexPutClonesThenReadsBack) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("index_put", {h.Leaf({4, 6, 8, 10}), h.Leaf({5, 6, 8, 10}), h.Input({5}, DType::kInt64)}),
            "+7680 index_put\nbackward\n+7680 ones_like\n-7680 ones_like\n+9600 index_put\n+7680 index_put\n"
            "-9600 index_put\n+9600 index_put\n-7680 index_put\n-7680 accumulate_grad\n-9600 accumulate_grad\n");
}

TEST(Scatter, AccumulatingIndexPutSorts) {
  EagerHarness h;
  const Attrs add{{Key::kAccumulate, true}};
  h.Run("index_put", {h.Input({4, 6, 8, 10}), h.Input({5, 6, 8, 10}), h.Input({5}, DType::kInt64)}, add);
  EXPECT_EQ(h.Events(),
            "+7680 index_put\n~40 index_put\n~40 index_put\n~40 index_put\n~40 index_put\n~40 index_put\n"
            "~1 index_put\n-7680 \n");
}

TEST(Scatter, IndexAddKeepsItsSourceForTheSizes) {
  EagerHarness h;
  const Value src = h.Run("clone", {h.Leaf({5, 6, 8, 10})});
  Value y = h.Run("index_add", {h.Input({4, 6, 8, 10}), h.Input({5}, DType::kInt64), src});
  EXPECT_EQ(h.Events(), "+9600 clone\n+7680 index_add\n");
  h.Backward(std::move(y));
  EXPECT_EQ(h.Events(), "+7680 ones_like\n-7680 ones_like\n+9600 index_add\n-7680 index_add\n-9600 accumulate_grad\n");
}

TEST(Scatter, SliceScatterKeepsTheLayout) {
  EagerHarness h;
  const Value x = h.Permuted({4, 6, 10, 8}, {0, 1, 3, 2});
  EXPECT_THAT(h.Run("slice_scatter", {x, h.Input({4, 3, 10, 8})}, OnChannels()).strides(), ElementsAre(480, 80, 1, 10));
  EXPECT_THAT(h.Run("scatter", {x, h.Input({4, 3, 10, 8}, DType::kInt64)}, OnChannels()).strides(),
              ElementsAre(480, 80, 8, 1));
}

// x[:, :3] = src: a copy of the gradient, a clone of the slice, zeros for what it held (CopySlices).
TEST(Scatter, AssignmentToASliceGoesThroughCopySlices) {
  EagerHarness h;
  const Value x = h.Run("clone", {h.Leaf({4, 6, 8, 10})});
  Attrs in_place = OnChannels();
  in_place.Set(Key::kInplace, true);
  Value y = h.Run("slice_scatter", {x, h.Leaf({4, 3, 8, 10})}, in_place);
  EXPECT_EQ(h.Events(), "+7680 clone\n");
  h.Backward(std::move(y));
  EXPECT_THAT(
      h.Events(),
      HasSubstr(
          "+7680 ones_like\n+7680 slice_scatter\n+3840 slice_scatter\n+3840 slice_scatter\n-3840 slice_scatter\n"));
}

// mean counts its writes in the kernel too: ones of src, counts of x, their mask.
TEST(Scatter, ReduceByMeanCounts) {
  EagerHarness h;
  const Attrs mean{{Key::kAxis, int64_t{1}}, {Key::kMode, std::string("mean")}};
  h.Run("scatter_reduce", {h.Input({4, 6, 8, 10}), h.Input({4, 3, 8, 10}, DType::kInt64), h.Input({4, 3, 8, 10})},
        mean);
  EXPECT_THAT(h.Events(),
              HasSubstr("+7680 scatter_reduce\n~3840 scatter_reduce\n~7680 scatter_reduce\n~1920 scatter_reduce\n"));
}

}  // namespace
}  // namespace memcrest
