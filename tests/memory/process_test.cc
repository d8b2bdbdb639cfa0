#include "src/memory/process.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

Event& Add(Trace& trace, Event::Kind kind, StorageId storage, Bytes bytes, Pass pass) {
  Event& e = trace.events.emplace_back();
  e.kind = kind;
  e.storage = storage;
  e.bytes = bytes;
  e.pass = pass;
  e.op = "convolution";
  e.node = 0;
  return e;
}

// y of 8 MiB in forward; gradients of x (4) and w (1) in backward: 13 MiB together.
Trace OneConvolution() {
  Trace trace;
  trace.steps = 1;
  Add(trace, Event::Kind::kAlloc, 0, 8 * kMiB, Pass::kForward);
  Add(trace, Event::Kind::kAlloc, 1, 4 * kMiB, Pass::kBackward);
  Add(trace, Event::Kind::kAlloc, 2, 1 * kMiB, Pass::kBackward);
  return trace;
}

// y, dx and dw share one segment of 20 MiB; 13 MiB of scratch get one of 14, 26 MiB one of 26.
TEST(Process, ConvolutionsMayTakeTheirTensorsOnceMore) {
  const MemoryPart part = ConvolutionWorkspace(OneConvolution(), false);
  EXPECT_EQ(part.low, 0);
  EXPECT_EQ(part.likely, 14 * kMiB);
  EXPECT_EQ(part.high, 26 * kMiB);
}

TEST(Process, ChannelsLastNeedsNoConversion) {
  const MemoryPart part = ConvolutionWorkspace(OneConvolution(), true);
  EXPECT_EQ(part.likely, 0);
  EXPECT_EQ(part.high, 14 * kMiB);
}

TEST(Process, AWorkspaceThatTheCacheCanServeCostsNothing) {
  Trace trace;
  trace.steps = 1;
  Add(trace, Event::Kind::kAlloc, 3, 100 * kMiB, Pass::kForward).op = "mm";
  Add(trace, Event::Kind::kFree, 3, 100 * kMiB, Pass::kForward).op = "mm";
  for (Event& e : trace.events) e.node = 1;
  const Trace convolution = OneConvolution();
  trace.events.insert(trace.events.end(), convolution.events.begin(), convolution.events.end());
  EXPECT_EQ(ConvolutionWorkspace(trace, false).high, 0);
}

TEST(Process, CommunicatorsFollowTheGroups) {
  Parallel p;
  EXPECT_EQ(CommunicatorsOf(p), 0);
  p.data = 8;
  EXPECT_EQ(CommunicatorsOf(p), 1);
  p.tensor = 2;
  EXPECT_EQ(CommunicatorsOf(p), 3);  // data, tensor, world
}

TEST(Process, PartsAreRangesWithSources) {
  Device device;
  device.memory_bytes = 100 * kMiB;
  device.usable_bytes = 90 * kMiB;
  device.context_bytes = {1 * kMiB, 2 * kMiB, 3 * kMiB};
  Job job;
  job.parallel.data = 2;
  const std::vector<MemoryPart> parts = ProcessParts(device, job, OneConvolution());
  ASSERT_EQ(parts.size(), 4u);
  for (const MemoryPart& p : parts) {
    EXPECT_LE(p.low, p.likely) << p.name;
    EXPECT_LE(p.likely, p.high) << p.name;
    EXPECT_FALSE(p.source.empty()) << p.name;
  }
  EXPECT_EQ(MemoryLeft(device, {parts[0]}), 88 * kMiB);
}

TEST(Process, PinnedBatchesArePowersOfTwo) {
  Trace trace;
  Event& e = trace.events.emplace_back();
  e.kind = Event::Kind::kAlloc;
  e.category = Category::kInputs;
  e.bytes = 5 * kMiB;
  const std::vector<MemoryPart> parts = HostParts(trace, 7 * kMiB);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].likely, 7 * kMiB);
  EXPECT_EQ(parts[1].low, 0);
  EXPECT_EQ(parts[1].likely, 8 * kMiB);
}

}  // namespace
}  // namespace memcrest
