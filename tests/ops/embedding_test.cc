#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Sequences were recorded from the lab; the table is V x D floats, indices are int64.

std::string Look(EagerHarness& h, Dims table, Dims indices) {
  return h.Trace("embedding", {h.Leaf(table), h.Input(indices, DType::kInt64)});
}

TEST(Embedding, UpTo3072IndicesOneKernelAdds) {
  // The gradient is the table's size: 1000 x 64 floats.
  EagerHarness h;
  EXPECT_EQ(Look(h, {1000, 64}, {4, 768}),
            "+786432 embedding\nbackward\n+786432 ones_like\n-786432 ones_like\n+256000 embedding\n"
            "-786432 embedding\n-256000 accumulate_grad\n");
}

TEST(Embedding, MoreAreSortedAndSummedBySegments) {
  // 8192 indices: arrays of 65536 bytes; 8192 / 10 + 8192 = 9011 partial segments of 64 floats = 2306816.
  EagerHarness h;
  EXPECT_EQ(Look(h, {50257, 64}, {4, 2048}),
            "+2097152 embedding\nbackward\n+2097152 ones_like\n-2097152 ones_like\n~65536 embedding\n"
            "~65536 embedding\n~65536 embedding\n~137727 embedding\n+12865792 embedding\n~65536 embedding\n"
            "~8 embedding\n~65536 embedding\n~1279 embedding\n~65536 embedding\n~65536 embedding\n"
            "~1279 embedding\n~8 embedding\n~72088 embedding\n~2306816 embedding\n-2097152 embedding\n"
            "-12865792 accumulate_grad\n");
}

TEST(Embedding, FewSegmentsWithManyMembersNeedNoPartialSums) {
  // 20000 indices on 100 rows: fewer than 4 x 132 segments, more than 30 members each.
  EagerHarness h;
  EXPECT_EQ(Look(h, {100, 64}, {4, 5000}),
            "+5120000 embedding\nbackward\n+5120000 ones_like\n-5120000 ones_like\n~160000 embedding\n"
            "~160000 embedding\n~160000 embedding\n~7679 embedding\n+25600 embedding\n~160000 embedding\n"
            "~8 embedding\n~160000 embedding\n~1279 embedding\n~800 embedding\n~800 embedding\n~1279 embedding\n"
            "~8 embedding\n~16800 embedding\n~16800 embedding\n-5120000 embedding\n-25600 accumulate_grad\n");
}

TEST(Embedding, BagsKeepOffsetsMembershipAndSizes) {
  EagerHarness h;
  EXPECT_EQ(
      h.Trace("embedding_bag", {h.Leaf({100, 32}), h.Input({4, 8}, DType::kInt64)}, {{Key::kMode, std::string("max")}}),
      "+32 embedding_bag\n+32 embedding_bag\n+256 embedding_bag\n+512 embedding_bag\n+1024 embedding_bag\n"
      "backward\n+512 ones_like\n-512 ones_like\n+12800 embedding_bag\n-512 embedding_bag\n"
      "-32 embedding_bag\n-256 embedding_bag\n-32 embedding_bag\n-1024 embedding_bag\n"
      "-12800 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
