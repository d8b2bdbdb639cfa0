#include "src/report/step_json.h"

#include <vector>

namespace memcrest {
namespace {

// One column of `rows`: what `cell` gives for each.
template <typename Rows, typename Cell>
void Column(JsonWriter& w, const char* key, const Rows& rows, Cell cell) {
  std::vector<int64_t> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(static_cast<int64_t>(cell(row)));
  w.Numbers(key, values);
}

void Lives(JsonWriter& w, const std::vector<StorageLife>& lives) {
  w.Open('{', "lives");
  Column(w, "born", lives, [](const StorageLife& l) { return l.born; });
  Column(w, "dies", lives, [](const StorageLife& l) { return l.dies; });
  Column(w, "bytes", lives, [](const StorageLife& l) { return l.bytes; });
  Column(w, "slack", lives, [](const StorageLife& l) { return l.slack; });
  Column(w, "address", lives, [](const StorageLife& l) { return l.address; });
  Column(w, "category", lives, [](const StorageLife& l) { return l.category; });
  Column(w, "seen", lives, [](const StorageLife& l) { return l.seen; });
  Column(w, "name", lives, [](const StorageLife& l) { return l.name; });
  Column(w, "module", lives, [](const StorageLife& l) { return l.module; });
  Column(w, "op", lives, [](const StorageLife& l) { return l.op; });
  w.Close();
}

void Changes(JsonWriter& w, const std::vector<CategoryChange>& changes) {
  w.Open('{', "changes");
  Column(w, "life", changes, [](const CategoryChange& c) { return c.life; });
  Column(w, "event", changes, [](const CategoryChange& c) { return c.event; });
  Column(w, "category", changes, [](const CategoryChange& c) { return c.category; });
  w.Close();
}

void Spans(JsonWriter& w, const std::vector<OpSpan>& spans) {
  w.Open('{', "spans");
  Column(w, "begin", spans, [](const OpSpan& s) { return s.begin; });
  Column(w, "op", spans, [](const OpSpan& s) { return s.op; });
  Column(w, "module", spans, [](const OpSpan& s) { return s.module; });
  Column(w, "phase", spans, [](const OpSpan& s) { return s.phase; });
  Column(w, "pass", spans, [](const OpSpan& s) { return s.pass; });
  Column(w, "micro", spans, [](const OpSpan& s) { return s.micro; });
  Column(w, "stream", spans, [](const OpSpan& s) { return s.stream; });
  w.Close();
}

void Segments(JsonWriter& w, const std::vector<SegmentChange>& segments) {
  w.Open('{', "segments");
  Column(w, "event", segments, [](const SegmentChange& s) { return s.event; });
  Column(w, "address", segments, [](const SegmentChange& s) { return s.address; });
  Column(w, "bytes", segments, [](const SegmentChange& s) { return s.bytes; });
  Column(w, "small", segments, [](const SegmentChange& s) { return s.small; });
  w.Close();
}

void Clock(JsonWriter& w, const std::vector<ClockTime>& clock) {
  if (clock.empty()) return;
  w.Open('{', "clock");
  Column(w, "event", clock, [](const ClockTime& c) { return c.event; });
  Column(w, "nanoseconds", clock, [](const ClockTime& c) { return c.nanoseconds; });
  w.Close();
}

}  // namespace

void WriteStep(JsonWriter& w, const StepRecord& step) {
  w.Open('{', "step");
  w.Number("events", step.events);
  w.Open('[', "strings", true);
  for (const std::string& text : step.strings) w.Text("", text);
  w.Close();
  Lives(w, step.lives);
  Changes(w, step.changes);
  Spans(w, step.spans);
  Segments(w, step.segments);
  Clock(w, step.clock);
  w.Close();
}

}  // namespace memcrest
