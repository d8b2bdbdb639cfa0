#include "src/memory/account.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/eager/recorder.h"

namespace memcrest {
namespace {

Bytes RoundedSize(const Event& e) { return RoundUp(e.bytes, kGranule); }
bool OnDevice(const Event& e) { return e.place == Place::kDevice; }
bool Dispatched(const Event& e) { return OnDevice(e) && e.seen != Seen::kAllocatorOnly; }
// What an active dispatch mode makes PyTorch do out of place (a sum of gradients, a bias) is served by the allocator too: the
// reference's counters were taken under such a mode. Without one these are in place: at most one such tensor less at an instant.
bool Allocated(const Event& e) { return OnDevice(e); }

size_t StorageCount(const Trace& trace) {
  StorageId most = -1;
  for (const Event& e : trace.events) most = std::max(most, e.storage);
  return static_cast<size_t>(most + 1);
}

// Walks the events once, feeding the allocator and keeping the running sums.
class Replay {
 public:
  Replay(const Trace& trace, const AllocatorOptions& options, Account& account)
      : trace_(trace), allocator_(options), account_(account), blocks_(StorageCount(trace)) {
    account_.blocks.resize(blocks_.size());
  }

  void Run() {
    const int16_t last = static_cast<int16_t>(trace_.steps - 1);
    size_t mark = 0;
    for (size_t i = 0; i <= trace_.events.size(); ++i) {
      for (; mark < trace_.marks.size() && trace_.marks[mark].event == i; ++mark) NoteMark(trace_.marks[mark], last);
      if (i == trace_.events.size()) break;
      const Event& e = trace_.events[i];
      Apply(e);
      if (!measuring_) continue;
      if (allocator_.now().reserved != segmented_) NoteSegments(i);
      Measure(e, i);
    }
    account_.reserved = reserved_;
  }

 private:
  void NoteMark(const Mark& m, int16_t last) {
    if (m.step != last) return;
    if (!measuring_) NoteSegments(m.event == 0 ? 0 : m.event - 1);
    measuring_ = true;
    account_.marks.push_back({m.name, {tensor_, allocator_.now().allocated}});
  }

  void Apply(const Event& e) {
    if (e.kind == Event::Kind::kAlloc) {
      if (Dispatched(e)) tensor_ += RoundedSize(e);
      if (Allocated(e)) Place(static_cast<size_t>(e.storage), allocator_.Malloc(e.bytes, e.stream));
      if (!OnDevice(e)) host_ += e.bytes;
    } else if (e.kind == Event::Kind::kFree) {
      if (Dispatched(e)) tensor_ -= RoundedSize(e);
      if (Allocated(e)) allocator_.Free(blocks_[static_cast<size_t>(e.storage)]);
      if (!OnDevice(e)) host_ -= e.bytes;
    }
  }

  void Place(size_t storage, CachingAllocator::Block* block) {
    blocks_[storage] = block;
    account_.blocks[storage] = {static_cast<int64_t>(block->address), block->size};
  }

  // Adds the segments that have another size than before.
  void NoteSegments(size_t event) {
    segmented_ = allocator_.now().reserved;
    std::map<int64_t, AccountedSegment> now;
    for (const CachingAllocator::Segment& s : allocator_.Segments()) {
      const int64_t address = static_cast<int64_t>(s.address);
      if (s.size > 0) now[address] = {event, address, s.size, s.small};
    }
    for (const auto& [address, segment] : segments_) {
      if (now.count(address) == 0) account_.segments.push_back({event, address, 0, segment.small});
    }
    for (const auto& [address, segment] : now) {
      const auto before = segments_.find(address);
      if (before == segments_.end() || before->second.bytes != segment.bytes) account_.segments.push_back(segment);
    }
    segments_ = std::move(now);
  }

  void Measure(const Event& e, size_t i) {
    if (e.kind != Event::Kind::kAlloc && e.kind != Event::Kind::kOp) return;
    Figures& f = account_.phases[static_cast<size_t>(e.phase)];
    account_.phase_seen[static_cast<size_t>(e.phase)] = true;
    f.tensor = std::max(f.tensor, tensor_);
    f.allocated = std::max(f.allocated, allocator_.now().allocated);
    if (e.phase != Phase::kEvaluation && tensor_ > account_.peak.tensor) {
      account_.peak.tensor = tensor_;
      account_.peak_event = i;
    }
    account_.peak.allocated = std::max(account_.peak.allocated, allocator_.now().allocated);
    account_.ideal_reserved = std::max(account_.ideal_reserved, allocator_.now().requested);
    account_.requested = account_.ideal_reserved;
    account_.host = std::max(account_.host, host_);
    reserved_ = std::max(reserved_, allocator_.now().reserved);
  }

  const Trace& trace_;
  CachingAllocator allocator_;
  Account& account_;
  std::vector<CachingAllocator::Block*> blocks_;
  std::map<int64_t, AccountedSegment> segments_;  // as last noted
  Bytes segmented_ = 0;                           // reserved at that time
  Bytes tensor_ = 0, host_ = 0, reserved_ = 0;
  bool measuring_ = false;
};

// The storages alive after event `until`, with their category at that time.
std::vector<LiveStorage> LiveAt(const Trace& trace, size_t until) {
  std::vector<int32_t> at(StorageCount(trace), kNone);
  std::vector<LiveStorage> live;
  for (size_t i = 0; i <= until && i < trace.events.size(); ++i) {
    const Event& e = trace.events[i];
    if (e.storage == kNone || !Dispatched(e)) continue;
    int32_t& slot = at[static_cast<size_t>(e.storage)];
    if (e.kind == Event::Kind::kAlloc) {
      slot = static_cast<int32_t>(live.size());
      live.push_back({e.storage, e.bytes, e.category, i});
    } else if (e.kind == Event::Kind::kRetag) {
      live[static_cast<size_t>(slot)].category = e.category;
    } else if (e.kind == Event::Kind::kFree) {
      live[static_cast<size_t>(slot)].storage = kNone;
    }
  }
  live.erase(std::remove_if(live.begin(), live.end(), [](const LiveStorage& s) { return s.storage == kNone; }), live.end());
  std::stable_sort(live.begin(), live.end(), [](const LiveStorage& a, const LiveStorage& b) { return a.bytes > b.bytes; });
  return live;
}

}  // namespace

Account AccountFor(const Trace& trace, const AllocatorOptions& options) {
  Account account;
  AllocatorOptions unlimited = options;
  unlimited.limit = std::numeric_limits<Bytes>::max();
  Replay(trace, unlimited, account).Run();
  account.live = LiveAt(trace, account.peak_event);
  for (const LiveStorage& s : account.live) account.by_category[static_cast<size_t>(s.category)] += RoundUp(s.bytes, kGranule);
  return account;
}

std::optional<OutOfMemory> FindOutOfMemory(const Trace& trace, const AllocatorOptions& options) {
  CachingAllocator allocator(options);
  std::vector<CachingAllocator::Block*> blocks(StorageCount(trace));
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const Event& e = trace.events[i];
    if (!Allocated(e)) continue;
    if (e.kind == Event::Kind::kAlloc) {
      CachingAllocator::Block* block = allocator.Malloc(e.bytes, e.stream);
      if (block == nullptr) return OutOfMemory{i, e.bytes, allocator.now().allocated, allocator.now().reserved - allocator.now().allocated};
      blocks[static_cast<size_t>(e.storage)] = block;
    } else if (e.kind == Event::Kind::kFree) {
      allocator.Free(blocks[static_cast<size_t>(e.storage)]);
    }
  }
  return std::nullopt;
}

const char* NameOf(Category category) {
  static constexpr std::array<const char*, kCategoryCount> kNames = {
      "parameters", "buffers", "inputs", "gradients", "optimizer_state", "activations", "temporaries", "communication", "workspace"};
  return kNames[static_cast<size_t>(category)];
}

const char* NameOf(Phase phase) {
  static constexpr std::array<const char*, kPhaseCount> kNames = {"init", "forward", "backward", "optimizer", "evaluation"};
  return kNames[static_cast<size_t>(phase)];
}

}  // namespace memcrest
