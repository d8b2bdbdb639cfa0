#include "src/memory/caching_allocator.h"

#include <algorithm>

namespace memcrest {
namespace {

// c10/core/AllocatorConfig.h
constexpr Bytes kMinBlock = 512;
constexpr Bytes kSmallSize = 1 << 20;          // requests up to this come from the small pool
constexpr Bytes kSmallBuffer = 2 << 20;        // segment of the small pool
constexpr Bytes kMinLargeAlloc = 10 << 20;     // requests from this on get a segment of their own
constexpr Bytes kLargeBuffer = 20 << 20;       // segment of the large pool below it
constexpr Bytes kRoundLarge = 2 << 20;         // own segments are rounded up to this

Bytes SegmentSize(Bytes size) {
  if (size <= kSmallSize) return kSmallBuffer;
  if (size < kMinLargeAlloc) return kLargeBuffer;
  return RoundUp(size, kRoundLarge);
}

}  // namespace

CachingAllocator::CachingAllocator(const AllocatorOptions& options) : options_(options) {}
CachingAllocator::~CachingAllocator() = default;

CachingAllocator::Block* CachingAllocator::NewBlock() {
  if (spare_.empty()) {
    owned_.push_back(std::make_unique<Block>());
    return owned_.back().get();
  }
  Block* block = spare_.back();
  spare_.pop_back();
  *block = Block();
  return block;
}

Bytes CachingAllocator::Rounded(Bytes bytes) const {
  if (bytes < kMinBlock) return kMinBlock;
  const int64_t divisions = options_.roundup_power2_divisions;
  if (divisions > 1 && bytes > kMinBlock * divisions) {
    Bytes power = 1;
    while (power * 2 <= bytes) power *= 2;
    if (power == bytes) return bytes;
    const Bytes step = power / divisions;
    return step == 0 ? power * 2 : RoundUp(bytes, step);
  }
  return RoundUp(bytes, kMinBlock);
}

void CachingAllocator::Update() {
  peak_.allocated = std::max(peak_.allocated, now_.allocated);
  peak_.requested = std::max(peak_.requested, now_.requested);
  peak_.reserved = std::max(peak_.reserved, now_.reserved);
  peak_.active = std::max(peak_.active, now_.active);
  peak_.segments = std::max(peak_.segments, now_.segments);
}

CachingAllocator::Block* CachingAllocator::FindFree(Pool& pool, Bytes size, StreamId stream, bool) {
  ++pool.lookups;
  Block key;
  key.stream = stream;
  key.size = size;
  auto it = pool.free.lower_bound(&key);
  if (it == pool.free.end() || (*it)->stream != stream) return nullptr;
  if (options_.expandable_segments && (*it)->expandable) {
    const auto room = [](const Block* b) { return b->size + (b->next != nullptr && !b->next->mapped ? b->next->size : 0); };
    for (auto next = std::next(it); next != pool.free.end() && (*next)->stream == stream && room(*next) < room(*it); ++next) it = next;
  }
  Block* block = *it;
  if (size < options_.max_split_size && block->size >= options_.max_split_size) return nullptr;
  if (size >= options_.max_split_size && block->size >= size + kLargeBuffer) return nullptr;
  pool.free.erase(it);
  return block;
}

bool CachingAllocator::Reserve(Bytes bytes) {
  if (now_.reserved > options_.limit - bytes) return false;
  now_.reserved += bytes;
  return true;
}

CachingAllocator::Block* CachingAllocator::NewSegment(Pool& pool, Bytes size, StreamId stream, bool small) {
  if (options_.expandable_segments) return MapExpandable(pool, size, stream, small);
  const Bytes bytes = SegmentSize(size);
  if (!Reserve(bytes)) return nullptr;
  ++now_.segments;
  Block* block = NewBlock();
  block->address = next_address_;
  block->size = bytes;
  block->stream = stream;
  block->small = small;
  next_address_ += static_cast<uint64_t>(RoundUp(bytes, kRoundLarge));
  heads_.insert(block);
  return block;
}

bool CachingAllocator::ShouldSplit(const Block& block, Bytes size, bool small) const {
  const Bytes remaining = block.size - size;
  if (small || block.expandable) return remaining >= kMinBlock;
  return size < options_.max_split_size && remaining > kSmallSize;
}

CachingAllocator::Block* CachingAllocator::Take(Pool& pool, Block* block, Bytes size, Bytes requested, bool small) {
  if (ShouldSplit(*block, size, small)) {
    Block* rest = NewBlock();
    rest->address = block->address + static_cast<uint64_t>(size);
    rest->size = block->size - size;
    rest->stream = block->stream;
    rest->small = block->small;
    rest->expandable = block->expandable;
    rest->age = pool.lookups;
    rest->prev = block;
    rest->next = block->next;
    if (rest->next != nullptr) rest->next->prev = rest;
    block->next = rest;
    block->size = size;
    pool.free.insert(rest);
  }
  block->allocated = true;
  block->requested = requested;
  now_.allocated += block->size;
  now_.active += block->size;
  now_.requested += requested;
  Update();
  return block;
}

CachingAllocator::Block* CachingAllocator::Malloc(Bytes bytes, StreamId stream) {
  const Bytes size = Rounded(bytes);
  const bool small = size <= kSmallSize;
  Pool& pool = PoolOf(small);
  Block* block = FindFree(pool, size, stream, small);
  if (block == nullptr) {
    if (options_.limit != std::numeric_limits<Bytes>::max() && options_.garbage_collection_threshold > 0) CollectGarbage(size);
    block = NewSegment(pool, size, stream, small);
  }
  if (block == nullptr && ReleaseAvailable(size, stream, small)) block = NewSegment(pool, size, stream, small);
  if (block == nullptr) {
    Synchronize();
    EmptyCache();
    ++now_.retries;
    block = FindFree(pool, size, stream, small);
    if (block == nullptr) block = NewSegment(pool, size, stream, small);
  }
  if (block == nullptr) return nullptr;
  return Take(pool, block, size, bytes, small);
}

void CachingAllocator::Free(Block* block) {
  now_.allocated -= block->size;
  block->allocated = false;
  if (!block->used_on.empty()) {
    block->pending = true;
    pending_.push_back(block);
    return;
  }
  ReturnToPool(block);
}

void CachingAllocator::RecordStream(Block* block, StreamId stream) {
  if (stream == block->stream) return;
  if (std::find(block->used_on.begin(), block->used_on.end(), stream) == block->used_on.end()) block->used_on.push_back(stream);
}

void CachingAllocator::Synchronize() {
  std::vector<Block*> done;
  done.swap(pending_);
  for (Block* block : done) {
    block->pending = false;
    block->used_on.clear();
    ReturnToPool(block);
  }
}

void CachingAllocator::Merge(Pool& pool, Block* block, Block* neighbour) {
  if (neighbour == nullptr || neighbour->allocated || neighbour->pending || neighbour->mapped != block->mapped) return;
  if (neighbour == block->prev) {
    block->address = neighbour->address;
    block->prev = neighbour->prev;
    if (block->prev != nullptr) block->prev->next = block;
    if (heads_.erase(neighbour) != 0) heads_.insert(block);
  } else {
    block->next = neighbour->next;
    if (block->next != nullptr) block->next->prev = block;
  }
  (block->mapped ? (void)pool.free.erase(neighbour) : (void)pool.unmapped.erase(neighbour));
  block->size += neighbour->size;
  DropBlock(neighbour);
}

void CachingAllocator::ReturnToPool(Block* block) {
  Pool& pool = PoolOf(block->small);
  now_.active -= block->size;
  now_.requested -= block->requested;
  block->requested = 0;
  Merge(pool, block, block->prev);
  Merge(pool, block, block->next);
  block->age = pool.lookups;
  pool.free.insert(block);
}

void CachingAllocator::ReleaseBlock(Pool& pool, Block* block) {
  pool.free.erase(block);
  heads_.erase(block);
  now_.reserved -= block->size;
  --now_.segments;
  DropBlock(block);
}

void CachingAllocator::ReleasePool(Pool& pool) {
  const std::vector<Block*> free(pool.free.begin(), pool.free.end());
  for (Block* block : free) {
    if (block->expandable) {
      UnmapFree(pool, block);
    } else if (block->prev == nullptr && block->next == nullptr) {
      ReleaseBlock(pool, block);
    }
  }
}

void CachingAllocator::EmptyCache() {
  ReleasePool(large_);
  ReleasePool(small_);
}

// release_available_cached_blocks: only with max_split_size; frees the smallest sufficient block, else the largest ones.
bool CachingAllocator::ReleaseAvailable(Bytes size, StreamId stream, bool small) {
  if (options_.max_split_size == std::numeric_limits<Bytes>::max()) return false;
  Pool& pool = PoolOf(small);
  const Bytes want = std::max(size, options_.max_split_size);
  std::vector<Block*> candidates;
  for (Block* block : pool.free) {
    if (block->stream == stream && block->prev == nullptr && block->next == nullptr && !block->expandable) candidates.push_back(block);
  }
  for (Block* block : candidates) {
    if (block->size >= want) {
      ReleaseBlock(pool, block);
      return true;
    }
  }
  Bytes released = 0;
  for (size_t i = candidates.size(); i-- > 0 && released < want;) {
    if (candidates[i]->size < options_.max_split_size) break;
    released += candidates[i]->size;
    ReleaseBlock(pool, candidates[i]);
  }
  return released >= want;
}

void CachingAllocator::CollectGarbage(Bytes) {
  const Bytes threshold = static_cast<Bytes>(options_.garbage_collection_threshold * static_cast<double>(options_.limit));
  if (now_.reserved <= threshold) return;
  Bytes target = now_.reserved - threshold;
  bool freed = true;
  while (target > 0 && freed) {
    int64_t total = 0, count = 0;
    const auto age = [&](const Block* b) { return large_.lookups - b->age; };
    const auto whole = [](const Block* b) { return !b->expandable && b->prev == nullptr && b->next == nullptr; };
    for (const Block* b : large_.free) {
      if (whole(b)) total += age(b), ++count;
    }
    freed = false;
    if (count == 0) return;
    const std::vector<Block*> free(large_.free.begin(), large_.free.end());
    for (Block* b : free) {
      if (target <= 0 || !whole(b) || age(b) * count < total) continue;
      target -= b->size;
      ReleaseBlock(large_, b);
      freed = true;
    }
  }
}

std::vector<CachingAllocator::Segment> CachingAllocator::Segments() const {
  std::vector<Segment> segments;
  for (Block* head : heads_) {
    Segment s;
    s.address = head->address;
    s.stream = head->stream;
    s.small = head->small;
    s.expandable = head->expandable;
    s.first = head;
    for (const Block* b = head; b != nullptr; b = b->next) s.size += b->mapped ? b->size : 0;
    segments.push_back(s);
  }
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.address < b.address; });
  return segments;
}

}  // namespace memcrest
