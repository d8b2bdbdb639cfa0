// From a trace to figures: what lives when, what the allocator reserves, where the peak is and what it is made of.
//
// Takes: Trace, allocator options.  Gives: Account of the last (steady) step. tensor bytes: storages a dispatcher sees, each
// rounded up to 512 bytes; allocated: blocks of the caching allocator, with workspaces and hidden temporaries; reserved: its
// segments. The allocator may have a memory limit: where the job breaks at it, that is told, and the figures are those of a run
// without limit. Work of other streams is done at the next wait between streams or mark of the step.
#ifndef MEMCREST_MEMORY_ACCOUNT_H_
#define MEMCREST_MEMORY_ACCOUNT_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "src/eager/trace.h"
#include "src/memory/caching_allocator.h"

namespace memcrest {

struct Figures {
  Bytes tensor = 0, allocated = 0;
};

// One storage alive at the peak.
struct LiveStorage {
  StorageId storage = kNone;
  Bytes bytes = 0;  // as requested
  Category category = Category::kActivations;
  size_t born = 0;  // index of its allocation event
};

struct AccountedMark {
  std::string name;
  Figures live;
};

struct Sample {  // the curve: live bytes after an event
  size_t event = 0;
  std::array<Bytes, kCategoryCount> by_category{};
};

// Where the allocator put a storage.
struct AccountedBlock {
  int64_t address = -1;  // virtual; -1: not served
  Bytes bytes = 0;       // the block's
};

// A segment is `bytes` large from `event` on; 0: given back to the driver.
struct AccountedSegment {
  size_t event = 0;  // the first ones stand for all that was before the reported step
  int64_t address = 0;
  Bytes bytes = 0;
  bool small = false;
};

// Where the job breaks.
struct OutOfMemory {
  size_t event = 0;  // the allocation that failed
  Bytes requested = 0, allocated = 0, reserved = 0;
  Bytes largest_free = 0;  // largest cached block that the request could have had
};

struct Account {
  std::array<Figures, kPhaseCount> phases{};     // peaks inside each phase, the largest over micro-batches
  std::array<bool, kPhaseCount> phase_seen{};
  std::vector<AccountedMark> marks;
  Figures peak;                                  // both maxima of the step; they may stand at different events
  size_t peak_event = 0;                         // event of the largest tensor sum
  std::array<Bytes, kCategoryCount> by_category{};  // of tensors at peak_event, rounded storages
  std::vector<LiveStorage> live;                 // at peak_event, largest first
  Bytes reserved = 0, requested = 0;             // peaks of the step
  Bytes ideal_reserved = 0;                      // peak of all storages rounded to 512: no allocator can reserve less
  int64_t retries = 0;                           // times that the cache was given back to make room
  std::optional<OutOfMemory> breaks;             // at the allocator's limit
  Bytes host = 0;                                // pinned or offloaded bytes, peak
  std::vector<AccountedBlock> blocks;            // by StorageId
  std::vector<AccountedSegment> segments;        // of the last step, by event
  std::vector<Sample> curve;                     // of the last step, at every local maximum
};

Account AccountFor(const Trace& trace, const AllocatorOptions& allocator);

// Where the job breaks under these options; nullopt: it runs.
std::optional<OutOfMemory> FindOutOfMemory(const Trace& trace, const AllocatorOptions& allocator);

struct AllocatorRemedy {
  std::string setting;  // "expandable_segments:True"
  bool runs = false;    // with it the job does not break
};
// Settings of the allocator that might help where it breaks, each tried. `ideal` last: without it nothing can.
std::vector<AllocatorRemedy> TryRemedies(const Trace& trace, const AllocatorOptions& allocator);

const char* NameOf(Category category);
const char* NameOf(Phase phase);

}  // namespace memcrest

#endif  // MEMCREST_MEMORY_ACCOUNT_H_
