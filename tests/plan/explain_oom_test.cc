#include "src/plan/explain_oom.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/job/device.h"
#include "src/plan/simulate.h"

namespace memcrest {
namespace {

const char kModel[] = MEMCREST_SOURCE_DIR "/models/gpt2.onnx";

std::string Shown(Bytes bytes) { return absl::StrFormat("%.2f GiB", static_cast<double>(bytes) / (1 << 30)); }

Job JobOfBatch(int64_t batch) {
  Job job;
  job.bind = {{"batch", batch}, {"seq", 1024}};
  job.loss = Loss::kCausalLm;
  return job;
}

std::string Message(Bytes requested, Bytes capacity, Bytes in_use, Bytes allocated, Bytes unallocated) {
  return absl::StrCat("CUDA out of memory. Tried to allocate ", Shown(requested), ". GPU 0 has a total capacity of ", Shown(capacity),
                      " of which 0 bytes is free. Including non-PyTorch memory, this process has ", Shown(in_use),
                      " memory in use. Of the allocated memory ", Shown(allocated), " is allocated by PyTorch, and ", Shown(unallocated),
                      " is reserved by PyTorch but unallocated.");
}

OomExplanation Explain(const std::string& text, const Job& job) {
  const auto message = FindOomMessage(text);
  EXPECT_TRUE(message.has_value()) << text;
  absl::StatusOr<OomExplanation> e = ExplainOom(*message, kModel, job);
  EXPECT_TRUE(e.ok()) << e.status();
  return e.ok() ? *std::move(e) : OomExplanation();
}

// A message made of what the simulation itself meets at the limit must lead back to that place.
TEST(ExplainOom, FindsThePlaceWhereTheSimulationBreaks) {
  const absl::StatusOr<Report> report = Simulate(kModel, JobOfBatch(64));
  ASSERT_TRUE(report.ok());
  const DeviceReport& d = report->devices[0];
  ASSERT_TRUE(d.breaks.has_value());
  const OomExplanation e =
      Explain(Message(SegmentSize(d.breaks->requested), d.capacity, d.capacity, d.breaks->allocated, 1 << 28), JobOfBatch(64));
  EXPECT_EQ(e.cause, OomCause::kJob);
  ASSERT_TRUE(e.place.has_value());
  EXPECT_EQ(e.place->phase, d.breaks->phase);
  EXPECT_EQ(e.place->module, d.breaks->module);
  EXPECT_EQ(e.place->op, d.breaks->op);
  ASSERT_FALSE(e.remedies.empty());
  EXPECT_TRUE(e.remedies.back().fits);
  EXPECT_LE(e.remedies.back().process, d.capacity);
}

TEST(ExplainOom, TellsOtherCauses) {
  constexpr Bytes kGiB = Bytes{1} << 30;
  const Job job = JobOfBatch(8);  // some 20 GiB
  EXPECT_EQ(Explain(Message(kGiB, 80 * kGiB, 10 * kGiB, 9 * kGiB, 0), job).cause, OomCause::kOtherProcesses);
  EXPECT_EQ(Explain(Message(kGiB, 80 * kGiB, 80 * kGiB, 70 * kGiB, 0), job).cause, OomCause::kNotInJob);
  EXPECT_EQ(Explain(Message(kGiB, 80 * kGiB, 80 * kGiB, 9 * kGiB, 70 * kGiB), job).cause, OomCause::kFragmentation);
  EXPECT_EQ(Explain(Message(kGiB, 80 * kGiB, 80 * kGiB, 9 * kGiB, 0), job).cause, OomCause::kUnclear);
}

TEST(ExplainOom, TheDeviceIsKnownByItsMemory) {
  OomMessage m;
  EXPECT_FALSE(DeviceOfMessage(m, "").has_value());
  m.capacity = ShownBytes{Bytes{3} << 40, 1};
  EXPECT_FALSE(DeviceOfMessage(m, "").has_value());
  m.capacity = ShownBytes{FindDevice("h100-80gb")->usable_bytes, 1};
  EXPECT_TRUE(DeviceOfMessage(m, "h100-80gb").has_value());
}

TEST(ExplainOom, TheTextAnswersFirst) {
  const auto message = FindOomMessage(Message(Bytes{1} << 30, Bytes{80} << 30, Bytes{10} << 30, Bytes{9} << 30, 0));
  OomExplanation e;
  e.report.devices.resize(1);
  e.cause = OomCause::kOtherProcesses;
  e.available = Bytes{10} << 30;
  e.remedies = {{"--optimizer-impl fused", "no time: fused=True", Bytes{9} << 30, true}};
  const std::string text = OomText(*message, e);
  EXPECT_EQ(text.substr(0, text.find(';')), "other processes hold 70.0 GiB of the GPU");
  EXPECT_NE(text.find("  fits    9.00 GiB  --optimizer-impl fused\n                    no time: fused=True\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace memcrest
