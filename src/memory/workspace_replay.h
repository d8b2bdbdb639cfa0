// The allocator replayed with scratch memory that the trace has not: what a range of it does to the reserved bytes.
//
// Takes: Trace, a kernel's scratch bytes by node.  Gives: peak of reserved. The scratch is taken when the node's result is there and
// given back at once: what matters is the segment that it leaves behind.
#ifndef MEMCREST_MEMORY_WORKSPACE_REPLAY_H_
#define MEMCREST_MEMORY_WORKSPACE_REPLAY_H_

#include <vector>

#include "src/base/bytes.h"
#include "src/eager/trace.h"

namespace memcrest {

Bytes ReservedWithScratch(const Trace& trace, const std::vector<Bytes>& scratch_by_node);

}  // namespace memcrest

#endif  // MEMCREST_MEMORY_WORKSPACE_REPLAY_H_
