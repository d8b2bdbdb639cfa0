// --format trace: the Trace Event Format, which Perfetto and chrome://tracing open. One process for each device: slices of phases
// and of operators, a thread for each stream, and counters of live bytes by category, allocated and reserved. Time is logical, one
// microsecond an event of the step, unless the clock knows seconds. Devices without the step's storages have their thinned curve.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/memory/account.h"
#include "src/report/json_writer.h"
#include "src/report/renderer.h"

namespace memcrest {
namespace {

constexpr int64_t kPhaseThread = 1;
constexpr int64_t kStreamThread = 10;  // and the stream's number

class DeviceTrace {
 public:
  DeviceTrace(JsonWriter& writer, const DeviceReport& device)
      : w_(writer), d_(device), process_(device.ranks.empty() ? 0 : device.ranks[0]) {}

  void Write() {
    Named("process_name", 0, absl::StrCat("rank ", process_, ", ", d_.device));
    Named("thread_name", kPhaseThread, "phases");
    if (d_.step.events == 0) return FromTimeline();
    Phases();
    Operators();
    Counters();
    if (d_.breaks.has_value()) Instant("out of memory", d_.step.events);
    Instant(absl::StrCat("peak ", HumanBytes(d_.peak.live.tensor)), d_.peak.event);
  }

 private:
  void Head(const char* kind, const std::string& name, int64_t thread) {
    w_.Open('{', "", true);
    w_.Text("ph", kind);
    w_.Text("name", name);
    w_.Number("pid", process_);
    w_.Number("tid", thread);
  }

  // Without a clock an event is a microsecond.
  int64_t NanosecondsAt(int64_t event) const {
    const std::vector<ClockTime>& clock = d_.step.clock;
    if (clock.size() < 2) return event * 1000;
    auto after = std::upper_bound(clock.begin(), clock.end(), event, [](int64_t e, const ClockTime& c) { return e < c.event; });
    if (after == clock.begin()) return clock.front().nanoseconds;
    if (after == clock.end()) return clock.back().nanoseconds;
    const ClockTime &from = *std::prev(after), &to = *after;
    return from.nanoseconds + (to.nanoseconds - from.nanoseconds) * (event - from.event) / (to.event - from.event);
  }

  // The format's unit is a microsecond.
  void Time(const char* key, int64_t nanoseconds) {
    if (nanoseconds % 1000 == 0) w_.Number(key, nanoseconds / 1000);
    else w_.Seconds(key, static_cast<double>(nanoseconds) / 1000);
  }

  void Named(const char* what, int64_t thread, const std::string& name) {
    Head("M", what, thread);
    w_.Open('{', "args");
    w_.Text("name", name);
    w_.Close();
    w_.Close();
  }

  void Slice(const std::string& name, const char* category, int64_t thread, int64_t begin, int64_t end) {
    Head("X", name, thread);
    w_.Text("cat", category);
    Time("ts", NanosecondsAt(begin));
    Time("dur", NanosecondsAt(end) - NanosecondsAt(begin));
  }

  void Instant(const std::string& name, int64_t time) {
    Head("i", name, kPhaseThread);
    Time("ts", NanosecondsAt(time));
    w_.Text("s", "p");
    w_.Close();
  }

  void Counter(const std::string& name, int64_t time, Bytes bytes) {
    Head("C", name, 0);
    Time("ts", NanosecondsAt(time));
    w_.Open('{', "args");
    w_.Number("bytes", bytes);
    w_.Close();
    w_.Close();
  }

  const std::string& Text(int32_t index) const { return d_.step.strings[static_cast<size_t>(index)]; }
  int64_t EndOf(size_t span) const { return span + 1 < d_.step.spans.size() ? d_.step.spans[span + 1].begin : d_.step.events; }

  void Phases() {
    const std::vector<OpSpan>& spans = d_.step.spans;
    for (size_t i = 0; i < spans.size();) {
      size_t last = i;
      while (last + 1 < spans.size() && spans[last + 1].phase == spans[i].phase && spans[last + 1].micro == spans[i].micro) ++last;
      Slice(NameOf(spans[i].phase), "phase", kPhaseThread, spans[i].begin, EndOf(last));
      w_.Open('{', "args");
      w_.Number("micro_batch", spans[i].micro);
      w_.Close();
      w_.Close();
      i = last + 1;
    }
  }

  void Operators() {
    std::map<StreamId, bool> named;
    for (size_t i = 0; i < d_.step.spans.size(); ++i) {
      const OpSpan& span = d_.step.spans[i];
      const int64_t thread = kStreamThread + span.stream;
      if (!named[span.stream]) Named("thread_name", thread, absl::StrCat("stream ", span.stream));
      named[span.stream] = true;
      const char* category = span.pass == Pass::kRecompute ? "recompute" : NameOf(span.phase);
      Slice(Text(span.op).empty() ? "(other)" : Text(span.op), category, thread, span.begin, EndOf(i));
      w_.Open('{', "args");
      w_.Text("module", Text(span.module));
      w_.Close();
      w_.Close();
    }
  }

  // The sum of a counter changes by `bytes` at `time`.
  void Add(const std::string& counter, int64_t time, Bytes bytes) { changes_[counter][time < 0 ? 0 : time] += bytes; }

  void Counters() {
    for (const StorageLife& life : d_.step.lives) {
      if (life.seen != Seen::kDispatcherOnly) {
        Add("allocated", life.born, life.bytes + life.slack);
        Add("allocated", life.dies, -life.bytes - life.slack);
      }
      if (life.seen == Seen::kAllocatorOnly) continue;
      Add(absl::StrCat("live ", NameOf(life.category)), life.born, life.bytes);
    }
    std::vector<Category> category;
    for (const StorageLife& life : d_.step.lives) category.push_back(life.category);
    for (const CategoryChange& change : d_.step.changes) {
      const size_t life = static_cast<size_t>(change.life);
      if (d_.step.lives[life].seen == Seen::kAllocatorOnly) continue;
      Add(absl::StrCat("live ", NameOf(category[life])), change.event, -d_.step.lives[life].bytes);
      category[life] = change.category;
      Add(absl::StrCat("live ", NameOf(category[life])), change.event, d_.step.lives[life].bytes);
    }
    for (size_t i = 0; i < category.size(); ++i) {
      const StorageLife& life = d_.step.lives[i];
      if (life.seen != Seen::kAllocatorOnly) Add(absl::StrCat("live ", NameOf(category[i])), life.dies, -life.bytes);
    }
    std::map<int64_t, Bytes> size;
    for (const SegmentChange& segment : d_.step.segments) {
      Add("reserved", segment.event, segment.bytes - size[segment.address]);
      size[segment.address] = segment.bytes;
    }
    WriteCounters();
  }

  // What dies with the step is not written: the step's end is the next one's start.
  void WriteCounters() {
    for (const auto& [name, changes] : changes_) {
      Bytes sum = 0;
      for (const auto& [time, bytes] : changes) {
        sum += bytes;
        if (bytes != 0 && time < d_.step.events) Counter(name, time, sum);
      }
    }
  }

  void FromTimeline() {
    const std::vector<TimelineSample>& timeline = d_.timeline;
    for (size_t i = 0; i < timeline.size();) {
      size_t end = i;
      while (end + 1 < timeline.size() && timeline[end + 1].phase == timeline[i].phase) ++end;
      const size_t next = end + 1 < timeline.size() ? end + 1 : end;
      Slice(timeline[i].phase, "phase", kPhaseThread, timeline[i].event, timeline[next].event);
      w_.Close();
      i = end + 1;
    }
    for (const TimelineSample& sample : timeline) {
      for (size_t c = 0; c < kCategoryCount; ++c)
        Counter(absl::StrCat("live ", NameOf(static_cast<Category>(c))), sample.event, sample.by_category[c]);
    }
  }

  JsonWriter& w_;
  const DeviceReport& d_;
  const int64_t process_;
  std::map<std::string, std::map<int64_t, Bytes>> changes_;  // counter -> time -> change
};

std::string RenderTrace(const Report& report, const RenderOptions&) {
  JsonWriter w;
  w.Open('{');
  w.Text("displayTimeUnit", "ms");
  w.Open('[', "traceEvents");
  for (const DeviceReport& d : report.devices) DeviceTrace(w, d).Write();
  w.Close();
  w.Close();
  return w.Finish();
}

}  // namespace

void RegisterTrace(RendererRegistry& registry) {
  registry.Add({"trace", "trace.json", "the step's operators and memory over time for Perfetto or chrome://tracing", RenderTrace});
}

}  // namespace memcrest
