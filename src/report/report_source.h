// What a device's report is made from, and how its storages are called.
//
// Takes: Network, Trace, Account.  Gives: names and modules as a PyTorch user knows them.
#ifndef MEMCREST_REPORT_REPORT_SOURCE_H_
#define MEMCREST_REPORT_REPORT_SOURCE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "src/clock/moment.h"
#include "src/eager/trace.h"
#include "src/graph/network.h"
#include "src/job/device.h"
#include "src/memory/account.h"
#include "src/memory/process.h"

namespace memcrest {

struct ReportSource {
  const Network& network;
  const Trace& trace;
  const Account& account;
  const Device& device;
  const StorageNames& names;
  const std::vector<Moment>* moments = nullptr;  // of the reported step, where its seconds are estimated
  absl::Span<const MemoryPart> process_parts = {};
};

// Index of the first event of the reported step.
size_t FirstEvent(const ReportSource& source);
// "model.layers.0.mlp" of where the step was; "" outside of calls.
std::string ModuleOf(const ReportSource& source, const Event& event);
// The operator under ATen's name: entries that stand for one of its ways to run have names of their own.
const char* OpName(const Event& event);
// "model.wte.weight", "output of gelu".
std::string StorageName(const ReportSource& source, StorageId storage, Category category, const Event& born);
// The module of a named storage is its owner's (parameters, buffers, optimizer state), of all others the one that made it.
std::string StorageModule(const ReportSource& source, Category category, const Event& born, const std::string& name);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_REPORT_SOURCE_H_
