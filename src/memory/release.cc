// What the allocator gives back to the driver: garbage collection, single blocks for a request, the whole cache.
#include <algorithm>

#include "src/memory/caching_allocator.h"

namespace memcrest {

void CachingAllocator::ReleaseBlock(Block* block) {
  Remove(block);
  heads_.erase(block);
  now_.reserved -= block->size;
  --now_.segments;
  DropBlock(block);
}

// Blocks of expandable segments give their whole units back after all others have been looked at.
void CachingAllocator::ReleasePool(Pool& pool) {
  std::vector<Block*> whole, expandable;
  for (const BySize& key : pool.free) {
    if (key.block->expandable) expandable.push_back(key.block);
    else if (!key.block->split()) whole.push_back(key.block);
  }
  for (Block* block : whole) ReleaseBlock(block);
  for (Block* block : expandable) Unmap(block);
}

void CachingAllocator::EmptyCache() {
  Synchronize();
  ReleasePool(large_);
  ReleasePool(small_);
}

// release_available_cached_blocks: only with max_split_size; the smallest block that is large enough, else the largest ones.
bool CachingAllocator::ReleaseAvailable(Pool& pool, Bytes size, StreamId stream) {
  if (options_.conf.max_split_size == AllocatorConf::kUnlimited) return false;
  const Bytes want = std::max(size, options_.conf.max_split_size);
  const FreeIterator it = pool.free.lower_bound({stream, want, 0, nullptr});
  if (it == pool.free.end() || it->stream != stream || it->block->expandable) return ReleaseLargest(pool, it, want, stream);
  ReleaseBlock(it->block);
  return true;
}

// From the largest of the stream (just before `after`) downwards until `want` bytes are released.
bool CachingAllocator::ReleaseLargest(Pool& pool, FreeIterator after, Bytes want, StreamId stream) {
  std::vector<Block*> chosen;
  Bytes released = 0;
  while (after != pool.free.begin() && released < want) {
    --after;
    if (after->stream != stream || after->size < options_.conf.max_split_size) break;
    if (after->block->expandable) continue;
    chosen.push_back(after->block);
    released += after->size;
  }
  for (Block* block : chosen) ReleaseBlock(block);
  return released >= want;
}

// Frees whole large blocks that have not been asked for longer than the mean, until reserved is back under the threshold.
void CachingAllocator::CollectGarbage() {
  const Bytes threshold =
      static_cast<Bytes>(options_.conf.garbage_collection_threshold * static_cast<double>(options_.allowed));
  if (now_.reserved <= threshold) return;
  const auto age = [&](const Block* b) { return large_.lookups - b->born; };
  std::vector<Block*> blocks;
  int64_t total = 0, count = 0;
  for (const BySize& key : large_.free) {
    if (key.block->split()) continue;
    total += age(key.block);
    ++count;
    if (!key.block->expandable) blocks.push_back(key.block);
  }
  const Bytes target = now_.reserved - threshold;
  Bytes reclaimed = 0;
  for (bool freed = true; reclaimed < target && freed && count > 0;) {
    const double old = static_cast<double>(total) / static_cast<double>(count);
    freed = false;
    std::vector<Block*> kept;
    for (Block* b : blocks) {
      if (static_cast<double>(age(b)) < old) {
        kept.push_back(b);
        continue;
      }
      freed = true;
      reclaimed += b->size;
      total -= age(b);
      --count;
      ReleaseBlock(b);
    }
    blocks.swap(kept);
  }
}

}  // namespace memcrest
