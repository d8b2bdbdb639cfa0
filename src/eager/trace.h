// What happened in the simulated steps, in order: the one product of the virtual runtime.
//
// Consumers: memory (live bytes, allocator replay), clock, report. Sizes are as requested, not rounded.
#ifndef MEMCREST_EAGER_TRACE_H_
#define MEMCREST_EAGER_TRACE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/base/bytes.h"
#include "src/graph/network.h"

namespace memcrest {

enum class Category : uint8_t {
  kParameters, kBuffers, kInputs, kGradients, kOptimizerState, kActivations, kTemporaries, kCommunication, kWorkspace,
};
inline constexpr int kCategoryCount = 9;

// Who sees a storage. A dispatcher counts what operators return; the allocator also serves kernels' own temporaries and
// library workspaces, and never serves the out-of-place gradient sums that an active dispatcher makes autograd do.
enum class Seen : uint8_t { kBoth, kAllocatorOnly, kDispatcherOnly };
enum class Place : uint8_t { kDevice, kHost };
enum class Phase : uint8_t { kInit, kForward, kBackward, kOptimizer, kEvaluation };
inline constexpr int kPhaseCount = 5;
enum class Pass : uint8_t { kForward, kBackward, kRecompute };

using StorageId = int32_t;
using StreamId = int16_t;
// Storages that exist before the first step, by what a user calls them: (storage, "model.fc.weight").
using StorageNames = std::vector<std::pair<StorageId, std::string>>;

struct Event {
  enum class Kind : uint8_t { kAlloc, kFree, kRetag, kUseOn, kRecord, kWait, kOp, kCallIn, kCallOut, kCollective, kMark };
  Kind kind = Kind::kAlloc;
  Seen seen = Seen::kBoth;
  Category category = Category::kActivations;
  Place place = Place::kDevice;
  Phase phase = Phase::kInit;
  Pass pass = Pass::kForward;
  StreamId stream = 0;
  int16_t step = 0, micro = 0;
  StorageId storage = kNone;
  Bytes bytes = 0;
  NodeId node = kNone;
  CallId call = kNone;
  const char* op = "";  // static or registry-owned name of the kernel
};

// A named instant: "step_start", "after_forward", "after_backward", "after_optimizer", "after_zero_grad".
struct Mark {
  std::string name;
  int16_t step = 0;
  size_t event = 0;  // index of the first event after it
  Bytes live = 0;    // what a dispatcher counts at that instant, each storage rounded up to 512 bytes
};

struct Trace {
  std::vector<Event> events;
  std::vector<Mark> marks;
  int16_t steps = 0;  // the last one (steps - 1) is the steady one that is reported
};

}  // namespace memcrest

#endif  // MEMCREST_EAGER_TRACE_H_
