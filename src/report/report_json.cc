#include "src/report/report_json.h"

#include "src/memory/account.h"
#include "src/report/step_json.h"

namespace memcrest {
namespace {

constexpr int64_t kSchema = 1;

void Live(JsonWriter& w, const std::string& key, const LiveBytes& live) {
  w.Open('{', key, true);
  w.Number("allocated_bytes", live.allocated);
  w.Number("tensor_bytes", live.tensor);
  w.Close();
}

void ByCategory(JsonWriter& w, const CategoryBytes& bytes) {
  w.Open('{', "by_category", true);
  for (int c = 0; c < kCategoryCount; ++c) w.Number(NameOf(static_cast<Category>(c)), bytes[static_cast<size_t>(c)]);
  w.Close();
}

void Peak(JsonWriter& w, const PeakReport& peak) {
  w.Open('{', "peak");
  w.Number("allocated_bytes", peak.live.allocated);
  w.Number("tensor_bytes", peak.live.tensor);
  w.Text("phase", peak.phase);
  w.Text("op", peak.op);
  w.Text("module", peak.module);
  ByCategory(w, peak.by_category);
  w.Close();
}

void Lives(JsonWriter& w, const char* key, const std::vector<NamedLive>& lives) {
  w.Open('{', key);
  for (const NamedLive& named : lives) Live(w, named.name, named.live);
  w.Close();
}

void Parts(JsonWriter& w, const char* key, const std::vector<MemoryPart>& parts) {
  w.Open('[', key);
  for (const MemoryPart& part : parts) {
    w.Open('{', "", true);
    w.Text("name", part.name);
    w.Number("low_bytes", part.low);
    w.Number("likely_bytes", part.likely);
    w.Number("high_bytes", part.high);
    w.Text("source", part.source);
    w.Close();
  }
  w.Close();
}

void Breaks(JsonWriter& w, const DeviceReport& d) {
  if (!d.breaks) return;
  w.Open('{', "breaks", true);
  w.Text("phase", d.breaks->phase);
  w.Text("op", d.breaks->op);
  w.Text("module", d.breaks->module);
  w.Number("requested_bytes", d.breaks->requested);
  w.Number("allocated_bytes", d.breaks->allocated);
  w.Text("tensor", d.breaks->tensor);
  w.Number("reserved_bytes", d.breaks->reserved);
  w.Number("largest_free_bytes", d.breaks->largest_free);
  w.Open('[', "helps", true);
  for (const std::string& setting : d.breaks->helps) w.Text("", setting);
  w.Close();
  w.Close();
}

void Modules(JsonWriter& w, const DeviceReport& d) {
  w.Open('[', "top_modules");
  for (const ModuleRow& row : d.top_modules) {
    w.Open('{', "", true);
    w.Text("module", row.module);
    w.Number("bytes", row.bytes);
    w.Number("tensors", row.tensors);
    w.Close();
  }
  w.Close();
}

void Tensors(JsonWriter& w, const DeviceReport& d) {
  w.Open('[', "top_tensors");
  for (const TensorRow& row : d.top_tensors) {
    w.Open('{', "", true);
    w.Text("name", row.name);
    w.Text("module", row.module);
    w.Text("op", row.op);
    w.Number("bytes", row.bytes);
    w.Text("category", NameOf(row.category));
    w.Text("born_phase", row.born_phase);
    w.Close();
  }
  w.Close();
}

// By column: a sample is one position in each list.
void Timeline(JsonWriter& w, const DeviceReport& d) {
  w.Open('{', "timeline");
  w.Open('[', "event", true);
  for (const TimelineSample& s : d.timeline) w.Number("", s.event);
  w.Close();
  w.Open('[', "phase", true);
  for (const TimelineSample& s : d.timeline) w.Text("", s.phase);
  w.Close();
  for (size_t c = 0; c < kCategoryCount; ++c) {
    w.Open('[', NameOf(static_cast<Category>(c)), true);
    for (const TimelineSample& s : d.timeline) w.Number("", s.by_category[c]);
    w.Close();
  }
  w.Close();
}

void Seconds(JsonWriter& w, const TimeReport& t) {
  if (t.step <= 0) return;  // not estimated
  w.Open('{', "seconds", true);
  w.Text("kind", "estimate");
  w.Seconds("forward", t.forward);
  w.Seconds("recompute", t.recompute);
  w.Seconds("backward", t.backward);
  w.Seconds("optimizer", t.optimizer);
  w.Seconds("device", t.device);
  w.Seconds("host", t.host);
  w.Seconds("samples_per_second", t.samples_per_second);
  w.Seconds("tokens_per_second", t.tokens_per_second);
  w.Close();
}

void OneDevice(JsonWriter& w, const DeviceReport& d, bool with_step) {
  w.Open('{');
  w.Open('[', "ranks", true);
  for (const int64_t rank : d.ranks) w.Number("", rank);
  w.Close();
  Peak(w, d.peak);
  w.Number("reserved_bytes", d.reserved);
  w.Number("process_bytes", d.process);
  w.Bool("fits", d.fits);
  w.Seconds("step_seconds", d.step_seconds);
  Seconds(w, d.time);
  Lives(w, "phases", d.phases);
  Lives(w, "marks", d.marks);
  w.Text("device", d.device);
  w.Number("capacity_bytes", d.capacity);
  w.Number("requested_bytes", d.requested);
  w.Number("ideal_reserved_bytes", d.ideal_reserved);
  w.Number("host_bytes", d.host);
  Parts(w, "host_parts", d.host_parts);
  Parts(w, "process_parts", d.process_parts);
  Breaks(w, d);
  Modules(w, d);
  Tensors(w, d);
  Timeline(w, d);
  w.Number("peak_event", d.peak.event);
  if (with_step && d.step.events > 0) WriteStep(w, d.step);
  w.Close();
}

void Model(JsonWriter& w, const Report& report) {
  w.Open('{', "model");
  w.Number("parameter_count", report.parameter_count);
  w.Number("trainable_count", report.trainable_count);
  w.Number("parameter_bytes", report.parameter_bytes);
  w.Number("buffer_bytes", report.buffer_bytes);
  w.Text("file", report.model_file);
  w.Close();
}

void Settings(JsonWriter& w, const Report& report) {
  w.Open('{', "job");
  w.Open('{', "bind", true);
  for (const auto& [name, size] : report.bind) w.Number(name, size);
  w.Close();
  for (const auto& [name, value] : report.settings) w.Text(name, value);
  w.Close();
}

void Room(JsonWriter& w, const Headroom& room) {
  w.Open('{', "headroom", true);
  w.Text("symbol", room.symbol);
  w.Number("bound", room.bound);
  w.Number("largest", room.largest);
  w.Bool("exact", room.exact);
  w.Close();
}

void Notes(JsonWriter& w, const Report& report) {
  w.Open('[', "assumptions");
  for (const Assumption& a : report.assumptions) {
    w.Open('{', "", true);
    w.Text("code", a.code);
    w.Text("message", a.message);
    w.Number("bytes", a.bytes);
    w.Close();
  }
  w.Close();
  w.Open('[', "unknown_ops");
  for (const UnknownOp& op : report.unknown_ops) {
    w.Open('{', "", true);
    w.Text("op", op.op);
    w.Number("count", op.count);
    w.Number("bytes", op.bytes);
    w.Close();
  }
  w.Close();
}

}  // namespace

void WriteReport(JsonWriter& w, const Report& report, size_t steps) {
  w.Open('{');
  w.Number("schema", kSchema);
  Model(w, report);
  w.Open('[', "devices");
  for (size_t i = 0; i < report.devices.size(); ++i) OneDevice(w, report.devices[i], i < steps);
  w.Close();
  Notes(w, report);
  if (report.headroom) Room(w, *report.headroom);
  Settings(w, report);
  w.Close();
}

}  // namespace memcrest
