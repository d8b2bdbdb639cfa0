// Fills the report of one device from what was simulated.
//
// Takes: Network, Trace and its Account, the device.  Gives: DeviceReport. No figures are made here but sums over modules.
#ifndef MEMCREST_REPORT_BUILD_REPORT_H_
#define MEMCREST_REPORT_BUILD_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "src/eager/trace.h"
#include "src/graph/network.h"
#include "src/job/device.h"
#include "src/memory/account.h"
#include "src/report/report.h"

namespace memcrest {

// Storages that exist before the first step, by what a user calls them: (storage, "model.fc.weight").
using StorageNames = std::vector<std::pair<StorageId, std::string>>;

struct ReportSource {
  const Network& network;
  const Trace& trace;
  const Account& account;
  const Device& device;
  const StorageNames& names;
};

DeviceReport BuildDeviceReport(const ReportSource& source, const AllocatorOptions& allocator);
// Operators without an entry, with what they hold at the peak.
std::vector<UnknownOp> UnknownOps(const ReportSource& source);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_BUILD_REPORT_H_
