// PyTorch's CUDA caching allocator as an algorithm: which block serves a request, what is reserved from the driver.
//
// Takes: Malloc / Free in order, per stream.  Gives: allocated (block sizes), requested, reserved, their peaks; out of memory as
// a result. Source: c10/cuda/CUDACachingAllocator.cpp; the constants are its own. Addresses are virtual and only order blocks.
// Ignored: CUDA graphs' private pools, memory pools of the user.
#ifndef MEMCREST_MEMORY_CACHING_ALLOCATOR_H_
#define MEMCREST_MEMORY_CACHING_ALLOCATOR_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "src/base/bytes.h"
#include "src/eager/trace.h"

namespace memcrest {

struct AllocatorOptions {
  bool expandable_segments = false;
  Bytes max_split_size = std::numeric_limits<Bytes>::max();
  int64_t roundup_power2_divisions = 0;
  double garbage_collection_threshold = 0;              // of `limit`; 0: off
  Bytes limit = std::numeric_limits<Bytes>::max();      // device memory this process may reserve
  Bytes device_total = Bytes{80} << 30;                 // virtual size of an expandable segment is 1 1/8 of it
};

struct AllocatorStats {
  Bytes allocated = 0, requested = 0, reserved = 0, active = 0;
  int64_t segments = 0, retries = 0;
};

class CachingAllocator {
 public:
  struct Block;
  explicit CachingAllocator(const AllocatorOptions& options);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // The block that serves `bytes` on `stream`; nullptr: out of memory (after the cache was released and tried again).
  // Zero bytes: nullptr without failure is never returned; callers do not ask for zero.
  Block* Malloc(Bytes bytes, StreamId stream);
  void Free(Block* block);
  // The block is also used on `stream`: its end waits for that stream (record_stream).
  void RecordStream(Block* block, StreamId stream);
  // Work of all streams is done: blocks waiting for other streams become free.
  void Synchronize();
  // torch.cuda.empty_cache(): returns whole free segments to the driver.
  void EmptyCache();

  const AllocatorStats& now() const { return now_; }
  const AllocatorStats& peak() const { return peak_; }
  void ResetPeak() { peak_ = now_; }

  struct Segment {
    uint64_t address = 0;
    Bytes size = 0;
    StreamId stream = 0;
    bool small = false;
    bool expandable = false;
    Block* first = nullptr;
  };
  // Segments by address; for snapshots and the allocator view.
  std::vector<Segment> Segments() const;

  struct Block {
    uint64_t address = 0;
    Bytes size = 0, requested = 0;
    StreamId stream = 0;
    bool small = false, allocated = false, expandable = false, mapped = true, pending = false;
    int64_t age = 0;                // look-ups seen when it became free: for garbage collection
    Block* prev = nullptr;          // neighbours in the segment
    Block* next = nullptr;
    std::vector<StreamId> used_on;  // other streams
  };

 private:
  struct BySize {
    bool operator()(const Block* a, const Block* b) const {
      if (a->stream != b->stream) return a->stream < b->stream;
      if (a->size != b->size) return a->size < b->size;
      return a->address < b->address;
    }
  };
  struct ByAddress {
    bool operator()(const Block* a, const Block* b) const {
      return a->stream != b->stream ? a->stream < b->stream : a->address < b->address;
    }
  };
  struct Pool {
    std::set<Block*, BySize> free;
    std::set<Block*, ByAddress> unmapped;
    int64_t lookups = 0;
  };

  Bytes Rounded(Bytes bytes) const;
  Pool& PoolOf(bool small) { return small ? small_ : large_; }
  Block* FindFree(Pool& pool, Bytes size, StreamId stream, bool small);
  Block* NewSegment(Pool& pool, Bytes size, StreamId stream, bool small);
  Block* MapExpandable(Pool& pool, Bytes size, StreamId stream, bool small);
  Block* FindExpandable(Pool& pool, Bytes size, StreamId stream, bool small);
  Block* MapBlock(Pool& pool, Block* block, Bytes size);
  bool ReleaseAvailable(Bytes size, StreamId stream, bool small);
  void CollectGarbage(Bytes size);
  bool ShouldSplit(const Block& block, Bytes size, bool small) const;
  Block* Take(Pool& pool, Block* block, Bytes size, Bytes requested, bool small);
  void ReturnToPool(Block* block);
  void Merge(Pool& pool, Block* block, Block* neighbour);
  void ReleaseBlock(Pool& pool, Block* block);
  void ReleasePool(Pool& pool);
  void UnmapFree(Pool& pool, Block* block);
  bool Reserve(Bytes bytes);
  void Update();
  Block* NewBlock();
  void DropBlock(Block* block) { spare_.push_back(block); }

  AllocatorOptions options_;
  Pool small_, large_;
  std::vector<std::unique_ptr<Block>> owned_;
  std::vector<Block*> spare_;
  std::set<Block*, ByAddress> heads_;  // first block of each segment
  std::vector<Block*> pending_;        // freed, waiting for other streams
  uint64_t next_address_ = uint64_t{1} << 44;
  AllocatorStats now_, peak_;
};

}  // namespace memcrest

#endif  // MEMCREST_MEMORY_CACHING_ALLOCATOR_H_
