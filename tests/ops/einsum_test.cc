#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Sequences were recorded from the lab. Operands are permuted and reshaped to bmm; reshapes that cannot be views are
// copies.

Attrs Equation(const char* text) { return {{Key::kEquation, std::string(text)}}; }

TEST(Einsum, PlainProductIsOneBmm) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("einsum", {h.Leaf({32, 16}), h.Leaf({16, 8})}, Equation("ij,jk->ik")),
            "+1024 bmm\nbackward\n+1024 ones_like\n-1024 ones_like\n+512 bmm\n+2048 bmm\n-1024 bmm\n"
            "-2048 accumulate_grad\n-512 accumulate_grad\n");
}

TEST(Einsum, HeadsInTheMiddleAreCopied) {
  // q and k are copied head by head and saved.
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("einsum", {h.Leaf({2, 16, 4, 8}), h.Leaf({2, 12, 4, 8})}, Equation("bqhd,bkhd->bhqk")),
            "+4096 clone\n+3072 clone\n+6144 bmm\nbackward\n+6144 ones_like\n-6144 ones_like\n+3072 bmm\n"
            "+4096 bmm\n-6144 bmm\n-4096 bmm\n-3072 bmm\n+3072 clone\n-3072 clone\n+4096 clone\n-4096 clone\n"
            "-4096 clone\n-3072 clone\n");
}

TEST(Einsum, OuterProductIsAMultiplication) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("einsum", {h.Leaf({32}), h.Leaf({16})}, Equation("i,j->ij")),
            "+2048 mul\nbackward\n+2048 ones_like\n-2048 ones_like\n+2048 mul\n+2048 mul\n+128 sum\n-2048 sum\n"
            "+64 sum\n-2048 sum\n-2048 sum\n-128 accumulate_grad\n-64 accumulate_grad\n");
}

TEST(Einsum, ThreeOperandsAreMultipliedFromTheLeft) {
  EagerHarness h;
  h.rt().UseCublas();
  EXPECT_EQ(h.Trace("einsum", {h.Leaf({4, 8}), h.Leaf({8, 16}), h.Leaf({4, 16})}, Equation("bi,ij,bj->b")),
            "+256 bmm\n+16 bmm\nbackward\n+16 ones_like\n-16 ones_like\n+256 bmm\n+256 bmm\n-16 bmm\n-256 bmm\n"
            "+512 bmm\n+128 bmm\n-256 bmm\n-128 accumulate_grad\n-512 accumulate_grad\n-256 accumulate_grad\n");
}

TEST(Einsum, ResultHasTheLabelsAsWritten) {
  EagerHarness h;
  EXPECT_EQ(h.Run("einsum", {h.Input({2, 4, 8}), h.Input({8, 16})}, Equation("...d,de->...e")).sizes(),
            (Dims{2, 4, 16}));
  EXPECT_EQ(h.Run("einsum", {h.Input({4, 8, 16})}, Equation("bij->jb")).sizes(), (Dims{16, 4}));
  EXPECT_EQ(h.Run("einsum", {h.Input({4, 8}), h.Input({8, 3})}, Equation("ij,jk")).sizes(), (Dims{4, 3}));
}

}  // namespace
}  // namespace memcrest
