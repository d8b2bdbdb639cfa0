// The roofline: what bounds a kernel, and the order of magnitude of published rates.
#include "src/clock/rates.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

Work Product(int64_t rows, int64_t columns, int64_t depth, DType dtype) {
  Work w;
  w.unit = ComputeUnit::kProduct;
  w.dtype = dtype;
  w.rows = rows;
  w.columns = columns;
  w.depth = depth;
  w.kernels = 1;
  w.flops = 2.0 * static_cast<double>(rows * columns) * static_cast<double>(depth);
  w.bytes = static_cast<double>(rows * depth + depth * columns + rows * columns) * BitsOf(dtype) / 8;
  return w;
}

TEST(Rates, ALargeProductReachesItsShareOfTheTensorCores) {
  const Rates a100(*FindDevice("a100-80gb"));
  // 8192^3: 1.1e12 flops; 312 Tflop/s x 0.82, all tiles of the last wave but a few in use: 4.4 to 5.2 ms.
  const double seconds = a100.KernelSeconds(Product(8192, 8192, 8192, DType::kBFloat16));
  EXPECT_GT(seconds, 4.2e-3);
  EXPECT_LT(seconds, 5.4e-3);
}

TEST(Rates, ElementwiseKernelsAreBoundByMemory) {
  const Rates a100(*FindDevice("a100-80gb"));
  // 1 GB at 2039 GB/s x 0.9.
  EXPECT_NEAR(a100.KernelSeconds({.bytes = 1e9, .kernels = 1}), 545e-6, 10e-6);
}

TEST(Rates, SmallProductsUseFewMultiprocessors) {
  const Rates a100(*FindDevice("a100-80gb"));
  const double small = a100.KernelSeconds(Product(128, 128, 4096, DType::kBFloat16));
  const double large = a100.KernelSeconds(Product(1280, 1280, 4096, DType::kBFloat16));
  EXPECT_LT(large, 20 * small);  // a hundred times the work
}

TEST(Rates, AViewTakesNoTimeOnTheDevice) {
  EXPECT_EQ(Rates(*FindDevice("t4")).KernelSeconds(Work()), 0);
}

}  // namespace
}  // namespace memcrest
