#include "src/memory/caching_allocator.h"

#include <algorithm>
#include <bit>

namespace memcrest {
namespace {

// c10/core/AllocatorConfig.h
constexpr Bytes kMinBlock = 512;
constexpr Bytes kSmallSize = 1 << 20;       // requests up to this come from the small pool
constexpr Bytes kSmallBuffer = 2 << 20;     // segment of the small pool
constexpr Bytes kMinLargeAlloc = 10 << 20;  // requests from this on get a segment of their own
constexpr Bytes kRoundLarge = 2 << 20;      // own segments are rounded up to this

// The next of `divisions` equal steps between two powers of two (roundup_power2_next_division).
Bytes RoundToDivision(Bytes bytes, int64_t divisions) {
  const uint64_t power = std::bit_floor(static_cast<uint64_t>(bytes));
  if (power == static_cast<uint64_t>(bytes)) return bytes;
  const Bytes step = static_cast<Bytes>(power >> (static_cast<int>(std::bit_width(static_cast<uint64_t>(divisions))) - 1));
  return step == 0 ? static_cast<Bytes>(power << 1) : RoundUp(bytes, step);
}

}  // namespace

CachingAllocator::Block* CachingAllocator::MakeBlock() {
  if (spare_.empty()) return &blocks_.emplace_back();
  Block* block = spare_.back();
  spare_.pop_back();
  *block = Block();
  return block;
}

Bytes CachingAllocator::Rounded(Bytes bytes) const {
  if (bytes < kMinBlock) return kMinBlock;
  const int64_t divisions = options_.conf.DivisionsFor(bytes);
  if (divisions > 1 && bytes > kMinBlock * divisions) return RoundToDivision(bytes, divisions);
  return RoundUp(bytes, kMinBlock);
}

Bytes CachingAllocator::SegmentSize(Bytes size) const {
  if (size <= kSmallSize) return kSmallBuffer;
  return size < kMinLargeAlloc ? options_.conf.large_segment : RoundUp(size, kRoundLarge);
}

Bytes CachingAllocator::UnitOf(bool small) const { return small ? kSmallBuffer : options_.conf.large_segment; }

// Ages count only where garbage may be collected.
bool CachingAllocator::Collects() const {
  return options_.allowed != AllocatorConf::kUnlimited && options_.conf.garbage_collection_threshold > 0;
}

// Best fit. An expandable block counts as large as it can become, so a block of more bytes that can grow less is better.
CachingAllocator::FreeIterator CachingAllocator::BestExpandable(Pool& pool, FreeIterator it, StreamId stream) {
  const auto of_stream = [&](FreeIterator i) { return i != pool.free.end() && i->stream == stream; };
  if (!options_.conf.expandable_segments) {
    while (of_stream(it) && it->block->expandable) ++it;
    return it;
  }
  const auto room = [](const Block* b) {
    return b->size + (b->next != nullptr && !b->next->mapped ? b->next->size : 0);
  };
  for (FreeIterator next = std::next(it); it->block->expandable && of_stream(next) && room(next->block) < room(it->block);
       ++next) {
    it = next;
  }
  return it;
}

CachingAllocator::Block* CachingAllocator::FindFree(Pool& pool, Bytes size, StreamId stream) {
  if (Collects()) ++pool.lookups;
  FreeIterator it = pool.free.lower_bound({stream, size, 0, nullptr});
  if (it == pool.free.end() || it->stream != stream) return nullptr;
  if (it->block->expandable) it = BestExpandable(pool, it, stream);
  if (it == pool.free.end() || it->stream != stream) return nullptr;
  const AllocatorConf& conf = options_.conf;
  if (size < conf.max_split_size && it->size >= conf.max_split_size) return nullptr;
  if (size >= conf.max_split_size && it->size - size >= conf.max_non_split_rounding) return nullptr;
  Block* block = it->block;
  pool.free.erase(it);
  return block;
}

bool CachingAllocator::Reserve(Bytes bytes) {
  if (bytes > options_.memory - now_.reserved) return false;
  now_.reserved += bytes;
  peak_.reserved = std::max(peak_.reserved, now_.reserved);
  return true;
}

// Memory from the driver that serves `size`.
CachingAllocator::Block* CachingAllocator::NewBlocks(Pool& pool, Bytes size, StreamId stream) {
  const Bytes bytes = SegmentSize(size);
  if (bytes > options_.allowed - now_.reserved) return nullptr;
  return options_.conf.expandable_segments ? MapExpandable(pool, size, stream) : NewSegment(pool, bytes, stream);
}

CachingAllocator::Block* CachingAllocator::NewSegment(Pool& pool, Bytes size, StreamId stream) {
  if (!Reserve(size)) return nullptr;
  peak_.segments = std::max(peak_.segments, ++now_.segments);
  Block* block = MakeBlock();
  block->address = next_address_;
  block->size = size;
  block->stream = stream;
  block->small = pool.small;
  next_address_ += static_cast<uint64_t>(RoundUp(size, kRoundLarge));
  heads_.insert(block);
  return block;
}

bool CachingAllocator::ShouldSplit(const Block& block, Bytes size) const {
  const Bytes remaining = block.size - size;
  if (block.small || options_.conf.expandable_segments) return remaining >= kMinBlock;
  return size < options_.conf.max_split_size && remaining > kSmallSize;
}

// Cuts a block, which is in no pool: it keeps the front, the back is returned.
CachingAllocator::Block* CachingAllocator::Split(Block* block, Bytes at) {
  Block* back = MakeBlock();
  back->address = block->address + static_cast<uint64_t>(at);
  back->size = block->size - at;
  back->stream = block->stream;
  back->small = block->small;
  back->expandable = block->expandable;
  back->born = block->born;
  back->prev = block;
  back->next = block->next;
  if (back->next != nullptr) back->next->prev = back;
  block->next = back;
  block->size = at;
  return back;
}

CachingAllocator::Block* CachingAllocator::Take(Block* block, Bytes size, Bytes requested) {
  if (ShouldSplit(*block, size)) Insert(Split(block, size));
  block->allocated = true;
  block->requested = requested;
  now_.allocated += block->size;
  now_.active += block->size;
  now_.requested += requested;
  peak_.allocated = std::max(peak_.allocated, now_.allocated);
  peak_.active = std::max(peak_.active, now_.active);
  peak_.requested = std::max(peak_.requested, now_.requested);
  return block;
}

CachingAllocator::Block* CachingAllocator::Malloc(Bytes bytes, StreamId stream) {
  if (options_.streams_keep_up && !pending_.empty()) Synchronize();
  const Bytes size = Rounded(bytes);
  Pool& pool = size <= kSmallSize ? small_ : large_;
  Block* block = FindFree(pool, size, stream);
  if (block == nullptr) {
    if (Collects()) CollectGarbage();
    block = NewBlocks(pool, size, stream);
  }
  if (block == nullptr && ReleaseAvailable(pool, size, stream)) block = NewBlocks(pool, size, stream);
  if (block == nullptr) {
    Synchronize();
    EmptyCache();
    ++now_.retries;
    block = NewBlocks(pool, size, stream);
  }
  return block == nullptr ? nullptr : Take(block, size, bytes);
}

void CachingAllocator::Free(Block* block) {
  now_.allocated -= block->size;
  block->allocated = false;
  if (block->used_on.empty()) return ReturnToPool(block);
  block->pending = true;
  pending_.push_back(block);
}

void CachingAllocator::RecordStream(Block* block, StreamId stream) {
  if (stream == block->stream) return;
  std::vector<StreamId>& used = block->used_on;
  if (std::find(used.begin(), used.end(), stream) == used.end()) used.push_back(stream);
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

// Takes a free neighbour of the same kind into `block`, which is in no pool.
void CachingAllocator::Merge(Block* block, Block* neighbour) {
  if (neighbour == nullptr || neighbour->busy() || neighbour->mapped != block->mapped) return;
  Pool& pool = PoolOf(*block);
  (block->mapped ? (void)Remove(neighbour) : (void)pool.unmapped.erase(neighbour));
  if (neighbour == block->prev) {
    const bool head = heads_.erase(neighbour) != 0;
    block->address = neighbour->address;
    block->prev = neighbour->prev;
    if (block->prev != nullptr) block->prev->next = block;
    if (head) heads_.insert(block);
  } else {
    block->next = neighbour->next;
    if (block->next != nullptr) block->next->prev = block;
  }
  block->size += neighbour->size;
  DropBlock(neighbour);
}

void CachingAllocator::Insert(Block* block) {
  Pool& pool = PoolOf(*block);
  block->born = pool.lookups;
  pool.free.insert(KeyOf(block));
}

void CachingAllocator::ReturnToPool(Block* block) {
  now_.active -= block->size;
  now_.requested -= block->requested;
  block->requested = 0;
  Merge(block, block->prev);
  Merge(block, block->next);
  Insert(block);
}

Bytes CachingAllocator::LargestFree(StreamId stream) const {
  const auto it = large_.free.lower_bound({stream + 1, 0, 0, nullptr});
  return it == large_.free.begin() || std::prev(it)->stream != stream ? 0 : std::prev(it)->size;
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
