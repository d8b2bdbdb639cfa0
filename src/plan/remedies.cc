#include "src/plan/remedies.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/job/validate.h"
#include "src/step/regions.h"

namespace memcrest {
namespace {

struct Change {
  std::string flag, what;
  Job job;
};

int64_t Batch(const Job& job) { return BoundSize(job, "batch", 1); }

Change SmallerBatch(const Job& job) {
  Change c{"", "half the batch", job};
  c.job.bind["batch"] = Batch(job) / 2;
  c.flag = absl::StrCat("--bind batch=", Batch(job) / 2);
  return c;
}

std::vector<Change> Changes(const Job& job) {
  std::vector<Change> changes;
  const auto add = [&](std::string flag, std::string what) -> Job& {
    changes.push_back({std::move(flag), std::move(what), job});
    return changes.back().job;
  };
  if (job.optimizer_impl != OptimizerImpl::kFused) {
    add("--optimizer-impl fused", "the optimizer steps without copies of the parameters").optimizer_impl = OptimizerImpl::kFused;
  }
  if (!job.optimizer_in_backward && job.accumulate == 1) {
    add("--optimizer-in-backward true", "each gradient is used and freed in backward").optimizer_in_backward = true;
  }
  if (job.outputs == Outputs::kKeep) {
    add("--outputs drop", "the output of the step before is not kept").outputs = Outputs::kDrop;
  }
  if (job.loss == Loss::kCausalLm || job.loss == Loss::kCrossEntropy) {  // networks without a head of their own refuse it
    Job& chunked = add("--loss chunked-cross-entropy --loss-options chunks=8,checkpoint=true", "logits are made and used in parts");
    chunked.loss = Loss::kChunkedCrossEntropy;
    chunked.loss_options = {{"chunks", int64_t{8}}, {"checkpoint", true}};
  }
  if (Batch(job) >= 2) {
    changes.push_back(SmallerBatch(job));
    Change accumulated = SmallerBatch(job);
    accumulated.job.accumulate = 2 * job.accumulate;
    accumulated.flag = absl::StrCat(accumulated.flag, " --accumulate ", accumulated.job.accumulate);
    accumulated.what = "the same batch in two parts";
    changes.push_back(std::move(accumulated));
  }
  return changes;
}

// A change that the simulator cannot run is not offered.
bool Runs(const Job& job) {
  const auto refused = NotYetSupported();
  return std::none_of(refused.begin(), refused.end(), [&](const NotYet& n) { return n.used(job); });
}

}  // namespace

absl::StatusOr<std::vector<Relief>> FindRemedies(const NetworkFile& file, const Job& job, const Plan& plan) {
  std::vector<Relief> remedies;
  Checkpoint checkpoint;
  checkpoint.modules = plan.modules;
  MEMCREST_ASSIGN_OR_RETURN(const std::vector<bool> regions, CheckpointedCalls(file.network, checkpoint));
  for (const Change& change : Changes(job)) {
    if (!Runs(change.job)) continue;
    absl::StatusOr<std::unique_ptr<BoundJob>> bound = BindJob(file, change.job);
    if (!bound.ok()) continue;  // a batch that the network does not take
    const PlanResult e = PlanEvaluator(file, **bound, change.job).Full(regions, plan.policy);
    if (e.reserved < plan.result.reserved) remedies.push_back({change.flag, change.what, e.reserved, e.seconds.step});
  }
  std::stable_sort(remedies.begin(), remedies.end(), [](const Relief& a, const Relief& b) { return a.reserved < b.reserved; });
  return remedies;
}

}  // namespace memcrest
