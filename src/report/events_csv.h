// The events of the reported step as CSV: one line for each storage that is made or dropped, in order.
//
// Columns: id, bytes (+ made, - dropped, rounded up to 512), op, phase, seen (both, allocator, dispatcher), module.
#ifndef MEMCREST_REPORT_EVENTS_CSV_H_
#define MEMCREST_REPORT_EVENTS_CSV_H_

#include <string>

#include "src/eager/trace.h"
#include "src/graph/network.h"

namespace memcrest {

std::string EventsCsv(const Network& network, const Trace& trace);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_EVENTS_CSV_H_
