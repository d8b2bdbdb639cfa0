#include "src/shard/partition.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memcrest {
namespace {

using ::testing::ElementsAre;

TEST(ShardRows, TheLastRanksHoldPadding) {
  // 10 rows over 4 ranks: chunks of 3; the last has one row and two of padding.
  const RowShard first = ShardRows(Dims{10, 7}, 4, 0), last = ShardRows(Dims{10, 7}, 4, 3);
  EXPECT_EQ(first.own(), 21);
  EXPECT_EQ(last.own(), 7);
  EXPECT_EQ(last.stored(), 21);
  EXPECT_EQ(ShardRows(Dims{2}, 8, 5).own(), 0);
  EXPECT_EQ(ShardRows(Dims{}, 2, 0).own(), 1);  // a scalar is one row
}

TEST(ShardRows, OwnRowsAddUpToTheWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Dims dims = {static_cast<int64_t>(random() % 50), static_cast<int64_t>(random() % 9 + 1)};
    const int64_t ranks = static_cast<int64_t>(random() % 16) + 1;
    int64_t own = 0, stored = 0;
    for (int64_t r = 0; r < ranks; ++r) {
      own += ShardRows(dims, ranks, r).own();
      stored += ShardRows(dims, ranks, r).stored();
    }
    EXPECT_EQ(own, dims[0] * dims[1]);
    EXPECT_GE(stored, own);
    EXPECT_LT(stored - own, ranks * dims[1]);  // less than a row a rank
  }
}

TEST(GreedyPartition, LargestFirstToTheEmptiestRank) {
  EXPECT_THAT(GreedyPartition({4, 10, 3, 3}, 2), ElementsAre(1, 0, 1, 1));
}

TEST(GreedyPartition, Gpt2OverEightRanks) {
  // Recorded from ZeroRedundancyOptimizer: wte (38,597,376) alone on rank 0.
  std::vector<int64_t> elements = {50257 * 768, 1024 * 768};
  for (int block = 0; block < 12; ++block) {
    for (const int64_t n : {768, 768, 768 * 2304, 2304, 768 * 768, 768, 768, 768, 768 * 3072, 3072, 3072 * 768, 768}) elements.push_back(n);
  }
  elements.insert(elements.end(), {768, 768});
  const std::vector<int64_t> rank_of = GreedyPartition(elements, 8);
  int64_t on_first = 0;
  for (size_t i = 0; i < elements.size(); ++i) on_first += rank_of[i] == 0 ? elements[i] : 0;
  EXPECT_EQ(on_first, 38597376);
}

TEST(Buckets, AreClosedByTheTensorThatFillsThem) {
  using Members = std::vector<size_t>;
  // The first limit is for the first bucket only.
  EXPECT_THAT(Buckets({6, 6, 6, 30, 1}, {10, 25}), ElementsAre(Members{0, 1}, Members{2, 3}, Members{4}));
}

}  // namespace
}  // namespace memcrest
