// Losses with options: what they keep for backward and what they pass through, derived from the scripts they mirror.
#include "src/step/loss.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

constexpr Bytes kLogits = Bytes{4} * 64 * 1024;  // 64 tokens, 1024 classes, float32: 256 KiB

struct Bench {
  Eager rt{KernelDevice(), Ops()};
  Leaf leaf;
  Value out, labels;
  Bench() {
    leaf.value = rt.MakeLeaf(&leaf, Dims{64, 1024}, DType::kFloat32, Category::kParameters, true);
    out = leaf.value;
    labels = rt.MakeResident(Dims{64}, DType::kInt64, Category::kInputs);
    rt.recorder().phase = Phase::kForward;
  }
  // What the loss keeps alive beside its operands.
  Bytes Kept(const Job& job, Values outs, const LossContext& context = {}) {
    const Bytes before = rt.recorder().live();
    const Value loss = ComputeLoss(rt, job, std::move(outs), labels, context);
    return rt.recorder().live() - before;
  }
};

Job With(Loss loss) {
  Job job;
  job.loss = loss;
  return job;
}

TEST(LossOptions, ZLossKeepsOneLogProbabilityMatrix) {
  Bench b;
  // log_softmax's result; the logits themselves are there already. Beyond it only vectors and scalars of 64 tokens.
  const Bytes kept = b.Kept(With(Loss::kZLoss), {b.out});
  EXPECT_GE(kept, kLogits);
  EXPECT_LT(kept, kLogits + 16 * 512);
}

TEST(LossOptions, DistillationKeepsTwoLogSoftmaxesAndTheTeachersProbabilities) {
  Bench b;
  LossContext context;
  context.teacher = [&] { return b.rt.Empty(Dims{64, 1024}, DType::kFloat32); };
  // Saved: log_softmax(out / T), softmax(teacher / T), log_softmax(out). Neither xlogy nor the divided logits stay.
  const Bytes kept = b.Kept(With(Loss::kDistillation), {b.out}, context);
  EXPECT_GE(kept, 3 * kLogits);
  EXPECT_LT(kept, 3 * kLogits + 16 * 512);
}

TEST(LossOptions, CheckpointedChunksKeepNoLogits) {
  Bench b;
  LossContext context;
  Leaf head;
  head.value = b.rt.MakeLeaf(&head, Dims{1024, 32}, DType::kFloat32, Category::kParameters, true);
  context.head_weight = head.value;
  Leaf states;
  states.value = b.rt.MakeLeaf(&states, Dims{2, 32, 32}, DType::kFloat32, Category::kParameters, true);
  b.labels = b.rt.MakeResident(Dims{2, 32}, DType::kInt64, Category::kInputs);
  Job job = With(Loss::kChunkedCrossEntropy);
  job.loss_options = {{"chunks", Setting(int64_t{4})}, {"checkpoint", Setting(true)}};
  EXPECT_LT(b.Kept(job, {states.value}, context), 16 * 512);
  job.loss_options["checkpoint"] = Setting(false);
  EXPECT_GE(b.Kept(job, {states.value}, context), kLogits);  // four log_softmax results of 16 tokens
}

}  // namespace
}  // namespace memcrest
