#include "src/report/build_report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/eager/recorder.h"
#include "src/report/record_step.h"

namespace memcrest {
namespace {

constexpr size_t kTopTensors = 300, kTopModules = 4000;  // renderers cut further
constexpr size_t kSamples = 400;

TensorRow RowOf(const ReportSource& s, const LiveStorage& live) {
  const Event& born = s.trace.events[live.born];
  TensorRow row;
  row.name = StorageName(s, live.storage, live.category, born);
  row.module = StorageModule(s, live.category, born, row.name);
  row.op = OpName(born);
  row.bytes = RoundUp(live.bytes, kGranule);
  row.category = live.category;
  row.born_phase = NameOf(born.phase);
  return row;
}

void FillTop(const ReportSource& s, DeviceReport& d) {
  std::map<std::string, ModuleRow> modules;
  for (const LiveStorage& live : s.account.live) {
    TensorRow row = RowOf(s, live);
    ModuleRow& m = modules[row.module];
    m.module = row.module;
    m.bytes += row.bytes;
    ++m.tensors;
    if (d.top_tensors.size() < kTopTensors) d.top_tensors.push_back(std::move(row));
  }
  for (auto& [name, row] : modules) d.top_modules.push_back(std::move(row));
  std::stable_sort(d.top_modules.begin(), d.top_modules.end(), [](const ModuleRow& a, const ModuleRow& b) { return a.bytes > b.bytes; });
  if (d.top_modules.size() > kTopModules) d.top_modules.resize(kTopModules);
}

// The curve of the reported step, thinned to its local maxima in equal stretches.
void FillTimeline(const ReportSource& s, DeviceReport& d) {
  CategoryBytes live{};
  const size_t first = FirstEvent(s);
  const size_t stretch = std::max<size_t>(1, (s.trace.events.size() - first) / kSamples);
  std::vector<Category> category;
  TimelineSample best;
  Bytes best_total = -1, total = 0;
  for (size_t i = 0; i < s.trace.events.size(); ++i) {
    const Event& e = s.trace.events[i];
    if (e.storage != kNone && e.seen != Seen::kAllocatorOnly && e.place == Place::kDevice) {
      if (category.size() <= static_cast<size_t>(e.storage)) category.resize(static_cast<size_t>(e.storage) + 1);
      Category& c = category[static_cast<size_t>(e.storage)];
      const Bytes bytes = RoundUp(e.bytes, kGranule);
      if (e.kind == Event::Kind::kRetag || e.kind == Event::Kind::kFree) live[static_cast<size_t>(c)] -= bytes;
      if (e.kind == Event::Kind::kFree) total -= bytes;
      if (e.kind == Event::Kind::kAlloc) total += bytes;
      if (e.kind != Event::Kind::kFree) {
        c = e.category;
        live[static_cast<size_t>(c)] += bytes;
      }
    }
    if (i < first) continue;
    if (total > best_total) {
      best_total = total;
      best = {static_cast<int64_t>(i - first), NameOf(e.phase), live};
    }
    if ((i - first + 1) % stretch == 0 || i + 1 == s.trace.events.size()) {
      d.timeline.push_back(best);
      best_total = -1;
    }
  }
}

void FillProcess(const ReportSource& s, DeviceReport& d) {
  d.process_parts.assign(s.process_parts.begin(), s.process_parts.end());
  d.process = d.reserved;
  for (const MemoryPart& part : d.process_parts) d.process += part.likely;
  d.host_parts = HostParts(s.trace, d.host);
}

// Where the account says that it breaks, with the settings of the allocator that would help.
void FillBreak(const ReportSource& s, const AllocatorOptions& allocator, DeviceReport& d) {
  d.fits = !s.account.breaks.has_value();
  if (d.fits) return;
  BreakReport b = BreakOf(s, *s.account.breaks);
  for (const AllocatorRemedy& r : TryRemedies(s.trace, allocator)) {
    if (r.runs && r.setting != "ideal") b.helps.push_back(r.setting);
  }
  d.breaks = std::move(b);
}

}  // namespace

BreakReport BreakOf(const ReportSource& s, const OutOfMemory& oom) {
  const Event& e = s.trace.events[oom.event];
  return {NameOf(e.phase), OpName(e), ModuleOf(s, e), StorageName(s, e.storage, e.category, e), oom.requested, oom.allocated,
          oom.reserved, oom.largest_free, {}};
}

DeviceReport BuildDeviceReport(const ReportSource& s, const AllocatorOptions& allocator, bool step) {
  DeviceReport d;
  d.ranks = {0};
  d.device = s.device.name;
  d.capacity = s.device.usable_bytes;
  const Event& peak = s.trace.events[s.account.peak_event];
  d.peak.live = {s.account.peak.allocated, s.account.peak.tensor};
  d.peak.phase = NameOf(peak.phase);
  d.peak.op = OpName(peak);
  d.peak.module = ModuleOf(s, peak);
  d.peak.by_category = s.account.by_category;
  d.peak.event = static_cast<int64_t>(s.account.peak_event) - static_cast<int64_t>(FirstEvent(s));
  d.reserved = s.account.reserved;
  d.requested = s.account.requested;
  d.ideal_reserved = s.account.ideal_reserved;
  d.host = s.account.host;
  for (const Phase p : {Phase::kForward, Phase::kBackward, Phase::kOptimizer, Phase::kEvaluation}) {
    const Figures& f = s.account.phases[static_cast<size_t>(p)];
    if (p != Phase::kEvaluation || f.tensor > 0) d.phases.push_back({NameOf(p), {f.allocated, f.tensor}});
  }
  for (const AccountedMark& m : s.account.marks) d.marks.push_back({m.name, {m.live.allocated, m.live.tensor}});
  FillProcess(s, d);
  FillBreak(s, allocator, d);
  FillTop(s, d);
  FillTimeline(s, d);
  if (step) d.step = RecordStep(s);
  return d;
}

std::vector<UnknownOp> UnknownOps(const ReportSource& s) {
  std::map<std::string, UnknownOp> ops;
  std::vector<std::string> name_of(s.network.nodes.size());
  for (size_t n = 0; n < s.network.nodes.size(); ++n) {
    const Node& node = s.network.nodes[n];
    if (node.origin.evidence != Evidence::kFallback) continue;
    name_of[n] = std::string(node.attrs.Text(Key::kReplaces, node.op->name));
    UnknownOp& u = ops[name_of[n]];
    u.op = name_of[n];
    ++u.count;
  }
  for (const LiveStorage& live : s.account.live) {
    const NodeId n = s.trace.events[live.born].node;
    if (n != kNone && !name_of[static_cast<size_t>(n)].empty()) ops[name_of[static_cast<size_t>(n)]].bytes += RoundUp(live.bytes, kGranule);
  }
  std::vector<UnknownOp> list;
  for (auto& [name, op] : ops) list.push_back(std::move(op));
  std::stable_sort(list.begin(), list.end(), [](const UnknownOp& a, const UnknownOp& b) { return a.bytes > b.bytes; });
  return list;
}

}  // namespace memcrest
