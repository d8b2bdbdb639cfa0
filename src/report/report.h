// The result of a simulation as one plain struct: what every renderer reads, and all that it reads.
//
// Made by plan (Simulate); exact integers, decided order. Units: bytes unless the name says otherwise.
// Three numbers, never mixed: allocated (live tensors in allocator blocks), reserved (the allocator's segments),
// process (with context, libraries, communicators: nvidia-smi). tensor_bytes: storages that a dispatcher sees, each
// rounded up to 512.
#ifndef MEMCREST_REPORT_REPORT_H_
#define MEMCREST_REPORT_REPORT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/bytes.h"
#include "src/base/problem.h"
#include "src/eager/trace.h"
#include "src/memory/process.h"
#include "src/report/step_record.h"

namespace memcrest {

using CategoryBytes = std::array<Bytes, kCategoryCount>;  // by Category

struct LiveBytes {
  Bytes allocated = 0;
  Bytes tensor = 0;
};

struct NamedLive {  // of a phase (its peak) or a mark (the bytes at that instant)
  std::string name;
  LiveBytes live;
};

struct PeakReport {
  LiveBytes live;
  std::string phase;           // "forward", "backward", "optimizer", "evaluation"
  std::string op, module;      // where it stands; module "" outside of calls
  CategoryBytes by_category{};  // of tensor bytes
  int64_t event = 0;            // logical time: events of the reported step
};

// A module's share of the tensor bytes alive at the peak; modules do not overlap.
struct ModuleRow {
  std::string module;
  Bytes bytes = 0;
  int64_t tensors = 0;
};

// One storage alive at the peak.
struct TensorRow {
  std::string name;    // "model.wte.weight", "output of gelu"
  std::string module;  // where it was made
  std::string op;      // what made it
  Bytes bytes = 0;
  Category category = Category::kActivations;
  std::string born_phase;
};

struct TimelineSample {
  int64_t event = 0;  // logical time: events of the reported step
  std::string phase;
  CategoryBytes by_category{};  // of tensor bytes
};

// Where the job breaks with the device's memory as limit.
struct BreakReport {
  std::string phase, op, module;
  std::string tensor;           // what it asked for: "output of gelu"
  Bytes requested = 0, allocated = 0;
  Bytes reserved = 0;           // of which reserved - allocated was cached, in pieces
  Bytes largest_free = 0;       // the largest of them
  std::vector<std::string> helps;  // settings of the allocator with which it runs
};

// Estimates of the reported step, in seconds; passes are busy time of the device. Rates are 0 where the job binds no batch or seq.
struct TimeReport {
  double step = 0, device = 0, host = 0;
  double forward = 0, recompute = 0, backward = 0, optimizer = 0;
  double samples_per_second = 0, tokens_per_second = 0;
};

struct DeviceReport {
  std::vector<int64_t> ranks;  // that have these figures
  std::string device;          // "h100-80gb"
  Bytes capacity = 0;          // what all processes on it can have
  PeakReport peak;
  Bytes reserved = 0, requested = 0;
  Bytes ideal_reserved = 0;    // no allocator can reserve less; reserved - ideal_reserved is lost to fragmentation
  Bytes process = 0;           // reserved + likely process parts
  std::vector<MemoryPart> process_parts;  // beyond the simulated reserved bytes
  bool fits = true;
  std::optional<BreakReport> breaks;
  double step_seconds = 0;     // an estimate; 0: none
  TimeReport time;
  Bytes host = 0;              // offloaded, at its peak
  std::vector<MemoryPart> host_parts;  // pinned on the host
  std::vector<NamedLive> phases;  // in order: forward, backward, optimizer, ...
  std::vector<NamedLive> marks;   // in order: step_start, after_forward, ...
  std::vector<ModuleRow> top_modules;  // largest first
  std::vector<TensorRow> top_tensors;  // largest first
  std::vector<TimelineSample> timeline;
  StepRecord step;                     // what pages and traces draw; large: JSON has it only where asked for
};

struct UnknownOp {
  std::string op;
  int64_t count = 0;
  Bytes bytes = 0;  // that it saves and makes, at the peak
};

// How far the batch can grow.
struct Headroom {
  std::string symbol;        // "batch"
  int64_t bound = 0;         // as simulated
  int64_t largest = 0;       // found to fit, by simulation
  bool exact = false;        // one more was found not to fit
};

struct Report {
  std::string model_file;
  int64_t parameter_count = 0, trainable_count = 0;
  Bytes parameter_bytes = 0, buffer_bytes = 0;
  std::vector<std::pair<std::string, int64_t>> bind;           // what was bound, as used
  std::vector<std::pair<std::string, std::string>>
      settings;  // settings of the job worth a line: precision, optimizer ...
  std::vector<DeviceReport> devices;                           // at least one; the fullest first
  std::vector<Assumption> assumptions;
  std::vector<UnknownOp> unknown_ops;                          // most bytes first
  std::vector<std::pair<Category, std::string>> divisions;     // of sharded jobs: what divides a category of memory
  std::optional<Headroom> headroom;                            // where it was asked for
  std::vector<std::string> next;                               // commands to type next

  bool fits() const;  // on every device
};

}  // namespace memcrest

#endif  // MEMCREST_REPORT_REPORT_H_
