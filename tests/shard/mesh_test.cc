#include "src/shard/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memcrest {
namespace {

using ::testing::ElementsAre;

TEST(Mesh, RanksAreNumberedRowByRow) {
  Parallel p;
  p.replicate = 2;
  p.data = 4;
  const Mesh mesh = MeshOf(p);
  EXPECT_EQ(mesh.world(), 8);
  EXPECT_EQ(mesh.Coordinate(6, "replicate"), 1);
  EXPECT_EQ(mesh.Coordinate(6, "data"), 2);
  EXPECT_THAT(mesh.Group(6, "data"), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(mesh.Group(6, "replicate"), ElementsAre(2, 6));
  EXPECT_EQ(mesh.Size("tensor"), 1);
}

TEST(RankClasses, EqualRanksStandTogether) {
  const std::vector<RankClass> classes = ClassesOf({{5}, {3}, {5}, {3}, {1}});
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_THAT(classes[0].ranks, ElementsAre(0, 2));
  EXPECT_THAT(classes[1].ranks, ElementsAre(1, 3));
  EXPECT_THAT(classes[2].ranks, ElementsAre(4));
}

}  // namespace
}  // namespace memcrest
