// Fills the report of one device from what was simulated.
//
// Takes: Network, Trace and its Account, the device.  Gives: DeviceReport. No figures are made here but sums over modules.
#ifndef MEMCREST_REPORT_BUILD_REPORT_H_
#define MEMCREST_REPORT_BUILD_REPORT_H_

#include <vector>

#include "src/report/report.h"
#include "src/report/report_source.h"

namespace memcrest {

// `step`: with every storage and operator of the step (DeviceReport::step).
DeviceReport BuildDeviceReport(const ReportSource& source, const AllocatorOptions& allocator, bool step = true);
// The allocation that failed, as a user knows it; without what would have helped.
BreakReport BreakOf(const ReportSource& source, const OutOfMemory& oom);
// Operators without an entry, with what they hold at the peak.
std::vector<UnknownOp> UnknownOps(const ReportSource& source);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_BUILD_REPORT_H_
