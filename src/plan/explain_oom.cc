#include "src/plan/explain_oom.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "src/job/device.h"
#include "src/memory/account.h"
#include "src/plan/simulate.h"

namespace memcrest {
namespace {

// A change that may help, with what it costs; `apply` says whether it changes anything.
struct Candidate {
  const char* flags;
  const char* cost;
  std::function<bool(Job&)> apply;
};

bool Set(bool applies, const std::function<void()>& change) {
  if (applies) change();
  return applies;
}

bool HalveBatch(Job& job) {
  const int64_t batch = BoundSize(job, "batch", 0);
  if (batch < 2 || batch % 2 != 0) return false;
  job.bind["batch"] = batch / 2;
  job.accumulate *= 2;
  return true;
}

bool Checkpoint(Job& job) {
  return Set(!job.checkpoint.on(), [&] { job.checkpoint.all_blocks = true; });
}

// Cheapest first, in time and in what it changes of the training.
std::vector<Candidate> Candidates() {
  return {
      {"--allocator expandable", "no time: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
       [](Job& j) { return Set(j.allocator == Allocator::kDefault, [&] { j.allocator = Allocator::kExpandable; }); }},
      {"--outputs drop-before-step", "no time: del outputs and loss before optimizer.step()",
       [](Job& j) { return Set(j.outputs == Outputs::kKeep, [&] { j.outputs = Outputs::kDropBeforeStep; }); }},
      {"--optimizer-impl fused", "no time: fused=True",
       [](Job& j) { return Set(j.optimizer_impl == OptimizerImpl::kForeach, [&] { j.optimizer_impl = OptimizerImpl::kFused; }); }},
      {"--optimizer-impl for-loop", "a slower optimizer step: foreach=False",
       [](Job& j) { return Set(j.optimizer_impl == OptimizerImpl::kForeach, [&] { j.optimizer_impl = OptimizerImpl::kForLoop; }); }},
      {"--precision amp-bf16", "faster, other rounding: torch.autocast",
       [](Job& j) { return Set(j.precision == Precision::kFp32, [&] { j.precision = Precision::kAmpBf16; }); }},
      {"half the batch, twice --accumulate", "some time: the same gradients in smaller pieces", HalveBatch},
      {"--checkpoint all-blocks", "about a third more compute", Checkpoint},
      {"half the batch, twice --accumulate, --checkpoint all-blocks", "about a third more compute",
       [](Job& j) { return HalveBatch(j) && Checkpoint(j); }},
      {"--precision bf16", "faster, but weights and optimizer state are rounded too",
       [](Job& j) { return Set(j.precision != Precision::kBf16 && j.precision != Precision::kFp16, [&] { j.precision = Precision::kBf16; }); }},
      {"--precision bf16, --checkpoint all-blocks", "as both above",
       [](Job& j) { return Set(j.precision != Precision::kBf16, [&] { j.precision = Precision::kBf16; }) && Checkpoint(j); }},
  };
}

absl::StatusOr<Report> SimulateOn(PreparedModel& model, const Job& job, bool step) {
  MEMCREST_ASSIGN_OR_RETURN(const std::shared_ptr<const NetworkFile> file, model.For(job));
  return Simulate(*file, job, {nullptr, step});
}

bool Fits(const DeviceReport& d, Bytes available) {
  return d.process <= available || (d.fits && available >= d.capacity);
}

// Those that save at least a hundredth of `before`.
std::vector<OomRemedy> Remedies(PreparedModel& model, const Job& job, Bytes before, Bytes available) {
  std::vector<OomRemedy> remedies;
  for (const Candidate& candidate : Candidates()) {
    Job changed = job;
    if (!candidate.apply(changed)) continue;
    const absl::StatusOr<Report> report = SimulateOn(model, changed, false);
    if (!report.ok()) continue;  // not for this network or optimizer
    const DeviceReport& d = report->devices[0];
    if (d.process > before - before / 100 && !Fits(d, available)) continue;
    remedies.push_back({candidate.flags, candidate.cost, d.process, Fits(d, available)});
    if (remedies.back().fits) break;
  }
  return remedies;
}

// Live blocks before each event, and of them what the first step does not have.
struct Curve {
  std::vector<Bytes> allocated, later;
};

// Optimizer state, and what the step before left to this one (its outputs).
bool NotInFirstStep(const StepRecord& step, const StorageLife& life) {
  return life.category == Category::kOptimizerState || (life.born < 0 && life.dies < step.events);
}

Curve CurveOf(const StepRecord& step) {
  Curve c;
  c.allocated.resize(static_cast<size_t>(step.events) + 1);
  c.later.resize(c.allocated.size());
  for (const StorageLife& life : step.lives) {
    if (life.seen == Seen::kDispatcherOnly) continue;
    const size_t born = static_cast<size_t>(life.born + 1), dies = static_cast<size_t>(life.dies);
    for (std::vector<Bytes>* list : {&c.allocated, &c.later}) {
      if (list == &c.later && !NotInFirstStep(step, life)) continue;
      if (born < list->size()) (*list)[born] += life.bytes + life.slack;
      if (dies + 1 < list->size()) (*list)[dies + 1] -= life.bytes + life.slack;
    }
  }
  for (size_t i = 1; i < c.allocated.size(); ++i) {
    c.allocated[i] += c.allocated[i - 1];
    c.later[i] += c.later[i - 1];
  }
  return c;
}

const OpSpan* SpanAt(const StepRecord& step, int32_t event) {
  const auto after = std::upper_bound(step.spans.begin(), step.spans.end(), event,
                                      [](int32_t e, const OpSpan& span) { return e < span.begin; });
  return after == step.spans.begin() ? nullptr : &*std::prev(after);
}

// The allocation of the message's size, in its phase if it tells one, with the nearest sum of live blocks before it.
std::optional<OomPlace> FindPlace(const OomMessage& m, const StepRecord& step) {
  const Curve curve = CurveOf(step);
  std::optional<OomPlace> best;
  Bytes nearest = std::numeric_limits<Bytes>::max();
  for (const StorageLife& life : step.lives) {
    if (life.born < 0 || life.seen == Seen::kDispatcherOnly || !m.requested.Shows(SegmentSize(life.bytes))) continue;
    const OpSpan* span = SpanAt(step, life.born);
    if (span == nullptr || (!m.phase.empty() && m.phase != NameOf(span->phase))) continue;
    const size_t at = static_cast<size_t>(life.born);
    for (const bool first : {false, true}) {
      const Bytes live = curve.allocated[at] - (first ? curve.later[at] : 0);
      const Bytes distance = m.allocated.has_value() ? std::abs(live - m.allocated->bytes) : 0;
      if (m.allocated.has_value() && distance > m.allocated->bytes / 8) continue;  // another moment
      if (distance >= nearest || (first && curve.later[at] == 0)) continue;
      nearest = distance;
      best = OomPlace{NameOf(span->phase), step.strings[static_cast<size_t>(span->op)],
                      step.strings[static_cast<size_t>(span->module)], life.bytes, live, first};
    }
  }
  return best;
}

OomCause CauseOf(const OomMessage& m, const DeviceReport& d, Bytes capacity) {
  const Bytes others = m.OtherProcesses(), allowed = m.allowed.has_value() ? m.allowed->bytes : capacity;
  if (m.allocated.has_value() && m.allocated->bytes > d.peak.live.allocated + d.peak.live.allocated / 20) return OomCause::kNotInJob;
  if (!Fits(d, capacity)) return OomCause::kJob;
  if (others > 0 && d.process + others > capacity) return OomCause::kOtherProcesses;
  if (d.process > allowed) return OomCause::kLimit;
  if (m.unallocated.has_value() && m.unallocated->bytes >= m.requested.bytes) return OomCause::kFragmentation;
  return OomCause::kUnclear;
}

}  // namespace

std::optional<std::string> DeviceOfMessage(const OomMessage& message, const std::string& preferred) {
  if (!message.capacity.has_value()) return std::nullopt;
  std::optional<std::string> best;
  Bytes nearest = message.capacity->bytes / 50;
  for (const auto& [name, text] : EmbeddedDevices()) {
    const absl::StatusOr<Device> device = ParseDevice(name, text);
    if (!device.ok()) continue;
    const Bytes distance = std::abs(device->usable_bytes - message.capacity->bytes);
    if (distance < nearest || (distance == nearest && name == preferred)) {
      nearest = distance;
      best = name;
    }
  }
  return best;
}

absl::StatusOr<OomExplanation> ExplainOom(const OomMessage& m, const std::string& path, const Job& job) {
  OomExplanation e;
  PreparedModel model(path);
  MEMCREST_ASSIGN_OR_RETURN(e.report, SimulateOn(model, job, true));
  const DeviceReport& d = e.report.devices[0];
  const Bytes capacity = m.capacity.has_value() ? m.capacity->bytes : d.capacity;
  e.available = capacity - m.OtherProcesses();
  if (m.allowed.has_value()) e.available = std::min(e.available, m.allowed->bytes);
  e.cause = CauseOf(m, d, capacity);
  e.place = FindPlace(m, d.step);
  e.remedies = Remedies(model, job, d.process, e.available);
  return e;
}

}  // namespace memcrest
