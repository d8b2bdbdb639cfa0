// The search for the largest size against trying every size.
#include "src/plan/fit_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace memcrest {
namespace {

// A made-up job: live bytes fixed + slope * n (+ a bump that grows with n modulo a period, as fragmentation does).
struct Made {
  Bytes fixed, slope, bump, period, budget;

  absl::StatusOr<Outcome> operator()(int64_t n) const {
    Outcome o;
    o.budget = o.capacity = budget;
    o.ideal_reserved = o.allocated = fixed + slope * n;
    o.reserved = o.process = o.ideal_reserved + bump * (n % period);
    o.fits = o.reserved <= budget;
    if (!o.fits) o.breaks = BreakReport{"backward", "mm", "model.fc", "output of mm", slope, o.ideal_reserved, 0, 0, {}};
    return o;
  }
};

int64_t BruteForce(const SizeOutcome& outcome_of, const FitOptions& options) {
  int64_t largest = 0;
  for (int64_t n = options.multiple; n <= options.most; n += options.multiple) {
    const absl::StatusOr<Outcome> o = outcome_of(n);
    if (o.ok() && o->fits) largest = n;
  }
  return largest;
}

struct Case {
  Made made;
  FitOptions options;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case>* const kCases = new std::vector<Case>{
      {{100, 10, 0, 1, 1000}, {1, 500}},   {{100, 10, 0, 1, 1009}, {1, 500}},  {{100, 10, 0, 1, 110}, {1, 500}},
      {{100, 10, 0, 1, 109}, {1, 500}},    {{0, 1, 0, 1, 256}, {1, 500}},      {{0, 1, 0, 1, 255}, {1, 500}},
      {{0, 1, 0, 1, 257}, {1, 500}},       {{0, 1, 0, 1, 1000}, {1, 500}},     {{100, 10, 0, 1, 1000}, {8, 500}},
      {{100, 10, 0, 1, 1000}, {7, 500}},   {{100, 10, 0, 1, 150}, {16, 500}},  {{100, 10, 7, 5, 1000}, {1, 500}},
      {{100, 10, 30, 4, 1000}, {1, 500}},  {{100, 10, 20, 10, 1000}, {1, 500}}, {{100, 3, 11, 7, 500}, {1, 500}},
      {{100, 3, 11, 7, 500}, {4, 500}},    {{90, 10, 25, 2, 105}, {1, 500}},   {{999, 1, 0, 1, 1000}, {1, 1}},
      {{100, 10, 100, 3, 1000}, {1, 500}}, {{100, 10, 500, 3, 140}, {1, 500}},
  };
  return *kCases;
}

TEST(Fit, AgreesWithTryingEverySizeOnTwentyJobs) {
  ASSERT_EQ(Cases().size(), 20u);
  for (const Case& c : Cases()) {
    const absl::StatusOr<Fit> fit = LargestThatFits(c.made, c.options);
    ASSERT_TRUE(fit.ok()) << fit.status();
    EXPECT_EQ(fit->size, BruteForce(c.made, c.options))
        << c.made.fixed << " + " << c.made.slope << " n, bump " << c.made.bump << " of " << c.made.period << ", budget " << c.made.budget
        << ", multiple " << c.options.multiple;
  }
}

TEST(Fit, TriesFewSizesWhereMemoryOnlyGrows) {
  const absl::StatusOr<Fit> fit = LargestThatFits(Made{0, 1, 0, 1, 100'000}, FitOptions());
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->size, 100'000);
  EXPECT_LE(fit->tried.size(), 36u);  // 17 doublings, 17 halvings, both ends
}

TEST(Fit, OneMoreCostsItsLiveBytes) {
  const absl::StatusOr<Fit> fit = LargestThatFits(Made{100, 10, 7, 5, 1000}, FitOptions());
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->per_unit, 10);
}

TEST(Fit, TheNextLimitIsTheSmallestTriedSizeAbove) {
  const absl::StatusOr<Fit> fit = LargestThatFits(Made{100, 10, 0, 1, 1000}, FitOptions());
  ASSERT_TRUE(fit.ok());
  ASSERT_NE(fit->Next(), nullptr);
  EXPECT_EQ(fit->Next()->size, 91);
  EXPECT_EQ(fit->Next()->outcome.breaks->module, "model.fc");
}

TEST(Fit, ASizeThatTheNetworkRefusesIsALimit) {
  const Made made{0, 1, 0, 1, 1'000'000};
  const auto positions = [&](int64_t n) -> absl::StatusOr<Outcome> {
    if (n > 1024) return absl::InvalidArgumentError("error E0402: 1025 does not broadcast with 1024");
    return made(n);
  };
  const absl::StatusOr<Fit> fit = LargestThatFits(positions, FitOptions());
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->size, 1024);
  EXPECT_EQ(fit->Next()->refused, "error E0402: 1025 does not broadcast with 1024");
}

TEST(Fit, WhatTheSmallestSizeIsRefusedForIsAnError) {
  const auto never = [](int64_t) -> absl::StatusOr<Outcome> { return absl::InvalidArgumentError("error E0401: no value for seq"); };
  EXPECT_FALSE(LargestThatFits(never, FitOptions()).ok());
}

TEST(Fit, WithoutALimitTheLargestAllowedIsTheAnswer) {
  const absl::StatusOr<Fit> fit = LargestThatFits(Made{0, 1, 0, 1, 1'000'000}, FitOptions{1, 300});
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->size, 300);
  EXPECT_FALSE(fit->bounded);
  EXPECT_EQ(fit->Next(), nullptr);
}

TEST(FitText, TheFirstLineAnswersAndTheNextLimitIsNamed) {
  const absl::StatusOr<Fit> fit = LargestThatFits(Made{int64_t{1} << 30, int64_t{1} << 28, 0, 1, int64_t{4} << 30}, FitOptions());
  ASSERT_TRUE(fit.ok());
  const std::string text = FitText({"net.onnx", "batch", "a100-80gb", 0.1}, *fit);
  // (4 - 1) GiB / 256 MiB = 12.
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "batch 12 is the largest that fits a100-80gb: 4.00 GiB of 4.00 GiB with 10% kept free\n"
            "one more batch: +256.0 MiB live\n"
            "next limit: batch=13 breaks in backward of model.fc, asking for 256.0 MiB with\n"
            "  4.25 GiB allocated");
}

// A real network: every batch is simulated, as `memcrest simulate` does it.
TEST(Fit, AgreesWithSimulatingEveryBatch) {
  const std::string model = std::string(MEMCREST_SOURCE_DIR) + "/models/resnet50.onnx";
  Job job;
  job.bind = {{"batch", 1}, {"height", 448}, {"width", 448}};
  job.device = "t4";
  const absl::StatusOr<Fit> fit = LargestThatFits(model, job, "batch", 0.0, FitOptions{1, 64});
  ASSERT_TRUE(fit.ok()) << fit.status();
  const absl::StatusOr<std::unique_ptr<NetworkFile>> file = OpenNetwork(model, job);
  ASSERT_TRUE(file.ok()) << file.status();
  int64_t largest = 0;
  for (int64_t n = 1; n <= 64; ++n) {
    job.bind["batch"] = n;
    const auto bound = BindJob(**file, job);
    ASSERT_TRUE(bound.ok()) << bound.status();
    const absl::StatusOr<Outcome> o = OutcomeOf(**file, **bound, job, 0.0);
    ASSERT_TRUE(o.ok());
    if (o->fits) largest = n;
    if (o->impossible()) break;
  }
  EXPECT_EQ(fit->size, largest);
  EXPECT_GT(largest, 0);
}

}  // namespace
}  // namespace memcrest
