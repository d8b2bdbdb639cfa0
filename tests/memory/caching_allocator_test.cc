// The unit table of the allocator: one request on an empty allocator, what is counted as allocated and what is reserved.
// Expected numbers follow from the algorithm's constants: 512-byte granule, small pool to 1 MiB in 2 MiB segments, 20 MiB
// segments below 10 MiB, own segments rounded to 2 MiB above, a large block split only if more than 1 MiB would be left.
#include "src/memory/caching_allocator.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

constexpr Bytes kMiB = 1 << 20;

struct Row {
  Bytes request, allocated, reserved;
  const char* why;
};

class FirstRequest : public testing::TestWithParam<Row> {};

TEST_P(FirstRequest, CountsBlockAndSegment) {
  CachingAllocator allocator{AllocatorOptions{}};
  ASSERT_NE(allocator.Malloc(GetParam().request, 0), nullptr);
  EXPECT_EQ(allocator.now().allocated, GetParam().allocated) << GetParam().why;
  EXPECT_EQ(allocator.now().reserved, GetParam().reserved) << GetParam().why;
}

INSTANTIATE_TEST_SUITE_P(
    Table, FirstRequest,
    testing::Values(Row{1, 512, 2097152, "rounded to the granule, small segment"},
                    Row{1048576, 1048576, 2097152, "1 MiB still belongs to the small pool"},
                    Row{1048577, 1049088, 20971520, "one byte more: large pool, 20 MiB segment"},
                    Row{10485760, 10485760, 10485760, "10 MiB gets a segment of its own"},
                    Row{11010048, 11010048, 12582912, "10.5 MiB: 1.5 MiB of 12 MiB are split off"},
                    Row{12058624, 12582912, 12582912, "11.5 MiB: 0.5 MiB is not worth a split and counts as allocated"},
                    Row{8519680, 8519680, 20971520, "a cuBLAS workspace before sm 90"}));

TEST(CachingAllocator, ExpandableSegmentsMapWholeUnitsAndSplitExactly) {
  AllocatorOptions options;
  options.conf.expandable_segments = true;
  CachingAllocator allocator(options);
  ASSERT_NE(allocator.Malloc(12058624, 0), nullptr);
  EXPECT_EQ(allocator.now().allocated, 12058624);  // split down to 512 bytes
  EXPECT_EQ(allocator.now().reserved, 20971520);   // one 20 MiB unit mapped
}

TEST(CachingAllocator, ServesTheSmallestFreeBlockThatFits) {
  CachingAllocator allocator{AllocatorOptions{}};
  CachingAllocator::Block* a = allocator.Malloc(30 * kMiB, 0);
  CachingAllocator::Block* b = allocator.Malloc(20 * kMiB, 0);
  allocator.Free(a);
  allocator.Free(b);
  EXPECT_EQ(allocator.Malloc(19 * kMiB + 512 * 1024, 0), b);  // 20 MiB block, 0.5 MiB left: not split
  EXPECT_EQ(allocator.now().reserved, 50 * kMiB);
}

TEST(CachingAllocator, MergesNeighboursSoThatALargerRequestFits) {
  CachingAllocator allocator{AllocatorOptions{}};
  CachingAllocator::Block* a = allocator.Malloc(4 * kMiB, 0);
  CachingAllocator::Block* b = allocator.Malloc(4 * kMiB, 0);
  allocator.Free(a);
  allocator.Free(b);
  EXPECT_NE(allocator.Malloc(9 * kMiB, 0), nullptr);
  EXPECT_EQ(allocator.now().reserved, 20 * kMiB);  // the same 20 MiB segment
}

TEST(CachingAllocator, StreamsDoNotShareFreeBlocks) {
  CachingAllocator allocator{AllocatorOptions{}};
  allocator.Free(allocator.Malloc(30 * kMiB, 0));
  allocator.Malloc(30 * kMiB, 1);
  EXPECT_EQ(allocator.now().reserved, 60 * kMiB);
}

TEST(CachingAllocator, ABlockUsedOnAnotherStreamWaitsForIt) {
  CachingAllocator allocator{AllocatorOptions{}};
  CachingAllocator::Block* a = allocator.Malloc(30 * kMiB, 0);
  allocator.RecordStream(a, 1);
  allocator.Free(a);
  EXPECT_EQ(allocator.now().allocated, 0);
  EXPECT_EQ(allocator.now().active, 30 * kMiB);
  allocator.Malloc(30 * kMiB, 0);
  EXPECT_EQ(allocator.now().reserved, 60 * kMiB);
  allocator.Synchronize();
  EXPECT_EQ(allocator.now().active, 30 * kMiB);
}

TEST(CachingAllocator, ReleasesItsCacheBeforeItGivesUp) {
  AllocatorOptions options;
  options.memory = 64 * kMiB;
  CachingAllocator allocator(options);
  allocator.Free(allocator.Malloc(40 * kMiB, 0));
  EXPECT_NE(allocator.Malloc(50 * kMiB, 0), nullptr);  // 40 + 50 > 64: the cached 40 go first
  EXPECT_EQ(allocator.now().reserved, 50 * kMiB);
  EXPECT_EQ(allocator.now().retries, 1);
  EXPECT_EQ(allocator.Malloc(20 * kMiB, 0), nullptr);
}

TEST(CachingAllocator, MaxSplitSizeKeepsLargeBlocksForLargeRequests) {
  AllocatorOptions options;
  options.conf.max_split_size = 100 * kMiB;
  CachingAllocator allocator(options);
  allocator.Free(allocator.Malloc(200 * kMiB, 0));
  allocator.Malloc(30 * kMiB, 0);
  EXPECT_EQ(allocator.now().reserved, 230 * kMiB);  // the 200 MiB block is not broken for 30 MiB
}

TEST(CachingAllocator, ACachedBlockThatIsTooSmallDoesNotStopTheProcessLimit) {
  AllocatorOptions options;
  options.allowed = 100 * kMiB;
  CachingAllocator allocator(options);
  EXPECT_NE(allocator.Malloc(80 * kMiB, 0), nullptr);
  EXPECT_EQ(allocator.Malloc(30 * kMiB, 0), nullptr);  // the driver has more; set_per_process_memory_fraction forbids it
}

TEST(CachingAllocator, GarbageCollectionReleasesWhatNobodyAskedForLongest) {
  AllocatorOptions options;
  options.allowed = 100 * kMiB;
  options.conf.garbage_collection_threshold = 0.5;
  CachingAllocator allocator(options);
  allocator.Free(allocator.Malloc(60 * kMiB, 0));
  allocator.Malloc(70 * kMiB, 0);  // 60 of 50 allowed: the 60 go before the driver is asked
  EXPECT_EQ(allocator.now().reserved, 70 * kMiB);
  EXPECT_EQ(allocator.now().retries, 0);
}

TEST(CachingAllocator, RoundsToDivisionsOfPowersOfTwo) {
  AllocatorOptions options;
  options.conf.roundup_power2_divisions.fill(4);
  CachingAllocator allocator(options);
  allocator.Malloc(41 * kMiB, 0);  // 32, 40, 48, 56, 64: the next is 48
  EXPECT_EQ(allocator.now().allocated, 48 * kMiB);
}

TEST(CachingAllocator, LargestFreeBlockIsThatOfTheStream) {
  CachingAllocator allocator{AllocatorOptions{}};
  allocator.Free(allocator.Malloc(30 * kMiB, 0));
  allocator.Free(allocator.Malloc(60 * kMiB, 1));
  EXPECT_EQ(allocator.LargestFree(0), 30 * kMiB);
  EXPECT_EQ(allocator.LargestFree(1), 60 * kMiB);
  EXPECT_EQ(allocator.LargestFree(2), 0);
}

}  // namespace
}  // namespace memcrest
