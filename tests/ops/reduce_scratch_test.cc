// Scratch of reduction kernels. Expected bytes were measured with PyTorch 2.14's own kernels launched for a device of
// compute capability 9.0 with 132 multiprocessors (bytes requested from the caching allocator inside the operator).
#include "src/ops/reduce_scratch.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

Bytes Sum(DimSpan sizes, DimSpan axes, DType dtype = DType::kFloat32) {
  const MetaRef meta = MakeMeta(sizes, ContiguousStrides(sizes), dtype);
  return SumScratch(KernelDevice(), *meta, axes, dtype);
}

TEST(ReduceScratch, BiasGradientsTakeABufferOfThreadBlocksPartialSums) {
  // (2048, 1024): a block is 32 x 4 threads of 4 outputs each; 8 columns of blocks; 512 values a thread are split until
  // 16 are left: 32 blocks an output. 4 bytes x 1024 outputs x 32 blocks x 128 outputs a block, and a semaphore a
  // column.
  EXPECT_EQ(Sum({2048, 1024}, {0}), 16777216 + 4 * 8);
  EXPECT_EQ(Sum({4096, 1024}, {0}), 33554432 + 4 * 8);
  EXPECT_EQ(Sum({8192, 4096}, {0}), 138412032 + 4 * 32);
}

TEST(ReduceScratch, ShortRowReductionsTakeNone) {
  EXPECT_EQ(Sum({8, 1024, 768}, {-1}), 0);
  EXPECT_EQ(Sum({32, 128, 1}, {1}), 0);
  EXPECT_EQ(Sum({}, {}), 0);
  EXPECT_EQ(Sum({0, 5}, {0}), 0);
}

TEST(ReduceScratch, DependsOnTheDevice) {
  KernelDevice small;
  small.sm = 75;
  small.multiprocessors = 40;
  const MetaRef meta = MakeMeta({8192, 4096}, {4096, 1}, DType::kFloat32);
  // 40 multiprocessors take 8 blocks of 128 threads each: 320 blocks over 32 columns are 10 an output (132 x 16 / 32 =
  // 66 above).
  EXPECT_EQ(SumScratch(small, *meta, {0}, DType::kFloat32), 4 * 4096 * 10 * 128 + 4 * 32);
}

TEST(ReduceScratch, IndexedExtremesCarryAValueAndAnIndex) {
  const MetaRef meta = MakeMeta({1048576, 16}, {16, 1}, DType::kFloat32);
  const Bytes plain = ReductionScratch(KernelDevice(), *meta, {0}, ExtremeKernel(DType::kFloat32, false));
  const Bytes indexed = ReductionScratch(KernelDevice(), *meta, {0}, ExtremeKernel(DType::kFloat32, true));
  EXPECT_GT(plain, 0);
  EXPECT_GT(indexed, 3 * plain);  // 16 bytes a partial instead of 4, the same semaphores
}

}  // namespace
}  // namespace memcrest
