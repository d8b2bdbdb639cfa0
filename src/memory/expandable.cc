// Expandable segments: one virtual range per stream and pool that physical memory is mapped into, unit by unit.
#include <algorithm>

#include "src/memory/caching_allocator.h"

namespace memcrest {

CachingAllocator::Block* CachingAllocator::NewRange(Pool& pool, StreamId stream) {
  Block* range = MakeBlock();
  range->address = next_address_;
  range->size = RoundUp(options_.device_total + options_.device_total / 8, UnitOf(pool.small));
  range->stream = stream;
  range->small = pool.small;
  range->expandable = true;
  range->mapped = false;
  next_address_ += static_cast<uint64_t>(range->size);
  heads_.insert(range);
  pool.unmapped.insert(range);
  return range;
}

// The lowest unmapped block with enough room, counting a free block before it and what follows; else a new range.
CachingAllocator::Block* CachingAllocator::FindRange(Pool& pool, Bytes size, StreamId stream) {
  const auto free = [](const Block* b) { return b != nullptr && !b->busy(); };
  Block first;
  first.stream = stream;
  for (auto it = pool.unmapped.lower_bound(&first); it != pool.unmapped.end() && (*it)->stream == stream; ++it) {
    Block* start = free((*it)->prev) ? (*it)->prev : *it;
    Bytes room = 0;
    for (const Block* b = start; free(b) && room < size; b = b->next) room += b->size;
    if (room >= size) return start;
  }
  return NewRange(pool, stream);
}

// Maps the front of an unmapped block, `size` rounded up to whole units, and joins it to free neighbours; it goes to the pool.
bool CachingAllocator::Map(Block* block, Bytes size) {
  const Bytes mapped = std::min(RoundUp(size, UnitOf(block->small)), block->size);
  if (!Reserve(mapped)) return false;
  Pool& pool = PoolOf(*block);
  pool.unmapped.erase(block);
  if (mapped < block->size) {
    Block* rest = Split(block, mapped);
    rest->mapped = false;
    pool.unmapped.insert(rest);
  }
  block->mapped = true;
  Merge(block, block->prev);
  Merge(block, block->next);
  Insert(block);
  return true;
}

CachingAllocator::Block* CachingAllocator::MapExpandable(Pool& pool, Bytes size, StreamId stream) {
  Block* block = FindRange(pool, size, stream);
  if (!block->mapped && !Map(block, std::min(size, block->size))) return nullptr;
  while (block->size < size) {
    Block* next = block->next;
    if (!Map(next, std::min(size - block->size, next->size))) return nullptr;
    block = next;  // it took the block before it in
  }
  Remove(block);
  return block;
}

// Returns the whole units inside a free block to the driver.
void CachingAllocator::Unmap(Block* block) {
  const Bytes unit = UnitOf(block->small);
  const Block* head = block;
  while (head->prev != nullptr) head = head->prev;
  const Bytes offset = static_cast<Bytes>(block->address - head->address);
  const Bytes begin = RoundUp(offset, unit) - offset;
  const Bytes end = (offset + block->size) / unit * unit - offset;
  if (end <= begin) return;
  Remove(block);
  if (end < block->size) Insert(Split(block, end));
  Block* middle = begin > 0 ? Split(block, begin) : block;
  if (begin > 0) Insert(block);
  now_.reserved -= middle->size;
  middle->mapped = false;
  Merge(middle, middle->prev);
  Merge(middle, middle->next);
  PoolOf(*middle).unmapped.insert(middle);
}

}  // namespace memcrest
