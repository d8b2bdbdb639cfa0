// Plans against trying everything, on networks with at most 14 modules that can be checkpointed.
#include "src/plan/checkpoint_plan.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "src/plan/search.h"
#include "tests/plan/small_network.h"

namespace memcrest {
namespace {

constexpr int64_t kRows = 8192;  // a tensor of 256 columns is 8 MiB: the allocator's segments follow the tensors

// Layers of attention-like and feed-forward modules.
std::unique_ptr<NetworkFile> Transformer(std::mt19937& random) {
  SmallNetwork n;
  const int64_t width = 128 * static_cast<int64_t>(1 + random() % 4);
  TensorId x = n.Linear(n.Input({kRows, 64}), 64, width);
  const int layers = 2 + static_cast<int>(random() % 2);
  for (int i = 0; i < layers; ++i) {
    n.Open(absl::StrCat("layers.", i));
    n.Open("attention");
    const TensorId q = n.Linear(x, width, width), k = n.Linear(x, width, width);
    x = n.Run("add", {x, n.Linear(n.Run("sigmoid", {n.Run("mul", {q, k})}), width, width)});
    n.Close();
    n.Open("mlp");
    x = n.Run("add", {x, n.Linear(n.Run("gelu", {n.Linear(x, width, 4 * width)}), 4 * width, width)});
    n.Close();
    n.Close();
  }
  return n.Finish(n.Linear(x, width, 16));
}

// Blocks of different widths with a skip around each.
std::unique_ptr<NetworkFile> Residual(std::mt19937& random) {
  SmallNetwork n;
  int64_t width = 64;
  TensorId x = n.Linear(n.Input({kRows, 32}), 32, width);
  const int blocks = 4 + static_cast<int>(random() % 4);
  for (int i = 0; i < blocks; ++i) {
    const int64_t to = 64 * static_cast<int64_t>(1 + random() % 6);
    n.Open(absl::StrCat("blocks.", i));
    const TensorId inner = n.Run("relu", {n.Linear(x, width, to)});
    x = n.Run("relu", {n.Run("add", {n.Linear(inner, to, to), n.Linear(x, width, to)})});
    n.Close();
    width = to;
  }
  return n.Finish(n.Linear(x, width, 16));
}

// A U: what goes down is joined on the way up.
std::unique_ptr<NetworkFile> UNet(std::mt19937& random) {
  SmallNetwork n;
  const int depth = 2 + static_cast<int>(random() % 2);
  std::vector<std::pair<TensorId, int64_t>> skips;
  int64_t width = 64 << depth;
  TensorId x = n.Linear(n.Input({kRows, 32}), 32, width);
  for (int i = 0; i < depth; ++i) {
    n.Open(absl::StrCat("down.", i));
    x = n.Run("gelu", {n.Linear(n.Run("gelu", {n.Linear(x, width, width)}), width, width)});
    n.Close();
    skips.emplace_back(x, width);
    x = n.Linear(x, width, width / 2);
    width /= 2;
  }
  n.Open("middle");
  x = n.Run("gelu", {n.Linear(n.Run("gelu", {n.Linear(x, width, width)}), width, width)});
  n.Close();
  for (int i = 0; i < depth; ++i) {
    const auto [skip, wide] = skips.back();
    skips.pop_back();
    n.Open(absl::StrCat("up.", i));
    const TensorId joined = n.Run("cat", {n.Linear(x, width, wide), skip}, {{Key::kAxis, int64_t{1}}});
    x = n.Run("gelu", {n.Linear(n.Run("gelu", {n.Linear(joined, 2 * wide, wide)}), wide, wide)});
    n.Close();
    width = wide;
  }
  return n.Finish(n.Linear(x, width, 8));
}

// A decoder whose layers all read the encoder's result.
std::unique_ptr<NetworkFile> EncoderDecoder(std::mt19937& random) {
  SmallNetwork n;
  const int64_t width = 128 * static_cast<int64_t>(1 + random() % 3);
  const int layers = 2 + static_cast<int>(random() % 2);
  TensorId memory = n.Linear(n.Input({kRows, 64}), 64, width);
  for (int i = 0; i < layers; ++i) {
    n.Open(absl::StrCat("encoder.", i));
    memory = n.Run("add", {memory, n.Linear(n.Run("tanh", {n.Linear(memory, width, 2 * width)}), 2 * width, width)});
    n.Close();
  }
  TensorId x = n.Linear(n.Input({kRows, 64}), 64, width);
  for (int i = 0; i < layers; ++i) {
    n.Open(absl::StrCat("decoder.", i));
    const TensorId mixed = n.Run("mul", {n.Linear(x, width, width), n.Run("softmax", {n.Linear(memory, width, width)}, {{Key::kAxis, int64_t{1}}})});
    x = n.Run("add", {x, n.Linear(n.Run("gelu", {n.Linear(mixed, width, 2 * width)}), 2 * width, width)});
    n.Close();
  }
  return n.Finish(n.Linear(x, width, 16));
}

std::unique_ptr<NetworkFile> Small(int seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  switch (seed % 4) {
    case 0: return Transformer(random);
    case 1: return Residual(random);
    case 2: return UNet(random);
    default: return EncoderDecoder(random);
  }
}

Job SmallJob() {
  Job job;
  job.loss = Loss::kMean;
  job.optimizer = "sgd";
  job.device = "a100-40gb";
  job.steps = 2;
  return job;
}

class SmallNetworks : public testing::TestWithParam<int> {};

TEST_P(SmallNetworks, ThePlanIsAsGoodAsTheBestOfAllChoices) {
  const std::unique_ptr<NetworkFile> file = Small(GetParam());
  const Job job = SmallJob();
  const auto bound = BindJob(*file, job);
  ASSERT_TRUE(bound.ok()) << bound.status();
  const PlanEvaluator evaluator(*file, **bound, job);
  const CandidateSet set = FindCandidates(evaluator);
  ASSERT_GT(set.items.size(), 2u);
  ASSERT_LE(set.items.size(), 14u);
  std::vector<PlanResult> all;
  Bytes low = 0, high = 0;
  for (const Choice& choice : AllChoices(set, 1 << 15)) {
    all.push_back(evaluator.Full(RegionsOf(file->network, set, choice)));
    low = all.size() == 1 ? all[0].reserved : std::min(low, all.back().reserved);
    high = std::max(high, all[0].reserved);
  }
  ASSERT_LT(low, high);
  for (const int percent : {0, 50}) {
    PlanOptions options;
    options.budget = low + (high - low) * percent / 100;
    options.curve_points = 3;
    const absl::StatusOr<PlanReport> report = FindPlan(*file, job, options);
    ASSERT_TRUE(report.ok()) << report.status();
    double best = -1;
    for (const PlanResult& e : all) {
      if (e.reserved <= options.budget && (best < 0 || e.seconds.recompute < best)) best = e.seconds.recompute;
    }
    if (best < 0) {
      // A save policy may reach below what modules alone can.
      EXPECT_TRUE(!report->fits || !report->plan.policy.empty());
      continue;
    }
    ASSERT_TRUE(report->fits) << percent;
    EXPECT_LE(report->plan.result.reserved, options.budget);
    EXPECT_LE(report->plan.result.seconds.recompute, best * 1.02 + 1e-9) << percent;
  }
}

INSTANTIATE_TEST_SUITE_P(Thirty, SmallNetworks, testing::Range(0, 30));

TEST(FindPlan, WithoutABudgetThatBindsNothingIsCheckpointed) {
  const std::unique_ptr<NetworkFile> file = Small(0);
  const absl::StatusOr<PlanReport> report = FindPlan(*file, SmallJob(), {});
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->fits);
  EXPECT_TRUE(report->plan.modules.empty());
  EXPECT_GT(report->curve.size(), 2u);
}

TEST(FindPlan, IsTheSameEachTime) {
  PlanOptions options;
  const std::unique_ptr<NetworkFile> file = Small(2);
  options.budget = FindPlan(*file, SmallJob(), {})->none.result.reserved * 8 / 10;
  const PlanReport a = *FindPlan(*file, SmallJob(), options), b = *FindPlan(*file, SmallJob(), options);
  EXPECT_EQ(a.plan.modules, b.plan.modules);
  EXPECT_EQ(a.curve.size(), b.curve.size());
}

TEST(FindPlan, WhatDoesNotFitComesWithRemedies) {
  SmallNetwork n;  // 64 MiB of weights a module, hardly any activations: the optimizer's copies of the weights are the peak
  TensorId x = n.Input({8, 4096});
  for (int i = 0; i < 4; ++i) {
    n.Open(absl::StrCat("blocks.", i));
    x = n.Run("relu", {n.Linear(x, 4096, 4096)});
    n.Close();
  }
  const std::unique_ptr<NetworkFile> file = n.Finish(x);
  Job job = SmallJob();
  job.optimizer = "adamw";
  PlanOptions options;
  options.budget = 1 << 20;
  const absl::StatusOr<PlanReport> report = FindPlan(*file, job, options);
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->fits);
  EXPECT_FALSE(report->remedies.empty());
  EXPECT_LT(report->remedies[0].reserved, report->floor.result.reserved);
}

// A slowdown limit below what the budget needs leaves no plan.
TEST(FindPlan, KeepsTheSlowdownLimit) {
  const std::unique_ptr<NetworkFile> file = Small(3);
  PlanOptions options;
  options.budget = FindPlan(*file, SmallJob(), {})->floor.result.reserved;
  options.max_slowdown = 0.0001;
  EXPECT_FALSE(FindPlan(*file, SmallJob(), options)->fits);
}

}  // namespace
}  // namespace memcrest
