// PyTorch's CUDA caching allocator as an algorithm: which block serves a request, what is reserved from the driver.
//
// Takes: Malloc / Free in order, per stream.  Gives: allocated (block sizes), requested, reserved, their peaks; out of memory as
// a result. Source: c10/cuda/CUDACachingAllocator.cpp of 2.14; the constants are its own. Addresses are virtual and only order
// blocks: a segment made later lies higher, as the allocator's own order of segments has it.
// Ignored: CUDA graphs' private pools, memory pools of the user.
#ifndef MEMCREST_MEMORY_CACHING_ALLOCATOR_H_
#define MEMCREST_MEMORY_CACHING_ALLOCATOR_H_

#include <compare>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <vector>

#include "absl/container/btree_set.h"
#include "src/base/bytes.h"
#include "src/eager/trace.h"
#include "src/job/allocator_conf.h"

namespace memcrest {

struct AllocatorOptions {
  AllocatorConf conf;
  bool ideal = false;                               // no cache: each storage takes its size, rounded to 512 bytes
  Bytes memory = std::numeric_limits<Bytes>::max();  // that the driver can give; beyond it an allocation fails
  Bytes allowed = std::numeric_limits<Bytes>::max();  // that the process allows itself (memory fraction)
  Bytes device_total = Bytes{80} << 30;             // virtual size of an expandable segment is 1 1/8 of it
  bool streams_keep_up = false;                     // other streams' work is done by the next allocation
};

struct AllocatorStats {
  Bytes allocated = 0, requested = 0, reserved = 0, active = 0;
  int64_t segments = 0, retries = 0;
};

class CachingAllocator {
 public:
  struct Block {
    uint64_t address = 0;
    Bytes size = 0, requested = 0;
    StreamId stream = 0;
    bool small = false, allocated = false, expandable = false, mapped = true, pending = false;
    int64_t born = 0;               // look-ups seen when it became free: its age, for garbage collection
    Block* prev = nullptr;          // neighbours in the segment
    Block* next = nullptr;
    std::vector<StreamId> used_on;  // other streams
    bool split() const { return prev != nullptr || next != nullptr; }
    bool busy() const { return allocated || pending || !used_on.empty(); }
  };

  explicit CachingAllocator(const AllocatorOptions& options) : options_(options) {}
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // The block that serves `bytes` (> 0) on `stream`; nullptr: out of memory, after the cache was released and tried again.
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
  // The largest free block that a request on `stream` could have.
  Bytes LargestFree(StreamId stream) const;

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

 private:
  struct BySize {
    int64_t stream = 0;
    Bytes size = 0;
    uint64_t address = 0;
    Block* block = nullptr;
    auto operator<=>(const BySize&) const = default;
  };
  struct ByAddress {
    bool operator()(const Block* a, const Block* b) const {
      return a->stream != b->stream ? a->stream < b->stream : a->address < b->address;
    }
  };
  struct Pool {
    absl::btree_set<BySize> free;
    std::set<Block*, ByAddress> unmapped;
    int64_t lookups = 0;
    bool small = false;
  };
  using FreeIterator = absl::btree_set<BySize>::iterator;

  static BySize KeyOf(Block* block) { return {block->stream, block->size, block->address, block}; }
  Bytes Rounded(Bytes bytes) const;
  Bytes SegmentSize(Bytes size) const;
  Bytes UnitOf(bool small) const;
  Pool& PoolOf(const Block& block) { return block.small ? small_ : large_; }
  bool Collects() const;
  Block* FindFree(Pool& pool, Bytes size, StreamId stream);
  FreeIterator BestExpandable(Pool& pool, FreeIterator it, StreamId stream);
  Block* NewBlocks(Pool& pool, Bytes size, StreamId stream);
  Block* NewSegment(Pool& pool, Bytes size, StreamId stream);
  bool ShouldSplit(const Block& block, Bytes size) const;
  Block* Split(Block* block, Bytes at);
  Block* Take(Block* block, Bytes size, Bytes requested);
  void Insert(Block* block);
  void Remove(Block* block) { PoolOf(*block).free.erase(KeyOf(block)); }
  void ReturnToPool(Block* block);
  void Merge(Block* block, Block* neighbour);
  bool Reserve(Bytes bytes);
  // expandable.cc
  Block* MapExpandable(Pool& pool, Bytes size, StreamId stream);
  Block* FindRange(Pool& pool, Bytes size, StreamId stream);
  Block* NewRange(Pool& pool, StreamId stream);
  bool Map(Block* block, Bytes size);
  void Unmap(Block* block);
  // release.cc
  void CollectGarbage();
  bool ReleaseAvailable(Pool& pool, Bytes size, StreamId stream);
  bool ReleaseLargest(Pool& pool, FreeIterator after, Bytes want, StreamId stream);
  void ReleasePool(Pool& pool);
  void ReleaseBlock(Block* block);

  Block* MakeBlock();
  void DropBlock(Block* block) { spare_.push_back(block); }

  AllocatorOptions options_;
  Pool small_{{}, {}, 0, true}, large_;
  std::deque<Block> blocks_;
  std::vector<Block*> spare_;
  std::set<Block*, ByAddress> heads_;  // first block of each segment
  std::vector<Block*> pending_;        // freed, waiting for other streams
  uint64_t next_address_ = uint64_t{1} << 44;
  AllocatorStats now_, peak_;
};

}  // namespace memcrest

#endif  // MEMCREST_MEMORY_CACHING_ALLOCATOR_H_
