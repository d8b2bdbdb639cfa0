#include "src/plan/outcome.h"

#include <utility>

#include "src/ops/reduce_scratch.h"
#include "src/report/report_source.h"
#include "src/step/regions.h"
#include "src/step/session.h"

namespace memcrest {
namespace {

void FillPeak(const ReportSource& s, Outcome& o) {
  const Event& peak = s.trace.events[s.account.peak_event];
  o.tensor = s.account.peak.tensor;
  o.allocated = s.account.peak.allocated;
  o.reserved = s.account.reserved;
  o.ideal_reserved = s.account.ideal_reserved;
  o.phase = NameOf(peak.phase);
  o.op = peak.op;
  o.module = ModuleOf(s, peak);
}

void FillBudget(const ReportSource& s, double headroom, Outcome& o) {
  const Bytes context = s.device.context_bytes.likely;
  o.capacity = s.device.usable_bytes;
  o.process = o.reserved + context;
  o.budget = o.capacity - static_cast<Bytes>(static_cast<double>(o.capacity) * headroom) - context;
}

void FillBreak(const ReportSource& s, AllocatorOptions allocator, Outcome& o) {
  if (o.reserved <= o.budget) return;
  allocator.limit = o.budget;
  const std::optional<OutOfMemory> oom = FindOutOfMemory(s.trace, allocator);
  o.fits = !oom.has_value();
  if (o.fits) {
    o.tight = true;
    o.process -= o.reserved - o.budget;
    return;
  }
  const Event& e = s.trace.events[oom->event];
  o.breaks = BreakReport{NameOf(e.phase), e.op, ModuleOf(s, e), oom->requested, oom->allocated};
}

}  // namespace

absl::StatusOr<Outcome> OutcomeOf(const NetworkFile& file, const BoundJob& bound, const Job& job, double headroom) {
  MEMCREST_ASSIGN_OR_RETURN(std::vector<bool> regions, CheckpointedCalls(file.network, job.checkpoint));
  Session session(bound.program, job, KernelDeviceOf(file.device, job), std::move(regions));
  session.SetPrograms(bound.Evaluation(), bound.Teacher());
  session.rt().reduction_scratch = &SumScratch;
  session.Run();
  const Trace& trace = session.rt().recorder().trace;
  const AllocatorOptions allocator = AllocatorOptionsOf(job, file.device);
  const Account account = AccountFor(trace, allocator);
  const ReportSource source{file.network, trace, account, file.device, session.names()};
  Outcome outcome;
  FillPeak(source, outcome);
  FillBudget(source, headroom, outcome);
  FillBreak(source, allocator, outcome);
  return outcome;
}

}  // namespace memcrest
