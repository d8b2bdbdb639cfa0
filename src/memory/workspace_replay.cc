#include "src/memory/workspace_replay.h"

#include "src/memory/caching_allocator.h"

namespace memcrest {

Bytes ReservedWithScratch(const Trace& trace, const std::vector<Bytes>& scratch_by_node) {
  CachingAllocator allocator{AllocatorOptions{}};
  std::vector<CachingAllocator::Block*> blocks;
  for (const Event& e : trace.events) {
    if (e.place != Place::kDevice || e.storage == kNone) continue;
    const size_t id = static_cast<size_t>(e.storage);
    if (blocks.size() <= id) blocks.resize(id + 1);
    if (e.kind == Event::Kind::kFree) allocator.Free(blocks[id]);
    if (e.kind != Event::Kind::kAlloc) continue;
    blocks[id] = allocator.Malloc(e.bytes, e.stream);
    const size_t node = e.node == kNone ? scratch_by_node.size() : static_cast<size_t>(e.node);
    const Bytes scratch = node < scratch_by_node.size() && e.seen == Seen::kBoth ? scratch_by_node[node] : 0;
    if (scratch > 0) allocator.Free(allocator.Malloc(scratch, e.stream));
  }
  return allocator.peak().reserved;
}

}  // namespace memcrest
