// Engines on a sample export, against what one rank of PyTorch 2.14 allocated (unmodified engines on a process group whose
// collectives return at once; the caching allocator's own counters on an H100 profile). Allocated bytes of a phase's peak or of
// a mark. 1 %: what remains is the allocator's unsplit rests and single-device differences of the same network.
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include "src/job/load.h"
#include "src/plan/simulate.h"

namespace memcrest {
namespace {

struct Row {
  const char* name;
  FlagValues flags;
  int64_t rank;
  Bytes forward, backward, optimizer, step_start;
};

constexpr double kTolerance = 0.01;

absl::StatusOr<Report> Simulated(const FlagValues& flags, const char* model = "gpt2.onnx") {
  FlagValues all = {{"bind", "batch=1,seq=64"}, {"loss", "causal-lm"}};
  all.insert(all.end(), flags.begin(), flags.end());
  const absl::StatusOr<Job> job = LoadJob("", all);
  if (!job.ok()) return job.status();
  return Simulate(std::string(MEMCREST_SOURCE_DIR) + "/models/" + model, *job);
}

const DeviceReport* OfRank(const Report& report, int64_t rank) {
  for (const DeviceReport& d : report.devices) {
    for (const int64_t r : d.ranks) {
      if (r == rank) return &d;
    }
  }
  return nullptr;
}

Bytes Allocated(const std::vector<NamedLive>& list, const std::string& name) {
  for (const NamedLive& n : list) {
    if (n.name == name) return n.live.allocated;
  }
  return -1;
}

class EngineRows : public ::testing::TestWithParam<Row> {};

TEST_P(EngineRows, AllocateWhatTheEngineAllocated) {
  const Row& row = GetParam();
  const absl::StatusOr<Report> report = Simulated(row.flags);
  ASSERT_TRUE(report.ok()) << report.status();
  const DeviceReport* d = OfRank(*report, row.rank);
  ASSERT_NE(d, nullptr);
  const auto near = [&](Bytes ours, Bytes theirs, const char* what) {
    EXPECT_NEAR(static_cast<double>(ours), static_cast<double>(theirs), kTolerance * static_cast<double>(theirs)) << what;
  };
  near(Allocated(d->phases, "forward"), row.forward, "forward");
  near(Allocated(d->phases, "backward"), row.backward, "backward");
  near(Allocated(d->phases, "optimizer"), row.optimizer, "optimizer");
  near(Allocated(d->marks, "step_start"), row.step_start, "step_start");
}

std::vector<Row> Rows() {
  return {
#include "tests/plan/parallel_rows.inc"
  };
}

INSTANTIATE_TEST_SUITE_P(Gpt2, EngineRows, ::testing::ValuesIn(Rows()), [](const auto& row) { return row.param.name; });

TEST(Engines, TheFullestRankComesFirst) {
  const absl::StatusOr<Report> report = Simulated({{"engine", "zero1"}, {"data-parallel", "8"}});
  ASSERT_TRUE(report.ok()) << report.status();
  size_t ranks = 0;
  for (size_t i = 0; i < report->devices.size(); ++i) {
    ranks += report->devices[i].ranks.size();
    if (i == 0) continue;
    EXPECT_LE(report->devices[i].process, report->devices[i - 1].process);
  }
  EXPECT_EQ(ranks, 8u);
}

Bytes CategoryOverRanks(const Report& report, Category category) {
  Bytes sum = 0;
  for (const DeviceReport& d : report.devices) {
    sum += d.peak.by_category[static_cast<size_t>(category)] * static_cast<Bytes>(d.ranks.size());
  }
  return sum;
}

TEST(Engines, ShardsAddUpToTheWholeWithPaddingOfLessThanARowAndAGranuleEach) {
  const absl::StatusOr<Report> whole = Simulated({});
  ASSERT_TRUE(whole.ok());
  constexpr Bytes kTensors = 148, kRow = 3072 * 4, kGranule = 512;
  for (const Bytes ranks : {2, 3, 8}) {
    const absl::StatusOr<Report> sharded = Simulated({{"engine", "fsdp2"}, {"data-parallel", std::to_string(ranks)}});
    ASSERT_TRUE(sharded.ok()) << sharded.status();
    for (const Category category : {Category::kParameters, Category::kOptimizerState}) {
      const Bytes one = CategoryOverRanks(*whole, category), all = CategoryOverRanks(*sharded, category);
      EXPECT_GE(all, one);
      EXPECT_LE(all, one + 2 * kTensors * ranks * (kRow + kGranule));
    }
  }
}

TEST(Engines, OneRankHoldsBetweenStepsWhatAnUnshardedJobHolds) {
  const absl::StatusOr<Report> whole = Simulated({}), one = Simulated({{"engine", "fsdp2"}});
  ASSERT_TRUE(whole.ok() && one.ok());
  EXPECT_EQ(one->devices[0].marks[0].live.tensor, whole->devices[0].marks[0].live.tensor);
}

TEST(Engines, AZeroStageAloneChoosesTheEngine) {
  const absl::StatusOr<Report> alone = Simulated({{"zero", "3"}, {"data-parallel", "8"}});
  const absl::StatusOr<Report> named = Simulated({{"engine", "fsdp2"}, {"data-parallel", "8"}});
  ASSERT_TRUE(alone.ok() && named.ok()) << alone.status();
  EXPECT_EQ(alone->devices[0].peak.live.allocated, named->devices[0].peak.live.allocated);
  EXPECT_FALSE(alone->divisions.empty());
}

TEST(Engines, AWrapPatternThatMatchesNothingIsNamed) {
  const absl::StatusOr<Report> report = Simulated({{"engine", "fsdp2"}, {"data-parallel", "8"}, {"wrap", "model.blocks.*"}});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(std::string(report.status().message()).find("E0510"), std::string::npos);
}

}  // namespace
}  // namespace memcrest
