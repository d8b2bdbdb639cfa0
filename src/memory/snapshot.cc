#include "src/memory/snapshot.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/pickle.h"
#include "src/base/problem.h"
#include "src/eager/recorder.h"
#include "src/job/document.h"

namespace memcrest {
namespace {

absl::Status NoSnapshot(const std::string& name, std::string why) {
  return ToStatus(Problem{"E0602", absl::StrCat(name, " is no memory snapshot"), name, std::move(why),
                          "torch.cuda.memory._record_memory_history() before training and _dump_snapshot(FILE) after some steps"});
}

Bytes Rounded(Bytes bytes) { return RoundUp(std::clamp<Bytes>(bytes, 0, Bytes{1} << 60), kGranule); }

// The innermost frame that stands in a Python file.
std::string PythonFrame(const PickleDoc& doc, const PickleValue& entry) {
  const PickleValue* frames = doc.Find(entry, "frames");
  if (frames == nullptr || frames->kind != PickleValue::Kind::kList) return "";
  std::string library;  // where only PyTorch's own files stand
  for (const PickleId id : frames->items) {
    const std::string file = doc.Text(doc.at(id), "filename");
    if (!absl::EndsWith(file, ".py")) continue;
    const std::string name = file.substr(file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1);
    const std::string where = absl::StrCat(name, ":", doc.Int(doc.at(id), "line"), " ", doc.Text(doc.at(id), "name"));
    if (library.empty()) library = where;
    if (!absl::StrContains(file, "/torch/")) return where;
  }
  return library;
}

// The change that an entry of a trace makes to what is live and reserved.
struct Change {
  Bytes live = 0, reserved = 0;
};

Change ChangeOf(const std::string& action, Bytes size) {
  if (action == "alloc") return {Rounded(size), 0};
  if (action == "free_completed") return {-Rounded(size), 0};
  if (action == "segment_alloc" || action == "segment_map") return {0, size};
  if (action == "segment_free" || action == "segment_unmap") return {0, -size};
  return {};
}

// At the end of the trace, from the segments.
Change AtEnd(const PickleDoc& doc, const PickleValue& segments, int64_t device) {
  Change end;
  for (const PickleId id : segments.items) {
    const PickleValue& segment = doc.at(id);
    if (doc.Int(segment, "device") != device) continue;
    end.reserved += doc.Int(segment, "total_size");
    const PickleValue* blocks = doc.Find(segment, "blocks");
    if (blocks == nullptr || blocks->kind != PickleValue::Kind::kList) continue;
    for (const PickleId b : blocks->items) {
      if (doc.Text(doc.at(b), "state") != "inactive") end.live += Rounded(doc.Int(doc.at(b), "requested_size"));
    }
  }
  return end;
}

absl::StatusOr<MeasuredMemory> FromSnapshot(const PickleDoc& doc, const std::string& name, int64_t device) {
  const PickleValue* segments = doc.Find(doc.root(), "segments");
  const PickleValue* traces = doc.Find(doc.root(), "device_traces");
  if (segments == nullptr || traces == nullptr || segments->kind != PickleValue::Kind::kList || traces->kind != PickleValue::Kind::kList) {
    return NoSnapshot(name, "it holds no lists \"segments\" and \"device_traces\"");
  }
  if (device < 0 || device >= static_cast<int64_t>(traces->items.size())) return NoSnapshot(name, "it knows no such device");
  const PickleValue& trace = doc.at(traces->items[static_cast<size_t>(device)]);
  const Change end = AtEnd(doc, *segments, device);
  Change now = end;  // walked back to the start
  for (const PickleId id : trace.items) {
    const Change c = ChangeOf(doc.Text(doc.at(id), "action"), doc.Int(doc.at(id), "size"));
    now = {now.live - c.live, now.reserved - c.reserved};
  }
  MeasuredMemory memory;
  memory.has_trace = !trace.items.empty();
  memory.peak_allocated = now.live;
  memory.peak_reserved = now.reserved;
  for (const PickleId id : trace.items) {
    const PickleValue& entry = doc.at(id);
    const std::string action = doc.Text(entry, "action");
    const Bytes size = doc.Int(entry, "size");
    const Change c = ChangeOf(action, size);
    now = {now.live + c.live, now.reserved + c.reserved};
    memory.peak_allocated = std::max(memory.peak_allocated, now.live);
    memory.peak_reserved = std::max(memory.peak_reserved, now.reserved);
    if (action == "alloc") memory.allocations.push_back({size, now.live, now.reserved, PythonFrame(doc, entry)});
  }
  return memory;
}

absl::StatusOr<MeasuredMemory> FromStats(const std::string& text, const std::string& name) {
  MEMCREST_ASSIGN_OR_RETURN(const Doc doc, ParseDocument({name, text}));
  MeasuredMemory memory;
  for (const Doc& item : doc.items) {
    Bytes value = 0;
    if (item.kind != Doc::Kind::kNumber || !absl::SimpleAtoi(item.text, &value)) continue;
    if (item.key == "allocated_bytes.all.peak") memory.peak_allocated = value;
    if (item.key == "reserved_bytes.all.peak") memory.peak_reserved = value;
  }
  if (memory.peak_allocated > 0) return memory;
  return NoSnapshot(name, "JSON of torch.cuda.memory_stats() has \"allocated_bytes.all.peak\"; this has not");
}

}  // namespace

absl::StatusOr<MeasuredMemory> ReadMeasurement(const std::string& bytes, const std::string& name, int64_t device) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && bytes[first] == '{') return FromStats(bytes, name);
  MEMCREST_ASSIGN_OR_RETURN(const PickleDoc doc, ReadPickle(bytes, name));
  return FromSnapshot(doc, name, device);
}

namespace {

// How far back from the end the trace repeats with a period, but for a few allocations (lazy initialisation, a logger).
size_t RepeatedLength(const std::vector<MeasuredAllocation>& a, size_t period) {
  size_t same = 0, seen = 0, good = 0;
  for (size_t i = a.size(); i-- > period;) {
    same += a[i].bytes == a[i - period].bytes ? 1u : 0u;
    ++seen;
    if (same * 50 >= seen * 49) good = seen;
    if (seen % 16 == 0 && same * 20 < seen * 19) break;
  }
  return good;
}

}  // namespace

// The smallest period that explains about as much of the trace as any: layers repeat within a step, but the step repeats further.
MeasuredStep LastStep(const std::vector<MeasuredAllocation>& a) {
  constexpr size_t kShortest = 8;
  struct Candidate {
    size_t period = 0, repeated = 0;
  };
  std::vector<Candidate> candidates;
  size_t most = 0;
  for (size_t period = kShortest; period * 2 <= a.size(); ++period) {
    const size_t repeated = RepeatedLength(a, period);
    if (repeated < period) continue;
    candidates.push_back({period, repeated});
    most = std::max(most, repeated + period);
  }
  for (const Candidate& c : candidates) {
    if ((c.repeated + c.period) * 10 < most * 9) continue;
    return {a.size() - c.period, a.size(), static_cast<int64_t>(c.repeated / c.period)};
  }
  return {0, a.size(), 0};
}

}  // namespace memcrest
