// What a training process holds on the device beyond the allocator's prediction, and pinned on the host: ranges with their sources.
//
// Takes: device profile, how the job is spread, Trace.  Gives: parts as low / likely / high. None of it is in PyTorch's counters but
// the convolution workspaces, which a measured max_memory_reserved has and the replayed trace has not.
#ifndef MEMCREST_MEMORY_PROCESS_H_
#define MEMCREST_MEMORY_PROCESS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "src/base/bytes.h"
#include "src/eager/trace.h"
#include "src/job/device.h"
#include "src/job/job.h"

namespace memcrest {

struct MemoryPart {
  std::string name;  // "CUDA context, kernels, handles"
  Bytes low = 0, likely = 0, high = 0;
  std::string source = "";
};

// On the device, outside of the reserved bytes that are simulated; parts of 0 bytes are left out.
std::vector<MemoryPart> ProcessParts(const Device& device, const Job& job, const Trace& trace);
// What the likely parts leave of the device.
Bytes MemoryLeft(const Device& device, absl::Span<const MemoryPart> parts);
// On the host: offloaded tensors, input batches on their way.
std::vector<MemoryPart> HostParts(const Trace& trace, Bytes offloaded);
// Communicators that a rank of the job opens: one for each group it belongs to, and the world's.
int64_t CommunicatorsOf(const Parallel& parallel);
// What cuDNN's scratch memory of convolutions adds to the reserved bytes.
MemoryPart ConvolutionWorkspace(const Trace& trace, bool channels_last);

}  // namespace memcrest

#endif  // MEMCREST_MEMORY_PROCESS_H_
