// Python frames over the execution: which function each node ran in, as instances that begin and end.
//
// Takes: per node its stack trace and its calls.  Gives: a stack of frames that follows the nodes. A frame of a
// module's forward is bound to the module's call; any other function's frame lives while consecutive nodes are reached
// through the same lines.
#ifndef MEMCREST_LIFT_FRAMES_H_
#define MEMCREST_LIFT_FRAMES_H_

#include <vector>

#include "src/graph/network.h"
#include "src/lift/source_lines.h"

namespace memcrest {

// One frame of a node's trace, and the call whose forward it is (kNone: a helper function).
struct PlacedFrame {
  SourceFrame source;
  CallId call = kNone;
};
using PlacedFrames = absl::InlinedVector<PlacedFrame, 12>;

// Finds, from the innermost outward, the frame that runs each call's forward: its file is the class's own or, for
// inherited forwards, the next function named "forward". `drop`: innermost frames that are not the node's.
PlacedFrames PlaceFrames(const Network& network, CallId call, absl::string_view trace, int drop);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FRAMES_H_
