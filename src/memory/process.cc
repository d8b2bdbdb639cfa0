#include "src/memory/process.h"

#include <algorithm>
#include <bit>

#include "src/memory/workspace_replay.h"

namespace memcrest {
namespace {

// nccl/src/init.cc, src/include/device.h: buffers of one connection, protocols LL, LL128 and simple, default sizes.
constexpr Bytes kConnection = 524288 + 4915200 + 4194304;
// A ring has one receiving connection a channel. Channels: 2 over a single slow link, 16 over NVLink; 32 with a tree beside the ring.
constexpr int64_t kFewChannels = 2, kChannels = 16, kManyConnections = 64;

MemoryPart Context(const Device& device) {
  const ContextBytes& c = device.context_bytes;
  return {"CUDA context, kernels, handles", c.low, c.likely, c.high, "device profile"};
}

MemoryPart Nccl(const Parallel& parallel) {
  const Bytes n = CommunicatorsOf(parallel) * kConnection;
  return {"NCCL buffers", n * kFewChannels, n * kChannels, n * kManyConnections,
          "nccl src/init.cc: 9.19 MiB a connection, 2 to 64 connections a communicator"};
}

// What the driver keeps of the memory that the card has: nvidia-smi of some drivers counts it as used.
MemoryPart Driver(const Device& device) {
  return {"driver's reserve", 0, 0, device.memory_bytes - device.usable_bytes, "device profile: memory_bytes - usable_bytes"};
}

// Sizes of one convolution's tensors, as far as the trace shows them.
struct Convolution {
  Bytes output = 0, gradients = 0;  // made by forward; by backward (input and weight)
  Bytes all() const { return output + gradients; }
};

bool IsConvolution(const Event& e) { return e.node != kNone && std::string_view(e.op) == "convolution"; }

std::vector<Convolution> Convolutions(const Trace& trace) {
  std::vector<Convolution> all;
  for (const Event& e : trace.events) {
    if (e.kind != Event::Kind::kAlloc || e.step != trace.steps - 1 || !IsConvolution(e) || e.seen != Seen::kBoth) continue;
    const size_t node = static_cast<size_t>(e.node);
    if (all.size() <= node) all.resize(node + 1);
    // Micro-batches repeat the same sizes.
    if (e.pass == Pass::kForward) all[node].output = std::max(all[node].output, e.bytes);
    else if (e.micro == 0 && e.pass == Pass::kBackward) all[node].gradients += e.bytes;
  }
  return all;
}

}  // namespace

int64_t CommunicatorsOf(const Parallel& p) {
  int64_t groups = 0;
  for (const int64_t ranks : {p.data, p.tensor, p.pipeline, p.context, p.expert, p.replicate}) groups += ranks > 1 ? 1 : 0;
  return groups > 1 ? groups + 1 : groups;  // the world's own beside them
}

// Tensor cores want channels last: cuDNN converts a channels-first convolution's x, w and y in its workspace (likely). Which
// algorithm it takes, and so the rest, is its own choice: published totals of ResNet-50 and VGG-16 leave up to as much again (high).
MemoryPart ConvolutionWorkspace(const Trace& trace, bool channels_last) {
  MemoryPart part{"cuDNN convolution workspaces", 0, 0, 0, "channels-last copies of x, w and y; the algorithm is cuDNN's choice"};
  const std::vector<Convolution> convolutions = Convolutions(trace);
  if (convolutions.empty()) return part;
  std::vector<Bytes> scratch(convolutions.size());
  const Bytes without = ReservedWithScratch(trace, scratch);
  const auto with = [&](Bytes times) {
    for (size_t i = 0; i < scratch.size(); ++i) scratch[i] = times * convolutions[i].all();
    return std::max<Bytes>(ReservedWithScratch(trace, scratch) - without, 0);
  };
  part.likely = channels_last ? 0 : with(1);
  part.high = std::max(part.likely, channels_last ? with(1) : with(2));
  return part;
}

std::vector<MemoryPart> ProcessParts(const Device& device, const Job& job, const Trace& trace) {
  std::vector<MemoryPart> parts = {Context(device), Nccl(job.parallel), Driver(device),
                                   ConvolutionWorkspace(trace, job.memory_format == MemoryFormat::kChannelsLast)};
  parts.erase(std::remove_if(parts.begin(), parts.end(), [](const MemoryPart& p) { return p.high == 0; }), parts.end());
  return parts;
}

Bytes MemoryLeft(const Device& device, absl::Span<const MemoryPart> parts) {
  Bytes left = device.usable_bytes;
  for (const MemoryPart& part : parts) left -= part.likely;
  return left;
}

std::vector<MemoryPart> HostParts(const Trace& trace, Bytes offloaded) {
  Bytes batch = 0;  // the pinned allocator rounds to powers of two (CachingHostAllocator)
  for (const Event& e : trace.events) {
    if (e.kind == Event::Kind::kAlloc && e.category == Category::kInputs && e.place == Place::kDevice) {
      batch += static_cast<Bytes>(std::bit_ceil(static_cast<uint64_t>(e.bytes)));
    }
  }
  std::vector<MemoryPart> parts;
  if (offloaded > 0) parts.push_back({"offloaded tensors", offloaded, offloaded, offloaded, "trace"});
  if (batch > 0) {
    parts.push_back({"pinned input batches", 0, batch, 9 * batch,
                     "none without pin_memory; one in use; 4 workers with prefetch_factor 2"});
  }
  return parts;
}

}  // namespace memcrest
