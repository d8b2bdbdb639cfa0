// --format text: the first line answers the question, the rest says why. 80 columns, rounded figures.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/memory/account.h"
#include "src/report/breakdown.h"
#include "src/report/renderer.h"
#include "src/report/sparkline.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

constexpr size_t kShownRows = 8;
constexpr int kBarWidth = 24;

std::string Percent(Bytes part, Bytes whole) {
  return whole <= 0 ? "" : absl::StrFormat("%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string Ranks(const DeviceReport& d) {
  if (d.ranks.size() <= 1) return absl::StrCat("rank ", d.ranks.empty() ? 0 : d.ranks[0]);
  const bool run = d.ranks.back() - d.ranks.front() + 1 == static_cast<int64_t>(d.ranks.size());
  if (run) return absl::StrCat("ranks ", d.ranks.front(), "-", d.ranks.back());
  return absl::StrCat("ranks ", absl::StrJoin(d.ranks, ","));
}

std::string Place(const std::string& phase, const std::string& module) {
  return module.empty() ? phase : absl::StrCat(phase, " of ", module);
}

std::string Painted(const std::string& text, const char* color, const RenderOptions& options) {
  return options.color ? absl::StrCat("\033[", color, "m", text, "\033[0m") : text;
}

// "peak 71.3 GiB of 80.0 GiB on rank 0, backward of model.layers.31.mlp: fits, 8.7 GiB free"
std::string Answer(const DeviceReport& d, const RenderOptions& options) {
  const Bytes free = d.capacity - d.process;
  const std::string verdict = d.fits ? absl::StrCat("fits, ", HumanBytes(std::max<Bytes>(free, 0)), " free")
                              : free < 0 ? absl::StrCat("does not fit, ", HumanBytes(-free), " too much")
                                         : std::string("does not fit");
  return absl::StrCat("peak ", HumanBytes(d.process), " of ", HumanBytes(d.capacity), " on ", Ranks(d), ", ",
                      Place(d.peak.phase, d.peak.module), ": ", Painted(verdict, d.fits ? "1;32" : "1;31", options),
                      "\n");
}

std::string BreakLine(const DeviceReport& d) {
  if (!d.breaks) return "";
  const BreakReport& b = *d.breaks;
  std::string text =
      Wrapped(absl::StrCat("it breaks in ", Place(b.phase, b.module), " (", b.op, "): ", HumanBytes(b.requested), " asked for, ",
                           HumanBytes(b.allocated), " in use"), 2);
  if (!b.helps.empty()) {
    absl::StrAppend(&text, "\n", Wrapped(absl::StrCat(HumanBytes(b.reserved - b.allocated), " were cached, the largest piece ",
                                                     HumanBytes(b.largest_free), "; it runs with ", absl::StrJoin(b.helps, " or ")), 2));
  }
  return absl::StrCat(text, "\n");
}

std::string Head(const Report& report) {
  std::vector<std::string> bind, settings;
  for (const auto& [name, size] : report.bind) bind.push_back(absl::StrCat(name, "=", size));
  for (const auto& [name, value] : report.settings) settings.push_back(absl::StrCat(name, " ", value));
  const std::string trainable = report.trainable_count == report.parameter_count
                                    ? "all trainable" : absl::StrCat(Grouped(report.trainable_count), " trainable");
  std::string text = absl::StrCat("\n", report.model_file, bind.empty() ? "" : "  ", absl::StrJoin(bind, " "), "\n");
  absl::StrAppend(&text, Grouped(report.parameter_count), " parameters (", HumanBytes(report.parameter_bytes), "), ",
                  trainable, "\n");
  if (!settings.empty()) absl::StrAppend(&text, Wrapped(absl::StrJoin(settings, ", "), 2), "\n");
  return text;
}

std::string ThreeNumbers(const DeviceReport& d) {
  Bytes low = d.reserved, high = d.reserved;
  for (const MemoryPart& part : d.process_parts) {
    low += part.low;
    high += part.high;
  }
  TextTable table("lrl");
  table.Row(
      {"allocated", HumanBytes(d.peak.live.allocated), "live tensors in allocator blocks (max_memory_allocated)"});
  table.Row({"reserved", HumanBytes(d.reserved),
             absl::StrCat("the allocator's segments, ", HumanBytes(d.reserved - d.ideal_reserved),
                          " lost to fragmentation")});
  table.Row({"process", HumanBytes(d.process),
             absl::StrCat("as nvidia-smi shows: ", HumanBytes(low), " to ", HumanBytes(high))});
  return absl::StrCat("\n", table.Text());
}

// What process has beyond reserved, and what is pinned on the host: likely bytes with their range.
std::string Parts(const DeviceReport& d) {
  TextTable table("lrll");
  const auto add = [&](const std::vector<MemoryPart>& parts, const char* where) {
    for (const MemoryPart& p : parts) {
      table.Row({p.name, HumanBytes(p.likely), absl::StrCat(HumanBytes(p.low), " to ", HumanBytes(p.high)), where});
    }
  };
  add(d.process_parts, "");
  add(d.host_parts, "host");
  return table.empty() ? "" : absl::StrCat("\nbeyond reserved, and on the host\n", table.Text());
}

// "12 more samples fit: batch=20 (one more does not)"
std::string RoomLine(const Report& report) {
  if (!report.headroom) return "";
  const Headroom& room = *report.headroom;
  return absl::StrCat(room.exact ? "" : "at least ", room.largest - room.bound, " more samples fit: ", room.symbol, "=", room.largest,
                      "\n");
}

// "about 0.41 s a step (estimate): 19.5 samples/s, 19968 tokens/s; forward 24 %, recomputation 20 %, backward 49 %, optimizer 7 %"
std::string Seconds(const DeviceReport& d) {
  const TimeReport& t = d.time;
  if (t.step <= 0) return "";
  std::string text = absl::StrFormat("about %.3g s a step (estimate)", t.step);
  if (t.samples_per_second > 0) absl::StrAppendFormat(&text, ": %.3g samples/s", t.samples_per_second);
  if (t.tokens_per_second > 0) absl::StrAppendFormat(&text, ", %.0f tokens/s", t.tokens_per_second);
  const std::pair<const char*, double> passes[] = {
      {"forward", t.forward}, {"recomputation", t.recompute}, {"backward", t.backward}, {"optimizer", t.optimizer}};
  const char* mark = "; ";
  for (const auto& [name, seconds] : passes) {
    if (seconds > 0 && t.device > 0) absl::StrAppendFormat(&text, "%s%s %.0f %%", std::exchange(mark, ", "), name, 100 * seconds / t.device);
  }
  if (t.host > t.device) absl::StrAppend(&text, "; bound by the host");
  return absl::StrCat("\n", Wrapped(text, 2), "\n");
}

std::string Phases(const DeviceReport& d) {
  TextTable table("lrr");
  table.Row({"peak of phase", "allocated", "live tensors"});
  for (const NamedLive& p : d.phases) table.Row({p.name, HumanBytes(p.live.allocated), HumanBytes(p.live.tensor)});
  for (const NamedLive& m : d.marks) {
    if (m.name == "step_start") table.Row({"between steps", HumanBytes(m.live.allocated), HumanBytes(m.live.tensor)});
  }
  return absl::StrCat("\n", table.Text());
}

std::string Curve(const DeviceReport& d) {
  constexpr size_t kRows = 3;
  if (d.timeline.size() < 2) return "";
  return absl::StrCat("\nlive tensors over the step\n", Sparkline(d.timeline, kTextWidth - 4, kRows));
}

std::string Bar(Bytes part, Bytes whole) {
  const Bytes length = whole > 0 ? part * kBarWidth / whole : 0;
  return std::string(static_cast<size_t>(std::clamp<Bytes>(length, 0, kBarWidth)), '#');
}

std::string Title(const DeviceReport& d, By by) {
  if (by == By::kModule || by == By::kPattern) return "by module";
  if (by == By::kOp) return "by the operator that made them";
  if (by == By::kTensor) return "largest tensors";
  return Wrapped(absl::StrCat("live tensors at the peak, ", HumanBytes(d.peak.live.tensor), " (",
                              Place(d.peak.phase, d.peak.module), ", ", d.peak.op, ")"), 2);
}

// One breakdown of the peak: the largest `shown` rows, and what the others add up to.
std::string Rows(const DeviceReport& d, By by, const RenderOptions& options, size_t shown) {
  const std::vector<BreakdownRow> rows = Breakdown(d, by, options.depth);
  if (rows.empty()) return "";
  TextTable table(by == By::kTensor ? "lrl" : "lrrl");
  BreakdownRow rest;
  for (size_t i = 0; i < rows.size(); ++i) {
    const BreakdownRow& row = rows[i];
    const std::string count = row.tensors == 0 ? "" : absl::StrCat(row.tensors, row.tensors == 1 ? " tensor" : " tensors");
    if (i >= shown) {
      rest.bytes += row.bytes;
      ++rest.tensors;
    } else if (by == By::kTensor) {
      table.Row({row.name, HumanBytes(row.bytes), row.note});
    } else {
      table.Row({row.name, HumanBytes(row.bytes), Percent(row.bytes, d.peak.live.tensor),
                 by == By::kCategory ? Bar(row.bytes, d.peak.live.tensor) : count});
    }
  }
  if (rest.tensors > 0 && by != By::kTensor) {
    table.Row({absl::StrCat("(", rest.tensors, " more)"), HumanBytes(rest.bytes), Percent(rest.bytes, d.peak.live.tensor), ""});
  }
  return absl::StrCat("\n", Title(d, by), "\n", table.Text());
}

std::string Breakdowns(const DeviceReport& d, const RenderOptions& options) {
  const size_t few = options.verbose ? std::numeric_limits<size_t>::max() : kShownRows;
  const size_t shown = options.top > 0 ? static_cast<size_t>(options.top) : few;
  if (options.by.has_value()) return Rows(d, *options.by, options, shown);
  return absl::StrCat(Rows(d, By::kCategory, options, kCategoryCount),
                      Rows(d, options.verbose ? By::kModule : By::kPattern, options, shown),
                      Rows(d, By::kTensor, options, shown));
}

std::string OtherDevices(const Report& report) {
  if (report.devices.size() < 2) return "";
  TextTable table("lrrrl");
  table.Row({"", "allocated", "reserved", "process", ""});
  for (const DeviceReport& d : report.devices) {
    table.Row({Ranks(d), HumanBytes(d.peak.live.allocated), HumanBytes(d.reserved), HumanBytes(d.process),
               d.fits ? "fits" : "does not fit"});
  }
  return absl::StrCat("\nall devices\n", table.Text());
}

// Why memory does not halve on twice the ranks.
std::string Divisions(const Report& report) {
  TextTable table("lrl");
  for (const auto& [category, by] : report.divisions) {
    const Bytes bytes = report.devices[0].peak.by_category[static_cast<size_t>(category)];
    if (bytes > 0) table.Row({NameOf(category), HumanBytes(bytes), by});
  }
  return table.empty() ? "" : absl::StrCat("\ndivided by\n", table.Text());
}

std::string Notes(const Report& report) {
  std::string text;
  if (!report.assumptions.empty()) absl::StrAppend(&text, "\nassumed\n");
  for (const Assumption& a : report.assumptions) {
    const std::string bytes = a.bytes == 0 ? "" : absl::StrCat(" (", HumanBytes(a.bytes), ")");
    absl::StrAppend(&text, "  ", Wrapped(absl::StrCat(a.code, " ", a.message, bytes), 8), "\n");
  }
  if (!report.unknown_ops.empty())
    absl::StrAppend(&text, "\noperators without a rule (inputs and output are assumed saved)\n");
  TextTable table("lrr");
  for (const UnknownOp& op : report.unknown_ops) {
    table.Row({op.op, absl::StrCat(op.count, op.count == 1 ? " time" : " times"), HumanBytes(op.bytes)});
  }
  absl::StrAppend(&text, table.Text());
  if (!report.next.empty()) absl::StrAppend(&text, "\nnext\n");
  for (const std::string& command : report.next) absl::StrAppend(&text, "  ", command, "\n");
  return text;
}

std::string RenderText(const Report& report, const RenderOptions& options) {
  if (report.devices.empty()) return "nothing was simulated\n";
  const DeviceReport& d = report.devices[0];
  return absl::StrCat(
      Answer(d, options), BreakLine(d), RoomLine(report), Head(report), ThreeNumbers(d), Seconds(d),
      absl::StrCat(Curve(d), Phases(d), options.verbose ? Parts(d) : "", Breakdowns(d, options), Divisions(report), OtherDevices(report)),
      Notes(report));
}

}  // namespace

void RegisterText(RendererRegistry& registry) {
  registry.Add({"text", "", "for people: the answer first, then why", RenderText,
                [](const RenderOptions& options) { return options.by == By::kOp; }});
}

}  // namespace memcrest
