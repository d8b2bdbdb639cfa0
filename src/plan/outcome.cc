#include "src/plan/outcome.h"

#include <utility>
#include <vector>

#include "src/report/build_report.h"
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
  o.op = OpName(peak);
  o.module = ModuleOf(s, peak);
}

void FillBudget(const ReportSource& s, double headroom, Outcome& o) {
  o.capacity = s.device.usable_bytes;
  const Bytes left = MemoryLeft(s.device, s.process_parts);
  o.process = o.reserved + o.capacity - left;
  o.budget = left - static_cast<Bytes>(static_cast<double>(o.capacity) * headroom);
}

void FillBreak(const ReportSource& s, AllocatorOptions allocator, Outcome& o) {
  if (o.reserved <= o.budget) return;
  allocator.memory = o.budget;
  const std::optional<OutOfMemory> oom = FindOutOfMemory(s.trace, allocator);
  o.fits = !oom.has_value();
  if (o.fits) {
    o.tight = true;
    o.process -= o.reserved - o.budget;
    return;
  }
  o.breaks = BreakOf(s, *oom);
}

Outcome OutcomeOfRank(const NetworkFile& file, const BoundJob& bound, const Job& job, double headroom,
                      const std::vector<bool>& regions, int64_t rank) {
  const std::unique_ptr<Session> session = SessionOf(bound, job, file.device, regions, rank);
  session->Run();
  const Trace& trace = session->rt().recorder().trace;
  const AllocatorOptions allocator = AllocatorOptionsOf(job, file.device);
  const Account account = AccountFor(trace, allocator);
  const std::vector<MemoryPart> parts = ProcessParts(file.device, job, trace);
  const ReportSource source{file.network, trace, account, file.device, session->names(), nullptr, parts};
  Outcome outcome;
  FillPeak(source, outcome);
  FillBudget(source, headroom, outcome);
  FillBreak(source, allocator, outcome);
  return outcome;
}

bool IsWorse(const Outcome& a, const Outcome& b) { return a.fits != b.fits ? !a.fits : a.process > b.process; }

}  // namespace

absl::StatusOr<Outcome> OutcomeOf(const NetworkFile& file, const BoundJob& bound, const Job& job, double headroom) {
  MEMCREST_ASSIGN_OR_RETURN(const std::vector<bool> regions, CheckpointedCalls(file.network, job.checkpoint));
  MEMCREST_RETURN_IF_ERROR(CheckEngine(file.network, job));
  std::optional<Outcome> worst;
  for (const RankClass& ranks : RankClasses(file.network, job)) {
    Outcome outcome = OutcomeOfRank(file, bound, job, headroom, regions, ranks.ranks[0]);
    if (!worst.has_value() || IsWorse(outcome, *worst)) worst = std::move(outcome);
  }
  return *std::move(worst);
}

}  // namespace memcrest
