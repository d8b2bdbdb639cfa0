// When, on the clock, an event of the trace happens: what ties the order of events to estimated seconds.
#ifndef MEMCREST_CLOCK_MOMENT_H_
#define MEMCREST_CLOCK_MOMENT_H_

#include <cstddef>

namespace memcrest {

// Work that was noted before event `event` of the trace is done `seconds` after the start of its step. Lists of moments are in
// order of events, and seconds do not fall within a step.
struct Moment {
  size_t event = 0;
  double seconds = 0;
};

}  // namespace memcrest

#endif  // MEMCREST_CLOCK_MOMENT_H_
