// --format snapshot: what torch.cuda.memory._dump_snapshot writes, as a pickle for https://pytorch.org/memory_viz and
// torch.cuda._memory_viz: segments with their blocks at the end of the step, and the step's allocations as a trace. The frames of an
// allocation are its operator and the modules around it. Time is logical: one microsecond an event of the step.
#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/base/pickle.h"
#include "src/memory/account.h"
#include "src/report/renderer.h"

namespace memcrest {
namespace {

// By the allocator of a run without a dispatch mode.
bool Served(const StorageLife& l) { return l.address >= 0 && l.seen != Seen::kDispatcherOnly; }

class SnapshotWriter {
 public:
  std::string Run(const Report& report) {
    w_.OpenDict();
    w_.Key("segments");
    w_.OpenList();
    for (device_ = 0; const DeviceReport& d : report.devices) Segments(d.step), ++device_;
    w_.Close();
    w_.Key("device_traces");
    w_.OpenList();
    for (device_ = 0; const DeviceReport& d : report.devices) Trace(d.step), ++device_;
    w_.Close();
    Settings();
    w_.Close();
    return w_.Finish();
  }

 private:
  struct Piece {  // of a segment
    int64_t address = 0;
    Bytes bytes = 0;
    const StorageLife* life = nullptr;  // nullptr: free
  };

  void Number(const char* key, int64_t value) { w_.Key(key), w_.Int(value); }
  void Text(const char* key, absl::string_view value) { w_.Key(key), w_.Text(value); }

  void Frame(absl::string_view where, absl::string_view name) {
    w_.OpenDict();
    Text("filename", where);
    Number("line", 0);
    Text("name", name);
    w_.Close();
  }

  // Innermost first: the operator in its module, then each module around it.
  void Frames(const StepRecord& step, const StorageLife& life) {
    w_.Key("frames");
    const auto [at, added] = stacks_.try_emplace({device_, life.name, life.module, life.op}, static_cast<uint32_t>(stacks_.size()));
    if (!added) return w_.Again(at->second);
    const auto text = [&](int32_t i) { return step.strings[static_cast<size_t>(i)]; };
    w_.OpenList();
    Frame(text(life.module), absl::StrCat(text(life.op), " (", text(life.name), ")"));
    for (std::string module = text(life.module); !module.empty();) {
      const size_t dot = module.rfind('.');
      module.resize(dot == std::string::npos ? 0 : dot);
      if (!module.empty()) Frame(module, "forward");
    }
    Frame("", "model");
    w_.Close();
    w_.Keep(at->second);
  }

  void NoFrames() { w_.Key("frames"), w_.OpenList(), w_.Close(); }

  // The segments as the step leaves them: address -> (bytes, small).
  static std::map<int64_t, std::pair<Bytes, bool>> SegmentsAtEnd(const StepRecord& step) {
    std::map<int64_t, std::pair<Bytes, bool>> at;
    for (const SegmentChange& c : step.segments) {
      if (c.bytes == 0) at.erase(c.address);
      else at[c.address] = {c.bytes, c.small};
    }
    return at;
  }

  void Segments(const StepRecord& step) {
    std::vector<const StorageLife*> alive;
    for (const StorageLife& l : step.lives) {
      if (l.dies == step.events && Served(l)) alive.push_back(&l);
    }
    std::sort(alive.begin(), alive.end(), [](const auto* a, const auto* b) { return a->address < b->address; });
    size_t next = 0;
    for (const auto& [address, segment] : SegmentsAtEnd(step)) {
      std::vector<Piece> pieces;
      int64_t at = address;
      for (; next < alive.size() && alive[next]->address < address + segment.first; ++next) {
        const StorageLife& l = *alive[next];
        if (l.address > at) pieces.push_back({at, l.address - at, nullptr});
        pieces.push_back({l.address, l.bytes + l.slack, &l});
        at = l.address + l.bytes + l.slack;
      }
      if (at < address + segment.first) pieces.push_back({at, address + segment.first - at, nullptr});
      Segment(step, address, segment.first, segment.second, pieces);
    }
  }

  void Segment(const StepRecord& step, int64_t address, Bytes bytes, bool small, const std::vector<Piece>& pieces) {
    Bytes used = 0, requested = 0;
    for (const Piece& p : pieces) {
      used += p.life != nullptr ? p.bytes : 0;
      requested += p.life != nullptr ? p.life->bytes : 0;
    }
    w_.OpenDict();
    Number("device", device_);
    Number("address", address);
    Number("total_size", bytes);
    Number("allocated_size", used);
    Number("active_size", used);
    Number("requested_size", requested);
    Number("stream", 0);
    Text("segment_type", small ? "small" : "large");
    w_.Key("segment_pool_id"), w_.OpenTuple(), w_.Int(0), w_.Int(0), w_.Close();
    w_.Key("is_expandable"), w_.Bool(false);
    NoFrames();
    w_.Key("blocks");
    w_.OpenList();
    for (const Piece& p : pieces) Block(step, p);
    w_.Close();
    w_.Close();
  }

  void Block(const StepRecord& step, const Piece& piece) {
    w_.OpenDict();
    Number("address", piece.address);
    Number("size", piece.bytes);
    Number("requested_size", piece.life != nullptr ? piece.life->bytes : 0);
    Text("state", piece.life != nullptr ? "active_allocated" : "inactive");
    if (piece.life != nullptr) Frames(step, *piece.life);
    else NoFrames();
    w_.Close();
  }

  void Entry(const char* action, int64_t address, Bytes bytes, int64_t time) {
    w_.OpenDict();
    Text("action", action);
    Number("addr", address);
    Number("size", bytes);
    Number("stream", 0);
    Number("time_us", time);
  }

  // Events in order; segments before the allocations of the same instant.
  void Trace(const StepRecord& step) {
    struct Moment {
      int32_t event, order;
      const StorageLife* life;
      const SegmentChange* segment;
    };
    std::vector<Moment> moments;
    for (const SegmentChange& c : step.segments) {
      if (c.event >= 0) moments.push_back({c.event, 0, nullptr, &c});
    }
    for (const StorageLife& l : step.lives) {
      if (!Served(l)) continue;
      if (l.born >= 0) moments.push_back({l.born, 1, &l, nullptr});
      if (l.dies < step.events) moments.push_back({l.dies, 2, &l, nullptr});
    }
    std::stable_sort(moments.begin(), moments.end(),
                     [](const Moment& a, const Moment& b) { return a.event != b.event ? a.event < b.event : a.order < b.order; });
    std::map<int64_t, Bytes> sizes;
    for (const SegmentChange& c : step.segments) {
      if (c.event < 0) sizes[c.address] = c.bytes;
    }
    w_.OpenList();
    for (const Moment& m : moments) {
      if (m.segment != nullptr) SegmentEntry(*m.segment, sizes);
      else LifeEntries(step, *m.life, m.order == 1, m.event);
    }
    w_.Close();
  }

  void SegmentEntry(const SegmentChange& c, std::map<int64_t, Bytes>& sizes) {
    Bytes& before = sizes[c.address];
    const Bytes grown = c.bytes - before;
    Entry(grown >= 0 ? "segment_alloc" : "segment_free", c.address, grown >= 0 ? grown : -grown, c.event);
    NoFrames();
    w_.Close();
    before = c.bytes;
  }

  void LifeEntries(const StepRecord& step, const StorageLife& life, bool born, int64_t time) {
    using Actions = std::vector<const char*>;
    for (const char* action : born ? Actions{"alloc"} : Actions{"free_requested", "free_completed"}) {
      Entry(action, life.address, life.bytes, time);
      Frames(step, life);
      w_.Close();
    }
  }

  void Settings() {
    w_.Key("allocator_settings");
    w_.OpenDict();
    Text("PYTORCH_ALLOC_CONF", "");
    w_.Close();
  }

  PickleWriter w_;
  int32_t device_ = 0;
  std::map<std::array<int32_t, 4>, uint32_t> stacks_;  // (device, name, module, op) -> slot of its frames
};

std::string RenderSnapshot(const Report& report, const RenderOptions&) { return SnapshotWriter().Run(report); }

}  // namespace

void RegisterSnapshot(RendererRegistry& registry) {
  registry.Add({"snapshot", "pickle", "a memory snapshot for pytorch.org/memory_viz and torch.cuda._memory_viz", RenderSnapshot});
}

}  // namespace memcrest
