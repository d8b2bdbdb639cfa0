#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Recorded from the lab: squares padded by one channel (17 of 16), averaged, scaled, raised and divided by.

TEST(ResponseNorm, IsAChainOfElementWiseOperators) {
  EagerHarness h;
  EXPECT_EQ(h.Trace("local_response_norm", {h.Leaf({4, 16, 32, 32})}, {{Key::kKernel, Dims{2}}}),
            "+262144 mul\n+278528 constant_pad_nd\n+262144 avg_pool\n-262144 local_response_norm\n+262144 mul\n"
            "+262144 add\n+262144 pow\n-262144 local_response_norm\n-262144 local_response_norm\n"
            "+262144 div.Tensor\nbackward\n+262144 ones_like\n-262144 ones_like\n+262144 div.Tensor\n"
            "+262144 div.Tensor\n+262144 div.Tensor\n+262144 div.Tensor\n-262144 div.Tensor\n-262144 div.Tensor\n"
            "-262144 div.Tensor\n+262144 div.Tensor\n-262144 div.Tensor\n-262144 div.Tensor\n+262144 pow\n"
            "+262144 pow\n+262144 pow\n-262144 pow\n-262144 pow\n-262144 pow\n-262144 pow\n+262144 mul\n"
            "-262144 mul\n+278528 avg_pool\n-262144 avg_pool\n-278528 avg_pool\n+262144 constant_pad_nd\n"
            "-278528 constant_pad_nd\n+262144 mul\n+262144 mul\n-262144 mul\n?262144 add\n-262144 add\n"
            "?262144 add\n-262144 add\n-262144 accumulate_grad\n");
}

}  // namespace
}  // namespace memcrest
