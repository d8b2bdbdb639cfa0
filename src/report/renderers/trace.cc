// --format trace: the Trace Event Format, which Perfetto and chrome://tracing open. One process for each device, with a
// counter of live bytes by category and a slice for each phase. Time is logical: one microsecond an event of the step.
#include "src/memory/account.h"
#include "src/report/json_writer.h"
#include "src/report/renderer.h"

namespace memcrest {
namespace {

void Head(JsonWriter& w, const char* kind, const std::string& name, int64_t process, int64_t time) {
  w.Open('{', "", true);
  w.Text("ph", kind);
  w.Text("name", name);
  w.Number("pid", process);
  w.Number("ts", time);
}

void ProcessName(JsonWriter& w, const DeviceReport& d, int64_t process) {
  Head(w, "M", "process_name", process, 0);
  w.Open('{', "args");
  w.Text("name", "rank " + std::to_string(process) + ", " + d.device);
  w.Close();
  w.Close();
}

void Counter(JsonWriter& w, const TimelineSample& sample, int64_t process) {
  Head(w, "C", "live tensors", process, sample.event);
  w.Open('{', "args");
  for (size_t c = 0; c < kCategoryCount; ++c) w.Number(NameOf(static_cast<Category>(c)), sample.by_category[c]);
  w.Close();
  w.Close();
}

// A slice from the first sample of a run of one phase to the first of the next.
void Slices(JsonWriter& w, const std::vector<TimelineSample>& timeline, int64_t process) {
  for (size_t i = 0; i < timeline.size();) {
    size_t end = i;
    while (end + 1 < timeline.size() && timeline[end + 1].phase == timeline[i].phase) ++end;
    const size_t next = end + 1 < timeline.size() ? end + 1 : end;
    Head(w, "X", timeline[i].phase, process, timeline[i].event);
    w.Number("tid", 0);
    w.Number("dur", timeline[next].event - timeline[i].event);
    w.Close();
    i = end + 1;
  }
}

std::string RenderTrace(const Report& report, const RenderOptions&) {
  JsonWriter w;
  w.Open('{');
  w.Text("displayTimeUnit", "ms");
  w.Open('[', "traceEvents");
  for (const DeviceReport& d : report.devices) {
    const int64_t process = d.ranks.empty() ? 0 : d.ranks[0];
    ProcessName(w, d, process);
    Slices(w, d.timeline, process);
    for (const TimelineSample& sample : d.timeline) Counter(w, sample, process);
  }
  w.Close();
  w.Close();
  return w.Finish();
}

}  // namespace

void RegisterTrace(RendererRegistry& registry) {
  registry.Add({"trace", "trace.json", "the step's memory over time for Perfetto or chrome://tracing", RenderTrace});
}

}  // namespace memcrest
