// A snapshot that PyTorch 2.14.1 wrote (tools/record_snapshot convnet) beside the prediction from its export.
#include "src/report/verify.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "src/plan/simulate.h"
#include "src/report/renderer.h"

namespace memcrest {
namespace {

const std::string kFolder = std::string(MEMCREST_SOURCE_DIR) + "/tests/plan/measured/";

std::string FileBytes(const std::string& name) {
  std::ifstream in(kFolder + name, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

Report Predicted(int64_t batch, const std::string& optimizer = "adamw") {
  Job job;
  job.bind["batch"] = batch;
  job.optimizer = optimizer;
  absl::StatusOr<Report> report = Simulate(kFolder + "convnet.onnx", job);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

MeasuredMemory Measured(const std::string& bytes) {
  absl::StatusOr<MeasuredMemory> measured = ReadMeasurement(bytes, "convnet.pickle");
  EXPECT_TRUE(measured.ok()) << measured.status();
  return *std::move(measured);
}

TEST(Verify, APredictionOfTheSameJobAgrees) {
  const Verification v = Verify(Measured(FileBytes("convnet.pickle")), Predicted(32).devices[0]);
  EXPECT_TRUE(v.compared);
  EXPECT_GE(v.step.repeats, 1);
  EXPECT_NEAR(static_cast<double>(v.our_live), static_cast<double>(v.their_live), 1e-4 * static_cast<double>(v.their_live));
  EXPECT_EQ(v.our_reserved, v.their_reserved);
  EXPECT_EQ(v.matched, v.ours);
  EXPECT_TRUE(v.divergences.empty()) << VerificationText(v, "convnet.pickle");
}

TEST(Verify, ADoubledBatchIsSeen) {
  const Verification v = Verify(Measured(FileBytes("convnet.pickle")), Predicted(64).devices[0]);
  ASSERT_FALSE(v.divergences.empty());
  const std::string text = VerificationText(v, "convnet.pickle");
  EXPECT_NE(text.find("first divergence"), std::string::npos) << text;
  EXPECT_NE(text.find("half or twice the size"), std::string::npos) << text;
}

TEST(Verify, OurOwnSnapshotIsReadBack) {
  const Report report = Predicted(32);
  const Renderer* snapshot = Renderers().Find("snapshot");
  ASSERT_NE(snapshot, nullptr);
  const MeasuredMemory measured = Measured(snapshot->render(report, {}));
  EXPECT_EQ(measured.peak_reserved, report.devices[0].reserved);
  const Verification v = Verify(measured, report.devices[0]);
  EXPECT_EQ(v.our_live, v.their_live);
  EXPECT_TRUE(v.divergences.empty()) << VerificationText(v, "own");
}

TEST(Verify, CountersAloneAreCompared) {
  const MeasuredMemory stats = Measured(R"({"allocated_bytes.all.peak": 1000, "reserved_bytes.all.peak": 2097152, "num_ooms": 0})");
  EXPECT_FALSE(stats.has_trace);
  const Verification v = Verify(stats, Predicted(32).devices[0]);
  EXPECT_EQ(v.their_reserved, 2097152);
  EXPECT_NE(VerificationText(v, "stats.json").find("peaks only"), std::string::npos);
}

TEST(Verify, OtherFilesAreRefusedWithAReason) {
  for (const char* bytes : {"", "{}", "{\"a\": 1}", "\x80\x02}.", "not a pickle", "cos\nsystem\n."}) {
    const absl::StatusOr<MeasuredMemory> measured = ReadMeasurement(bytes, "x.pickle");
    ASSERT_FALSE(measured.ok()) << bytes;
    EXPECT_NE(measured.status().message().find("error E0"), std::string::npos) << measured.status();
  }
}

TEST(LastStep, IsThePeriodOfTheEnd) {
  std::vector<MeasuredAllocation> all;
  for (int i = 0; i < 5; ++i) all.push_back({100 + i, 0, 0, ""});  // initialisation
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 10; ++i) all.push_back({1000 + i, 0, 0, ""});
  }
  const MeasuredStep step = LastStep(all);
  EXPECT_EQ(step.begin, 25u);
  EXPECT_EQ(step.end, 35u);
  EXPECT_EQ(step.repeats, 2);
}

}  // namespace
}  // namespace memcrest
