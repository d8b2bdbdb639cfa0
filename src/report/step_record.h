// The reported step storage by storage: when each is born, what it is, where the allocator puts it, when it dies.
//
// What pages and traces draw; everything else they need is in the DeviceReport. Times are events of the step, counted from its
// start; bytes are rounded up to 512 as a dispatcher count rounds them. Texts are indices into `strings`.
#ifndef MEMCREST_REPORT_STEP_RECORD_H_
#define MEMCREST_REPORT_STEP_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/bytes.h"
#include "src/eager/trace.h"

namespace memcrest {

// One storage on the device.
struct StorageLife {
  int32_t born = -1;           // event that makes it; -1: it is there when the step starts
  int32_t dies = 0;            // event that drops it; StepRecord::events: it outlives the step
  Bytes bytes = 0;
  Bytes slack = 0;             // of its allocator block beyond `bytes`
  int64_t address = -1;        // of its block, virtual; -1: the allocator does not serve it
  Category category = Category::kActivations;  // when born
  Seen seen = Seen::kBoth;
  int32_t name = 0, module = 0, op = 0;
};

struct CategoryChange {
  int32_t life = 0, event = 0;
  Category category = Category::kActivations;
};

// An operator at work, from its first event to the begin of the next span.
struct OpSpan {
  int32_t begin = 0;
  int32_t op = 0, module = 0;
  Phase phase = Phase::kForward;
  Pass pass = Pass::kForward;
  int16_t micro = 0;
  StreamId stream = 0;
};

// A segment of the allocator from `event` on: made, grown, shrunk, or given back (0 bytes). -1: at the start of the step.
struct SegmentChange {
  int32_t event = 0;
  int64_t address = 0;
  Bytes bytes = 0;
  bool small = false;
};

// Between two of them time runs evenly.
struct ClockTime {
  int32_t event = 0;
  int64_t nanoseconds = 0;  // since the start of the step; an estimate
};

struct StepRecord {
  int32_t events = 0;                  // 0: no record was kept
  std::vector<std::string> strings;    // [0] is ""
  std::vector<StorageLife> lives;      // by birth
  std::vector<CategoryChange> changes; // by event
  std::vector<OpSpan> spans;           // by begin
  std::vector<SegmentChange> segments; // by event
  std::vector<ClockTime> clock;        // by event; empty: not estimated
};

}  // namespace memcrest

#endif  // MEMCREST_REPORT_STEP_RECORD_H_
