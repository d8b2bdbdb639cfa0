#include "src/plan/evaluate.h"

#include <algorithm>

#include "src/memory/account.h"
#include "src/report/report_source.h"
#include "src/step/session.h"

namespace memcrest {
namespace {

constexpr int16_t kSteadyAfter = 2;  // optimizer state and values of the step before exist from the second step on

// A session with its clock.
class Run {
 public:
  Run(const NetworkFile& file, const BoundJob& bound, const Job& job, const std::vector<bool>& regions, bool events)
      : session_(SessionOf(bound, job, file.device, regions)), clock_(file.device, recorder()) {
    session_->rt().observer = &clock_;
    recorder().keep_events = events;
    session_->Run();
  }
  Recorder& recorder() { return session_->rt().recorder(); }
  const Clock& clock() const { return clock_; }

 private:
  std::unique_ptr<Session> session_;
  Clock clock_;
};

// Sums the trace of the last step into segments.
class Segments {
 public:
  Segments(size_t nodes, StepProfile& profile) : nodes_(nodes), profile_(profile) {
    profile_.peak.assign(2 * nodes + 1, 0);
    profile_.end.assign(2 * nodes + 1, 0);
  }

  void Walk(const Trace& trace) {
    for (const Event& e : trace.events) {
      Count(e);
      if (e.step == trace.steps - 1 && e.phase != Phase::kInit && e.phase != Phase::kEvaluation) Place(e);
    }
  }

 private:
  void Count(const Event& e) {
    if (e.storage == kNone || e.seen == Seen::kDispatcherOnly || e.place != memcrest::Place::kDevice) return;
    if (e.kind == Event::Kind::kAlloc) live_ += RoundUp(e.bytes, kGranule);
    if (e.kind == Event::Kind::kFree) live_ -= RoundUp(e.bytes, kGranule);
  }

  void Place(const Event& e) {
    if (e.pass == Pass::kRecompute) {
      waiting_ = std::max(waiting_, live_);
      return;
    }
    const size_t node = e.node == kNone ? nodes_ - 1 : static_cast<size_t>(e.node);
    const size_t segment = e.phase == Phase::kOptimizer ? 2 * nodes_ : e.phase == Phase::kBackward ? nodes_ + node : node;
    profile_.peak[segment] = std::max({profile_.peak[segment], live_, waiting_});
    profile_.end[segment] = live_;
    waiting_ = 0;
  }

  size_t nodes_;
  StepProfile& profile_;
  Bytes live_ = 0, waiting_ = 0;
};

// Forward nodes that neither make nor drop anything end as the one before them.
void FillGaps(size_t nodes, StepProfile& p) {
  for (size_t n = 1; n < nodes; ++n) {
    if (p.peak[n] == 0) p.end[n] = p.end[n - 1];
  }
}

}  // namespace

Job PlanEvaluator::With(const SavePolicy& policy) const {
  Job job = job_;
  job.checkpoint = Checkpoint{};
  job.checkpoint.policy = policy;
  return job;
}

PlanResult PlanEvaluator::Quick(const std::vector<bool>& regions, const SavePolicy& policy) const {
  Job job = With(policy);
  job.steps = std::min<int64_t>(job.steps, kSteadyAfter);
  Run run(file_, bound_, job, regions, false);
  PlanResult e;
  for (const Phase p : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) e.live = std::max(e.live, run.recorder().peak(p));
  e.seconds = run.clock().seconds();
  return e;
}

PlanResult PlanEvaluator::Full(const std::vector<bool>& regions, const SavePolicy& policy) const {
  const Job job = With(policy);
  Run run(file_, bound_, job, regions, true);
  const Trace& trace = run.recorder().trace;
  const Account account = AccountFor(trace, AllocatorOptionsOf(job, file_.device));
  PlanResult e;
  e.live = account.peak.tensor;
  e.allocated = account.peak.allocated;
  e.reserved = account.reserved;
  e.seconds = run.clock().seconds();
  const Event& peak = trace.events[account.peak_event];
  e.phase = NameOf(peak.phase);
  e.op = OpName(peak);
  if (peak.call != kNone && peak.node != kNone) e.module = ModulePath(file_.network, peak.call);
  return e;
}

StepProfile PlanEvaluator::Profile(const std::vector<bool>& regions) const {
  Job job = With({});
  job.steps = std::min<int64_t>(job.steps, kSteadyAfter);
  Run run(file_, bound_, job, regions, true);
  StepProfile profile;
  const size_t nodes = file_.network.nodes.size();
  Segments(nodes, profile).Walk(run.recorder().trace);
  FillGaps(nodes, profile);
  profile.recompute_seconds = run.clock().recompute_by_node();
  profile.recompute_seconds.resize(nodes);
  profile.seconds = run.clock().seconds();
  return profile;
}

}  // namespace memcrest
