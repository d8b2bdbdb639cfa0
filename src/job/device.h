// Device profiles: what a simulation needs to know of an accelerator.
//
// Takes: models/devices/*.textproto, embedded at build time, or a file of the user's.  Gives: Device.
// Every number has its source in the profile; a profile that lacks one is refused (E0111).
#ifndef MEMCREST_JOB_DEVICE_H_
#define MEMCREST_JOB_DEVICE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/base/bytes.h"
#include "src/job/job.h"

namespace memcrest {

struct PeakTflops {  // dense, tensor cores where the type has them; 0: none
  double fp64 = 0, fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0, fp4 = 0, int8 = 0;
};

struct Link {
  std::string name;
  double gb_per_second = 0;  // one way, 10^9 bytes
};

// What the process holds outside the allocator.
struct ContextBytes {
  Bytes low = 0, likely = 0, high = 0;
};

struct Device {
  std::string name;     // "h100-80gb"
  std::string product;
  Bytes memory_bytes = 0;  // the total that nvidia-smi shows
  Bytes usable_bytes = 0;  // total_memory in PyTorch: what all processes can have
  std::string compute_capability;  // "9.0"
  int64_t multiprocessors = 0;
  double bandwidth_gb_per_second = 0;
  PeakTflops peak_tflops;
  std::vector<Link> link;  // fastest first
  Bytes cublas_workspace_bytes = 0;
  ContextBytes context_bytes;
  std::vector<std::string> source;

  int sm() const;  // compute capability x 10: 90
};

// All embedded profiles, sorted by name: (name, text).
absl::Span<const std::pair<const char*, const char*>> EmbeddedDevices();

// E0110 with the nearest name if unknown.
absl::StatusOr<Device> FindDevice(const std::string& name);
// From the text of a profile; `name` is said in problems.
absl::StatusOr<Device> ParseDevice(const std::string& name, const std::string& text);
// The device of a job: device_file where given, else device.
absl::StatusOr<Device> DeviceOf(const Job& job);

}  // namespace memcrest

#endif  // MEMCREST_JOB_DEVICE_H_
