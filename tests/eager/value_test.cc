// Layout rules: which sizes view a tensor, which layout a fresh result has. Expected strides follow PyTorch's at::detail::computeStride,
// empty_like(preserve_format) and TensorIterator.
#include "src/eager/value.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

Meta MetaOf(const Dims& sizes, const Dims& strides) { return *MakeMeta(sizes, strides, DType::kFloat32); }
Meta Plain(const Dims& sizes) { return MetaOf(sizes, ContiguousStrides(sizes)); }

TEST(ViewStrides, MergesAndSplitsAdjacentDimensions) {
  EXPECT_EQ(ViewStrides(Plain({2, 3, 4}), Dims{6, 4}), (Dims{4, 1}));
  EXPECT_EQ(ViewStrides(Plain({6, 4}), Dims{2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(ViewStrides(Plain({6, 4}), Dims{24}), (Dims{1}));
}

TEST(ViewStrides, HeadsMovedAsideCannotBeMerged) {
  // [B, H, T, D] as a transpose of [B, T, H, D]: merging H and T needs a copy, merging B and H too.
  const Meta heads = MetaOf({2, 3, 5, 4}, {60, 4, 12, 1});
  EXPECT_EQ(ViewStrides(heads, Dims{6, 5, 4}), std::nullopt);
  // Transposed back it is contiguous again.
  const Meta back = MetaOf({2, 5, 3, 4}, {60, 12, 4, 1});
  EXPECT_EQ(ViewStrides(back, Dims{2, 5, 12}), (Dims{60, 12, 1}));
}

TEST(ViewStrides, DimensionsOfOneFitAnywhere) {
  EXPECT_EQ(ViewStrides(Plain({4}), Dims{1, 4, 1}), (Dims{4, 1, 1}));
}

TEST(Layout, ChannelsLastIsDenseAndNotContiguous) {
  const Dims sizes = {2, 3, 4, 5};
  const Meta m = MetaOf(sizes, ChannelsLastStrides(sizes));
  EXPECT_TRUE(IsDense(m));
  EXPECT_TRUE(IsChannelsLast(m));
  EXPECT_FALSE(IsContiguous(m));
  EXPECT_EQ(LikeStrides(m), (Dims{60, 1, 15, 3}));
}

TEST(Layout, AnExpandedTensorIsNotDenseAndItsLikeIsFresh) {
  const Meta m = MetaOf({4, 8}, {0, 1});
  EXPECT_FALSE(IsDense(m));
  EXPECT_EQ(LikeStrides(m), (Dims{8, 1}));
}

TEST(Pointwise, FollowsTheOperandsOrderOfDimensions) {
  const Dims sizes = {2, 3, 4, 5};
  const Meta last = MetaOf(sizes, ChannelsLastStrides(sizes)), bias = Plain({3, 1, 1});
  const Meta* both[] = {&last, &bias};
  EXPECT_EQ(PointwiseStrides(both, sizes), ChannelsLastStrides(sizes));
}

TEST(Pointwise, TransposedOperandsGiveATransposedResult) {
  const Meta t = MetaOf({3, 4}, {1, 3});
  const Meta* both[] = {&t, &t};
  EXPECT_EQ(PointwiseStrides(both, Dims{3, 4}), (Dims{1, 3}));
}

}  // namespace
}  // namespace memcrest
