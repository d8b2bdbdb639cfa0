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

// The allocator of the options with the storages that it serves; an ideal one keeps only their sum.
class Heap {
 public:
  Heap(const AllocatorOptions& options, size_t storages) : options_(options), allocator_(options), blocks_(storages) {}

  // False: out of memory.
  bool Apply(const Event& e) {
    if (!Allocated(e)) return true;
    const size_t id = e.storage == kNone ? 0 : static_cast<size_t>(e.storage);
    switch (e.kind) {
      case Event::Kind::kAlloc: return Take(e, id);
      case Event::Kind::kFree: Give(e, id); return true;
      case Event::Kind::kUseOn: if (blocks_[id] != nullptr) allocator_.RecordStream(blocks_[id], e.stream); return true;
      case Event::Kind::kWait: allocator_.Synchronize(); return true;
      default: return true;
    }
  }
  void Synchronize() { allocator_.Synchronize(); }

  Bytes allocated() const { return options_.ideal ? rounded_ : allocator_.now().allocated; }
  Bytes reserved() const { return options_.ideal ? rounded_ : allocator_.now().reserved; }
  Bytes requested() const { return requested_; }
  Bytes rounded() const { return rounded_; }
  const CachingAllocator& allocator() const { return allocator_; }
  const CachingAllocator::Block* block(size_t storage) const { return blocks_[storage]; }
  OutOfMemory Failure(size_t event, const Event& e) const {
    return {event, e.bytes, allocated(), reserved(), options_.ideal ? 0 : allocator_.LargestFree(e.stream)};
  }

 private:
  bool Take(const Event& e, size_t id) {
    const Bytes size = RoundedSize(e);
    if (options_.ideal ? size > options_.memory - rounded_ : (blocks_[id] = allocator_.Malloc(e.bytes, e.stream)) == nullptr) {
      return false;
    }
    rounded_ += size;
    requested_ += e.bytes;
    return true;
  }

  void Give(const Event& e, size_t id) {
    rounded_ -= RoundedSize(e);
    requested_ -= e.bytes;
    if (blocks_[id] != nullptr) allocator_.Free(blocks_[id]);
    blocks_[id] = nullptr;
  }

  const AllocatorOptions& options_;
  CachingAllocator allocator_;
  std::vector<CachingAllocator::Block*> blocks_;
  Bytes rounded_ = 0, requested_ = 0;
};

// Walks the events once, feeding the allocator and keeping the running sums.
class Replay {
 public:
  Replay(const Trace& trace, const AllocatorOptions& options, Account& account)
      : trace_(trace), heap_(options, StorageCount(trace)), account_(account) {
    account_.blocks.resize(StorageCount(trace));
  }

  // nullopt: the job runs.
  std::optional<OutOfMemory> Run() {
    const int16_t last = static_cast<int16_t>(trace_.steps - 1);
    size_t mark = 0;
    for (size_t i = 0; i <= trace_.events.size(); ++i) {
      for (; mark < trace_.marks.size() && trace_.marks[mark].event == i; ++mark) NoteMark(trace_.marks[mark], last);
      if (i == trace_.events.size()) break;
      const Event& e = trace_.events[i];
      if (!heap_.Apply(e)) return heap_.Failure(i, e);
      Sum(e);
      if (!measuring_) continue;
      if (heap_.allocator().now().reserved != segmented_) NoteSegments(i);
      Measure(e, i);
    }
    account_.reserved = reserved_;
    account_.retries = heap_.allocator().now().retries;
    return std::nullopt;
  }

 private:
  void NoteMark(const Mark& m, int16_t last) {
    heap_.Synchronize();
    if (m.step != last) return;
    if (!measuring_) NoteSegments(m.event == 0 ? 0 : m.event - 1);
    measuring_ = true;
    account_.marks.push_back({m.name, {tensor_, heap_.allocated()}});
  }

  void Sum(const Event& e) {
    const Bytes sign = e.kind == Event::Kind::kAlloc ? 1 : e.kind == Event::Kind::kFree ? -1 : 0;
    if (sign == 0) return;
    if (Dispatched(e)) tensor_ += sign * RoundedSize(e);
    if (!OnDevice(e)) host_ += sign * e.bytes;
    const CachingAllocator::Block* block = sign > 0 && Allocated(e) ? heap_.block(static_cast<size_t>(e.storage)) : nullptr;
    if (block != nullptr) account_.blocks[static_cast<size_t>(e.storage)] = {static_cast<int64_t>(block->address), block->size};
  }

  // Adds the segments that have another size than before.
  void NoteSegments(size_t event) {
    segmented_ = heap_.allocator().now().reserved;
    std::map<int64_t, AccountedSegment> now;
    for (const CachingAllocator::Segment& s : heap_.allocator().Segments()) {
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
    f.allocated = std::max(f.allocated, heap_.allocated());
    if (e.phase != Phase::kEvaluation && tensor_ > account_.peak.tensor) {
      account_.peak.tensor = tensor_;
      account_.peak_event = i;
    }
    account_.peak.allocated = std::max(account_.peak.allocated, heap_.allocated());
    account_.ideal_reserved = std::max(account_.ideal_reserved, heap_.rounded());
    account_.requested = std::max(account_.requested, heap_.requested());
    account_.host = std::max(account_.host, host_);
    reserved_ = std::max(reserved_, heap_.reserved());
  }

  const Trace& trace_;
  Heap heap_;
  Account& account_;
  std::map<int64_t, AccountedSegment> segments_;  // as last noted
  Bytes segmented_ = 0;                           // reserved at that time
  Bytes tensor_ = 0, host_ = 0, reserved_ = 0;
  bool measuring_ = false;
};

AllocatorOptions WithoutLimit(AllocatorOptions options) {
  options.memory = options.allowed = AllocatorConf::kUnlimited;
  return options;
}

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
  const std::optional<OutOfMemory> breaks = Replay(trace, options, account).Run();
  if (breaks.has_value()) {
    account = Account();
    const AllocatorOptions unlimited = WithoutLimit(options);
    Replay(trace, unlimited, account).Run();
    account.breaks = breaks;
  }
  account.live = LiveAt(trace, account.peak_event);
  for (const LiveStorage& s : account.live) account.by_category[static_cast<size_t>(s.category)] += RoundUp(s.bytes, kGranule);
  return account;
}

std::optional<OutOfMemory> FindOutOfMemory(const Trace& trace, const AllocatorOptions& options) {
  Heap heap(options, StorageCount(trace));
  size_t mark = 0;
  for (size_t i = 0; i < trace.events.size(); ++i) {
    for (; mark < trace.marks.size() && trace.marks[mark].event <= i; ++mark) heap.Synchronize();
    if (!heap.Apply(trace.events[i])) return heap.Failure(i, trace.events[i]);
  }
  return std::nullopt;
}

std::vector<AllocatorRemedy> TryRemedies(const Trace& trace, const AllocatorOptions& options) {
  AllocatorOptions ideal = options, expandable = options, unsplit = options;
  ideal.ideal = true;
  std::vector<AllocatorRemedy> remedies = {{"ideal", !FindOutOfMemory(trace, ideal).has_value()}};
  if (!remedies[0].runs) return remedies;  // live tensors alone are too much
  expandable.conf.expandable_segments = true;
  unsplit.conf.max_split_size = Bytes{128} << 20;
  remedies.insert(remedies.begin(), {{"expandable_segments:True", !FindOutOfMemory(trace, expandable).has_value()},
                                     {"max_split_size_mb:128", !FindOutOfMemory(trace, unsplit).has_value()}});
  return remedies;
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
