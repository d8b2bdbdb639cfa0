// A user's own measurement: what torch.cuda.memory._dump_snapshot or memory_stats wrote.
//
// Takes: the bytes of a pickle, or JSON of memory_stats.  Gives: MeasuredMemory: the allocations in order with their sizes and Python
// frames, what was live and reserved at each, peaks. Nothing of the file is executed (base/pickle.h).
#ifndef MEMCREST_MEMORY_SNAPSHOT_H_
#define MEMCREST_MEMORY_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/bytes.h"

namespace memcrest {

struct MeasuredAllocation {
  Bytes bytes = 0;    // as requested
  Bytes live = 0;     // after it: all that is allocated, each rounded up to 512
  Bytes reserved = 0;
  std::string where;  // "train.py:12 forward", the innermost frame of a Python file; empty if none was recorded
};

struct MeasuredMemory {
  bool has_trace = false;  // false: peaks only
  std::vector<MeasuredAllocation> allocations;
  Bytes peak_allocated = 0, peak_reserved = 0;  // of all that was recorded
};

// E0601, E0602: no snapshot. `name` is said in problems; `device` chooses one of several.
absl::StatusOr<MeasuredMemory> ReadMeasurement(const std::string& bytes, const std::string& name, int64_t device = 0);

// The last repetition of a trace that repeats: [begin, end) of its allocations, and how many like it came before.
struct MeasuredStep {
  size_t begin = 0, end = 0;
  int64_t repeats = 0;  // 0: nothing repeats, all allocations are one step
};
MeasuredStep LastStep(const std::vector<MeasuredAllocation>& allocations);

}  // namespace memcrest

#endif  // MEMCREST_MEMORY_SNAPSHOT_H_
