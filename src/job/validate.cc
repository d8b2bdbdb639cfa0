#include "src/job/validate.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "src/base/dims.h"
#include "src/job/allocator_conf.h"
#include "src/job/names.h"
#include "src/job/nearest.h"

namespace memcrest {
namespace {

// A number with the range it must lie in.
struct Range {
  const char* field;
  double value, least, most;
};

constexpr double kAny = std::numeric_limits<double>::infinity();

std::vector<Range> Ranges(const Job& j) {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const Parallel& p = j.parallel;
  return {
      {"accumulate", number(j.accumulate), 1, 1e6},
      {"steps", number(j.steps), 1, 16},
      {"checkpoint.every", number(j.checkpoint.every), 1, kAny},
      {"lora.rank", j.lora ? number(j.lora->rank) : 1, 1, 1e6},
      {"lora.dropout", j.lora ? j.lora->dropout : 0, 0, 1},
      {"clip_grad.max_norm", j.clip_grad ? j.clip_grad->max_norm : 0, 0, kAny},
      {"ema.decay", j.ema ? j.ema->decay : 0, 0, 1},
      {"evaluate.batch", j.evaluate ? number(j.evaluate->batch) : 0, 0, kAny},
      {"parallel.data", number(p.data), 1, 1e6},
      {"parallel.tensor", number(p.tensor), 1, 1e6},
      {"parallel.pipeline", number(p.pipeline), 1, 1e6},
      {"parallel.context", number(p.context), 1, 1e6},
      {"parallel.expert", number(p.expert), 1, 1e6},
      {"parallel.replicate", number(p.replicate), 1, 1e6},
      {"parallel.zero", number(p.zero), 0, 3},
      {"parallel.bucket_cap_mb", p.bucket_cap_mb, 0, 1e6},
      {"parallel.group_every", number(p.group_every), 1, 1e6},
      {"parallel.microbatches", number(p.microbatches), 1, 1e6},
      {"parallel.virtual", number(p.virtual_stages), 1, 1e3},
  };
}

void CheckRanges(const Job& job, std::vector<Problem>& problems) {
  for (const Range& r : Ranges(job)) {
    if (r.value >= r.least && r.value <= r.most) continue;
    const std::string most = r.most == kAny ? "" : absl::StrCat(" and at most ", r.most);
    problems.push_back(Problem{"E0106", absl::StrCat("\"", r.field, "\" is ", r.value), "",
                               absl::StrCat("it must be at least ", r.least, most), ""});
  }
}

void CheckSizes(const Job& job, std::vector<Problem>& problems) {
  const auto refuse = [&](const std::string& field, int64_t n) {
    problems.push_back(Problem{"E0106", absl::StrCat("\"", field, "\" is ", n), "",
                               absl::StrCat("a dimension must be at least 0 and at most ", kMaxElements), ""});
  };
  for (const auto& [name, size] : job.bind) {
    if (size < 0 || size > kMaxElements) refuse("bind." + name, size);
  }
  for (const auto& [name, sizes] : job.input) {
    for (const int64_t size : sizes) {
      if (size < 0 || size > kMaxElements) refuse("input." + name, size);
    }
  }
  for (const auto& [pattern, p] : job.dropout) {
    if (p >= 0 && p <= 1) continue;
    problems.push_back(
        Problem{"E0106", absl::StrCat("\"dropout.", pattern, "\" is ", p), "", "a probability is needed", ""});
  }
}

struct Word {
  const char* field;
  std::string value;
  std::vector<std::string> known;
};

std::vector<Word> Words(const Job& j) {
  std::vector<Word> words = {
      {"checkpoint.via", j.checkpoint.via, {"", "transformers"}},
      {"ema.impl", j.ema ? j.ema->impl : "foreach", {"foreach", "for-loop"}},
      {"quantize.type", j.quantize ? j.quantize->type : "nf4", {"nf4", "fp4", "int8"}},
      {"quantize.method", j.quantize ? j.quantize->method : "bitsandbytes", {"bitsandbytes"}},
      {"parallel.strategy", j.parallel.strategy, {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD"}},
      {"parallel.recompute", j.parallel.recompute, {"", "none", "selective", "full"}},
  };
  for (const std::string& what : j.restore) words.push_back({"restore", what, {"batchnorm", "dropout"}});
  return words;
}

void CheckWords(const Job& job, std::vector<Problem>& problems) {
  for (const Word& w : Words(job)) {
    bool known = false;
    for (const std::string& name : w.known) known = known || name == w.value;
    if (known) continue;
    problems.push_back(Problem{"E0105", absl::StrCat("\"", w.value, "\" is no value of \"", w.field, "\""), "", "",
                               DidYouMean(w.value, w.known)});
  }
}

// Pairs that no script can mean together.
struct Conflict {
  bool (*found)(const Job& job);
  const char* what;
  const char* why;
  const char* fix;
};

constexpr Conflict kConflicts[] = {
    {[](const Job& j) { return !j.freeze.empty() && !j.train.empty(); }, "both \"freeze\" and \"train\" are given",
     "train freezes everything that it does not name", "give one of them"},
    {[](const Job& j) { return j.checkpoint.every > 1 && !j.checkpoint.modules.empty() && j.checkpoint.all_blocks; },
     "\"checkpoint\" names modules and all blocks", "", "give one of them"},
    {[](const Job& j) { return j.optimizer_in_backward && j.accumulate > 1; },
     "\"optimizer_in_backward\" with \"accumulate\" above 1", "each parameter is stepped at its first gradient",
     "set accumulate to 1"},
    {[](const Job& j) { return j.optimizer_in_backward && j.clip_grad.has_value(); },
     "\"optimizer_in_backward\" with \"clip_grad\"", "the norm of all gradients is never known", "leave one out"},
    {[](const Job& j) { return !j.device_file.empty() && j.device != Job().device; },
     "both \"device\" and \"device_file\" are given", "", "give one of them"},
    {[](const Job& j) { return j.checkpoint.reentrant && !j.checkpoint.policy.empty(); },
     "a checkpoint policy with \"reentrant\"", "torch.utils.checkpoint takes context_fn only without use_reentrant",
     "leave one out"},
};

void CheckConflicts(const Job& job, std::vector<Problem>& problems) {
  for (const Conflict& c : kConflicts) {
    if (c.found(job)) problems.push_back(Problem{"E0107", c.what, "", c.why, c.fix});
  }
}

void CheckSupport(const Job& job, std::vector<Problem>& problems) {
  for (const NotYet& n : NotYetSupported()) {
    if (!n.used(job)) continue;
    problems.push_back(Problem{"E0109", absl::StrCat("\"", n.field, "\" is understood but not simulated yet"), "",
                               "a result without it would be wrong", n.instead});
  }
}

}  // namespace

void Settle(Job& job) {
  Parallel& p = job.parallel;
  if (p.zero_optimization.stage) p.zero = *p.zero_optimization.stage;
  if (p.engine == Engine::kSingle && p.zero > 0) {  // a stage alone: PyTorch's own engine of that stage, where it has one
    p.engine = p.zero == 1 ? Engine::kZero1 : p.zero == 2 ? Engine::kDeepSpeed : Engine::kFsdp2;
  }
  if (p.recompute == "none") p.recompute.clear();
  if (job.quantize && job.quantize->type == "int8") job.quantize->double_quant = false;
}

void Validate(const Job& job, std::vector<Problem>& problems) {
  CheckRanges(job, problems);
  CheckSizes(job, problems);
  CheckWords(job, problems);
  CheckConflicts(job, problems);
  ParseAllocatorConf(job.allocator_conf, problems);
  CheckSupport(job, problems);
}

}  // namespace memcrest
