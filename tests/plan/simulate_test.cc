// The whole chain on the sample exports, against what PyTorch 2.14 allocated in the same jobs on an H100 profile (unmodified
// PyTorch, every storage counted at the dispatcher, 512-byte granule). Tolerances are the few scalars that differ, not fits.
#include "src/plan/simulate.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace memcrest {
namespace {

constexpr Bytes kScalars = 16384;  // a loss's counters and the like: 512 bytes each

std::string Sample(const std::string& name) { return std::string(MEMCREST_SOURCE_DIR) + "/models/" + name; }

Job ImageJob(int64_t batch, int64_t height, int64_t width) {
  Job job;
  job.bind = {{"batch", batch}, {"height", height}, {"width", width}};
  return job;
}

Job TextJob(int64_t batch, int64_t seq) {
  Job job;
  job.bind = {{"batch", batch}, {"seq", seq}};
  job.loss = Loss::kCausalLm;
  return job;
}

Bytes PeakOf(const Report& report) {
  Bytes peak = 0;
  for (const NamedLive& phase : report.devices[0].phases) peak = std::max(peak, phase.live.tensor);
  return peak;
}

Bytes MarkOf(const Report& report, const std::string& name) {
  for (const NamedLive& mark : report.devices[0].marks) {
    if (mark.name == name) return mark.live.tensor;
  }
  return -1;
}

Report MustSimulate(const std::string& model, const Job& job) {
  absl::StatusOr<Report> report = Simulate(Sample(model), job);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

TEST(Simulate, Gpt2InFloat32PeaksInTheLogSoftmaxBackward) {
  const Report report = MustSimulate("gpt2.onnx", TextJob(8, 1024));
  ASSERT_EQ(report.devices.size(), 1u);
  EXPECT_EQ(report.parameter_count, 124439808);
  EXPECT_NEAR(static_cast<double>(PeakOf(report)), 16750407680.0, kScalars);
  EXPECT_EQ(report.devices[0].peak.phase, "backward");
  EXPECT_EQ(report.devices[0].peak.module, "model.lm_head");
  // Parameters + two Adam moments (3 x 497,759,232) + input and labels + the logits of the step before (1,646,821,376).
  EXPECT_EQ(MarkOf(report, "step_start"), 3140230656);
}

TEST(Simulate, Gpt2UnderAutocastKeepsLowPrecisionWeightsUntilBackward) {
  Job job = TextJob(8, 1024);
  job.precision = Precision::kAmpBf16;
  job.optimizer_impl = OptimizerImpl::kFused;
  EXPECT_NEAR(static_cast<double>(PeakOf(MustSimulate("gpt2.onnx", job))), 14047624704.0, kScalars);
}

TEST(Simulate, CheckpointedBlocksAreMadeAgainInBackward) {
  Job job = TextJob(4, 1024);
  job.checkpoint.modules = {"model.transformer.h.*"};
  const Report kept = MustSimulate("gpt2.onnx", TextJob(4, 1024));
  const Report again = MustSimulate("gpt2.onnx", job);
  EXPECT_LT(MarkOf(again, "after_forward"), MarkOf(kept, "after_forward"));
  EXPECT_LT(PeakOf(again), PeakOf(kept));
  EXPECT_EQ(MarkOf(again, "step_start"), MarkOf(kept, "step_start"));
}

TEST(Simulate, FrozenTablesHaveNoGradientAndNoState) {
  Job job = TextJob(8, 1024);
  job.freeze = {"model.transformer.wte", "model.transformer.wpe"};
  const Report report = MustSimulate("gpt2.onnx", job);
  // 50257 x 768 (the tied head with it) and 1024 x 768 do not train.
  EXPECT_EQ(report.trainable_count, 124439808 - 50257 * 768 - 1024 * 768);
}

// peft 0.21 on the same model, 8 x 512 tokens in bf16: fp32 adapters on every c_attn.
TEST(Simulate, Gpt2WithAdapters) {
  Job job = TextJob(8, 512);
  job.precision = Precision::kBf16;
  job.lora.emplace();
  job.lora->rank = 16;
  job.lora->dropout = 0.05;
  job.lora->targets = {"c_attn"};
  const Report report = MustSimulate("gpt2.onnx", job);
  EXPECT_EQ(report.trainable_count, 12 * 16 * (768 + 2304));
  EXPECT_NEAR(static_cast<double>(PeakOf(report)), 5066305024.0, kScalars);
}

// The tied head is copied and trains: 50257 x 768 more.
TEST(Simulate, Gpt2WithAdaptersAndATrainedHead) {
  Job job = TextJob(4, 512);
  job.precision = Precision::kBf16;
  job.lora.emplace();
  job.lora->rank = 16;
  job.lora->targets = {"c_attn"};
  job.lora->modules_to_save = {"lm_head"};
  const Report report = MustSimulate("gpt2.onnx", job);
  EXPECT_EQ(report.trainable_count, 12 * 16 * (768 + 2304) + 50257 * 768);
  EXPECT_NEAR(static_cast<double>(PeakOf(report)), 2878566400.0, kScalars);
}

TEST(Simulate, UNetInFloat32) {
  Job job = ImageJob(4, 256, 256);
  job.loss = Loss::kBceLogits;
  const Report report = MustSimulate("unet2d.onnx", job);
  EXPECT_EQ(report.parameter_count, 31036481);
  EXPECT_TRUE(report.unknown_ops.empty());
}

TEST(Simulate, SameInputGivesTheSameFigures) {
  const Report a = MustSimulate("resnet50.onnx", ImageJob(8, 224, 224)), b = MustSimulate("resnet50.onnx", ImageJob(8, 224, 224));
  EXPECT_EQ(PeakOf(a), PeakOf(b));
  EXPECT_EQ(a.devices[0].reserved, b.devices[0].reserved);
}

TEST(Simulate, CategoriesAddUpToThePeak) {
  const Report report = MustSimulate("resnet50.onnx", ImageJob(8, 224, 224));
  Bytes sum = 0;
  for (const Bytes b : report.devices[0].peak.by_category) sum += b;
  EXPECT_EQ(sum, report.devices[0].peak.live.tensor);
}

TEST(Simulate, UnboundDimensionsAreListedTogether) {
  const absl::StatusOr<Report> report = Simulate(Sample("resnet50.onnx"), Job());
  ASSERT_FALSE(report.ok());
  const std::string text(report.status().message());
  for (const char* part : {"E0401", "batch", "height", "width", "--bind"}) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Simulate, AnUnknownOptimizerIsRefused) {
  Job job = ImageJob(8, 224, 224);
  job.optimizer = "adamm";
  EXPECT_FALSE(Simulate(Sample("resnet50.onnx"), job).ok());
}

Bytes PhasePeak(const Report& report, const std::string& name) {
  for (const NamedLive& phase : report.devices[0].phases) {
    if (phase.name == name) return phase.live.tensor;
  }
  return -1;
}

TEST(Simulate, AValidationPassHasItsOwnBatchAndKeepsNothing) {
  Job job = TextJob(4, 512);
  job.precision = Precision::kAmpBf16;
  job.evaluate = Evaluate{16};
  const Report report = MustSimulate("gpt2.onnx", job);
  EXPECT_NEAR(static_cast<double>(PhasePeak(report, "evaluation")), 2807618560.0, kScalars);  // 16 x 512 tokens, no dropout
  EXPECT_NEAR(static_cast<double>(PeakOf(report)), 4817221120.0, kScalars);
}

TEST(Simulate, ACheckpointedChunkOfTheLossKeepsNoLogits) {
  Job job = TextJob(8, 1024);
  job.precision = Precision::kAmpBf16;
  job.loss = Loss::kChunkedCrossEntropy;
  job.loss_options = {{"chunks", Setting(int64_t{8})}, {"checkpoint", Setting(true)}};
  const Report report = MustSimulate("gpt2.onnx", job);
  EXPECT_NEAR(static_cast<double>(MarkOf(report, "after_forward")), 8219061760.0, kScalars);
  EXPECT_NEAR(static_cast<double>(PeakOf(report)), 9014602752.0, kScalars);
}

TEST(Simulate, ATeacherAddsItsParametersAndTwoLogits) {
  Job job = TextJob(4, 512);
  job.precision = Precision::kAmpBf16;
  job.loss = Loss::kDistillation;
  job.loss_options = {{"temperature", Setting(2.0)}, {"alpha", Setting(0.5)}};
  const Report report = MustSimulate("gpt2.onnx", job);
  EXPECT_NEAR(static_cast<double>(PhasePeak(report, "forward")), 6344343552.0, kScalars);
}

TEST(Simulate, MuonKeepsOneBufferForTheMatricesOfTheBlocks) {
  Job job = TextJob(1, 128);
  job.optimizer = "muon";
  const Report report = MustSimulate("gpt2.onnx", job);
  EXPECT_NEAR(static_cast<double>(PhasePeak(report, "optimizer")), 1835053056.0, kScalars);  // AdamW's roots for the rest
  EXPECT_NEAR(static_cast<double>(MarkOf(report, "after_forward")), 1340471808.0, kScalars);
}

}  // namespace
}  // namespace memcrest
