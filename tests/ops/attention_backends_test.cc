#include "src/ops/attention_backends.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

// Choices were recorded from the lab on PHANTOM_SM=90, 80 and 75.

using Backend = AttentionBackend;

struct Asked {
  DType type = DType::kBFloat16;
  int64_t head = 64, keys = 64, queries = 64;
  bool masked = false, mask_trains = false, causal = false;
  double dropout = 0;
};

Backend Choice(int sm, const Asked& a, const char* forced = "auto") {
  EagerHarness h;
  KernelDevice device;
  device.sm = sm;
  device.attention = forced;
  const Value q = h.Input({2, 4, a.queries, a.head}, a.type), k = h.Input({2, 4, a.keys, a.head}, a.type);
  return ChooseBackend(device, {.query = q,
                                .key = k,
                                .value = k,
                                .masked = a.masked,
                                .mask_trains = a.mask_trains,
                                .trains = true,
                                .causal = a.causal,
                                .dropout = a.dropout});
}

TEST(AttentionBackends, HopperPrefersCudnnForHalfPrecision) {
  EXPECT_EQ(Choice(90, {}), Backend::kCudnn);
  EXPECT_EQ(Choice(90, {.masked = true}), Backend::kCudnn);
  EXPECT_EQ(Choice(90, {.head = 256}), Backend::kCudnn);
  EXPECT_EQ(Choice(90, {.queries = 1}), Backend::kCudnn);
}

TEST(AttentionBackends, WhatCudnnCannotDoGoesToFlash) {
  EXPECT_EQ(Choice(90, {.dropout = 0.1}), Backend::kFlash);
  EXPECT_EQ(Choice(90, {.head = 160}), Backend::kFlash);
  EXPECT_EQ(Choice(90, {.head = 60}), Backend::kFlash);
  EXPECT_EQ(Choice(90, {.keys = 1}), Backend::kFlash);
}

TEST(AttentionBackends, MasksThatFlashCannotTakeGoToMemoryEfficient) {
  EXPECT_EQ(Choice(90, {.masked = true, .dropout = 0.1}), Backend::kEfficient);
  EXPECT_EQ(Choice(90, {.masked = true, .mask_trains = true}), Backend::kEfficient);
  EXPECT_EQ(Choice(90, {.head = 320}), Backend::kEfficient);
  EXPECT_EQ(Choice(80, {.masked = true}), Backend::kEfficient);
}

TEST(AttentionBackends, Float32IsAlwaysMemoryEfficientWhereItsHeadIsAligned) {
  EXPECT_EQ(Choice(90, {.type = DType::kFloat32}), Backend::kEfficient);
  EXPECT_EQ(Choice(90, {.type = DType::kFloat32, .head = 30}), Backend::kMath);
  EXPECT_EQ(Choice(75, {.type = DType::kFloat32, .head = 30}), Backend::kEfficient);
}

TEST(AttentionBackends, OlderGenerationsLackKernels) {
  EXPECT_EQ(Choice(80, {}), Backend::kFlash);
  EXPECT_EQ(Choice(75, {}), Backend::kMath);
  EXPECT_EQ(Choice(75, {.type = DType::kFloat16}), Backend::kEfficient);
}

TEST(AttentionBackends, AForcedBackendIsTakenWhereItRuns) {
  EXPECT_EQ(Choice(90, {}, "flash"), Backend::kFlash);
  EXPECT_EQ(Choice(90, {}, "math"), Backend::kMath);
  EXPECT_EQ(Choice(90, {.masked = true}, "flash"), Backend::kCudnn);
}

}  // namespace
}  // namespace memcrest
