// Variants of checkpointing and offload on the sample exports, against what PyTorch 2.14 allocated in the same jobs on an H100
// profile (unmodified PyTorch, every storage counted at the dispatcher, 512-byte granule).
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "src/plan/simulate.h"

namespace memcrest {
namespace {

Job GptJob(int64_t batch, int64_t seq) {
  Job job;
  job.bind = {{"batch", batch}, {"seq", seq}};
  job.loss = Loss::kCausalLm;
  return job;
}

struct Measured {
  const char* model;
  Job job;
  double peak, after_forward;
};

// Tolerance: the random states and counters of dropout and losses, 512 bytes each.
void Check(const Measured& m, double tolerance = 32768) {
  const absl::StatusOr<Report> report = Simulate(std::string(MEMCREST_SOURCE_DIR) + "/models/" + m.model, m.job);
  ASSERT_TRUE(report.ok()) << report.status();
  Bytes peak = 0, after_forward = 0;
  for (const NamedLive& p : report->devices[0].phases) peak = std::max(peak, p.live.tensor);
  for (const NamedLive& k : report->devices[0].marks) {
    if (k.name == "after_forward") after_forward = k.live.tensor;
  }
  EXPECT_NEAR(static_cast<double>(peak), m.peak, tolerance);
  EXPECT_NEAR(static_cast<double>(after_forward), m.after_forward, tolerance);
}

TEST(Checkpointing, ReentrantBlocksAreOneFunctionEach) {
  Job job = GptJob(8, 512);
  job.checkpoint.modules = {"model.transformer.h.*"};
  job.checkpoint.reentrant = true;
  Check({"gpt2.onnx", job, 4966330368, 3319541760});
}

TEST(Checkpointing, ReentrantBackwardHoldsTheTailAndTheResult) {
  Job job;
  job.bind = {{"batch", 32}, {"height", 224}, {"width", 224}};
  job.optimizer = "sgd-momentum";
  job.checkpoint.modules = {"model.layer1.*", "model.layer2.*", "model.layer3.*", "model.layer4.*"};
  job.checkpoint.reentrant = true;
  Check({"resnet50.onnx", job, 1430113280, 1200719872});
}

TEST(Checkpointing, NestedRegionsAreRecomputedInTheirOuterOnes) {
  Job job = GptJob(8, 512);
  job.checkpoint.modules = {"model.transformer.h.*", "model.transformer.h.*.mlp"};
  job.checkpoint.nested = true;
  Check({"gpt2.onnx", job, 4966330368, 3319541760});
}

TEST(Checkpointing, ThroughTransformersUnderAutocast) {
  Job job = GptJob(4, 512);
  job.precision = Precision::kAmpBf16;
  job.outputs = Outputs::kDrop;
  job.checkpoint.via = "transformers";
  job.checkpoint.reentrant = true;
  Check({"gpt2.onnx", job, 2892150272, 2068755968});
}

TEST(Checkpointing, ASavePolicyKeepsTheResultsOfProductsAndAttention) {
  Job job = GptJob(8, 512);
  job.precision = Precision::kAmpBf16;
  job.checkpoint.modules = {"model.transformer.h.*"};
  job.checkpoint.policy.save = {"aten.mm", "aten.addmm", "aten.bmm", "aten._scaled_dot_product_flash_attention"};
  Check({"gpt2.onnx", job, 5382874624, 3736086016});
}

TEST(Checkpointing, APolicyMayKeepEverySecondProduct) {
  Job job = GptJob(2, 1024);
  job.precision = Precision::kBf16;
  job.checkpoint.modules = {"model.model.layers.*"};
  const std::string model = std::string(MEMCREST_SOURCE_DIR) + "/models/llama-3.2-1b.onnx";
  const auto after_forward = [&] { return Simulate(model, job)->devices[0].marks[1].live.tensor; };
  const Bytes none = after_forward();
  job.checkpoint.policy.save = {"aten.mm"};
  job.checkpoint.policy.every = {{"aten.mm", 2}};
  // The 1st, 3rd, 5th and 7th product of a layer: q, v, gate and down. 2 x 1024 rows of 2 bytes:
  // (2048 + 512 + 8192 + 2048) x 4096 bytes = 50 MiB in each of 16 layers.
  EXPECT_EQ(after_forward() - none, 16 * Bytes{(2048 + 512 + 8192 + 2048)} * 4096);
}

TEST(Offload, SavedTensorsLiveOnTheHost) {
  Job job = GptJob(4, 256);
  job.offload.saved_tensors = true;
  Check({"gpt2.onnx", job, 2694665728, 1699147264});
}

}  // namespace
}  // namespace memcrest
