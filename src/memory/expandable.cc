// Expandable segments: one virtual range per stream and pool that physical memory is mapped into, unit by unit.
#include <algorithm>

#include "src/memory/caching_allocator.h"

namespace memcrest {
namespace {

constexpr Bytes kSmallUnit = 2 << 20;
constexpr Bytes kLargeUnit = 20 << 20;

Bytes UnitOf(bool small) { return small ? kSmallUnit : kLargeUnit; }

}  // namespace

// An unmapped block with enough room, counting a free mapped block before it and what follows; a fresh range if there is none.
CachingAllocator::Block* CachingAllocator::FindExpandable(Pool& pool, Bytes size, StreamId stream, bool small) {
  const auto allocatable = [](const Block* b) { return b != nullptr && !b->allocated && !b->pending; };
  for (Block* block : pool.unmapped) {
    if (block->stream != stream) continue;
    Block* start = allocatable(block->prev) && block->prev->mapped ? block->prev : block;
    Bytes room = 0;
    for (const Block* b = start; allocatable(b) && room < size; b = b->next) room += b->size;
    if (room >= size) return start;
  }
  Block* range = NewBlock();
  range->address = next_address_;
  range->size = RoundUp(options_.device_total + options_.device_total / 8, UnitOf(small));
  range->stream = stream;
  range->small = small;
  range->expandable = true;
  range->mapped = false;
  next_address_ += static_cast<uint64_t>(range->size);
  ++now_.segments;
  heads_.insert(range);
  pool.unmapped.insert(range);
  return range;
}

// Maps the front of an unmapped block, `size` rounded up to whole units; the mapped part is returned out of every pool.
CachingAllocator::Block* CachingAllocator::MapBlock(Pool& pool, Block* block, Bytes size) {
  const Bytes mapped = std::min(RoundUp(size, UnitOf(block->small)), block->size);
  if (!Reserve(mapped)) return nullptr;
  pool.unmapped.erase(block);
  if (mapped < block->size) {
    Block* rest = NewBlock();
    rest->address = block->address + static_cast<uint64_t>(mapped);
    rest->size = block->size - mapped;
    rest->stream = block->stream;
    rest->small = block->small;
    rest->expandable = true;
    rest->mapped = false;
    rest->prev = block;
    rest->next = block->next;
    if (rest->next != nullptr) rest->next->prev = rest;
    block->next = rest;
    block->size = mapped;
    pool.unmapped.insert(rest);
  }
  block->mapped = true;
  return block;
}

CachingAllocator::Block* CachingAllocator::MapExpandable(Pool& pool, Bytes size, StreamId stream, bool small) {
  Block* block = FindExpandable(pool, size, stream, small);
  if (!block->mapped) {
    block = MapBlock(pool, block, std::min(size, block->size));
    if (block == nullptr) return nullptr;
  } else {
    pool.free.erase(block);
  }
  while (block->size < size) {
    Block* next = block->next;
    if (next->mapped) {
      pool.free.erase(next);
    } else if (MapBlock(pool, next, std::min(size - block->size, next->size)) == nullptr) {
      pool.free.insert(block);
      return nullptr;
    }
    block->size += next->size;
    block->next = next->next;
    if (block->next != nullptr) block->next->prev = block;
    DropBlock(next);
  }
  return block;
}

// Returns the whole units inside a free block to the driver.
void CachingAllocator::UnmapFree(Pool& pool, Block* block) {
  const Bytes unit = UnitOf(block->small);
  Block* head = block;
  while (head->prev != nullptr) head = head->prev;
  const Bytes offset = static_cast<Bytes>(block->address - head->address);
  const Bytes begin = RoundUp(offset, unit) - offset;
  const Bytes end = (offset + block->size) / unit * unit - offset;
  if (end <= begin) return;
  pool.free.erase(block);
  const auto cut = [&](Block* from, Bytes at) {  // splits `from`, returning the back part
    Block* back = NewBlock();
    back->address = from->address + static_cast<uint64_t>(at);
    back->size = from->size - at;
    back->stream = from->stream;
    back->small = from->small;
    back->expandable = true;
    back->prev = from;
    back->next = from->next;
    if (back->next != nullptr) back->next->prev = back;
    from->next = back;
    from->size = at;
    return back;
  };
  Block* middle = block;
  if (end < block->size) pool.free.insert(cut(block, end));
  if (begin > 0) {
    middle = cut(block, begin);
    pool.free.insert(block);
  }
  now_.reserved -= middle->size;
  middle->mapped = false;
  Merge(pool, middle, middle->prev);
  Merge(pool, middle, middle->next);
  pool.unmapped.insert(middle);
}

}  // namespace memcrest
