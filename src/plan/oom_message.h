// PyTorch's CUDA out-of-memory message, read from a pasted text.
//
// Takes: any text: a log, a traceback.  Gives: the figures of its last such message, in the wordings of PyTorch 1.x, 2.0 and 2.1 on,
// and what the traceback tells of the phase. Figures have two decimals there; `Shows` compares with that precision.
// "Tried to allocate" is the size of the segment that was asked of the driver, not of the tensor
// (c10/cuda/CUDACachingAllocator.cpp, malloc: format_size(alloc_size)).
#ifndef MEMCREST_PLAN_OOM_MESSAGE_H_
#define MEMCREST_PLAN_OOM_MESSAGE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "src/base/bytes.h"

namespace memcrest {

// "1.64 GiB" as read.
struct ShownBytes {
  Bytes bytes = 0;
  Bytes precision = 0;  // what its last digit is worth
  // Whether a message would show `exact` like this.
  bool Shows(Bytes exact) const { return exact - bytes <= precision && bytes - exact <= precision; }
};

struct OomMessage {
  ShownBytes requested;
  std::optional<ShownBytes> capacity, free, allocated, unallocated, allowed;
  std::optional<ShownBytes> in_use;  // of this process, with what is outside PyTorch
  Bytes others = 0;                  // of other processes, as far as the message names them
  std::string phase;                 // from the traceback: "forward", "backward", "optimizer"; "" if it does not tell

  // What other processes hold, from named ones or from what is missing.
  Bytes OtherProcesses() const;
};

std::optional<OomMessage> FindOomMessage(absl::string_view text);

// What the allocator asks of the driver for a request that no cached block serves (get_allocation_size).
Bytes SegmentSize(Bytes request);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_OOM_MESSAGE_H_
