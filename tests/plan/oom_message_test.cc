// The wordings of torch.cuda's message in its versions; figures invented, texts as c10/cuda/CUDACachingAllocator.cpp writes them.
#include "src/plan/oom_message.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

constexpr double kMiB = 1024.0 * 1024, kGiB = 1024 * kMiB;
Bytes Of(double value) { return static_cast<Bytes>(value + 0.5); }

TEST(OomMessage, IsReadAsPyTorch1And20WriteIt) {
  const auto m = FindOomMessage(
      "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 14.76 GiB total capacity; 13.56 GiB already allocated;\n"
      " 11.75 MiB free; 13.79 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb");
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->requested.bytes, Of(20 * kMiB));
  EXPECT_EQ(m->capacity->bytes, Of(14.76 * kGiB));
  EXPECT_EQ(m->allocated->bytes, Of(13.56 * kGiB));
  EXPECT_EQ(m->free->bytes, Of(11.75 * kMiB));
  EXPECT_EQ(m->unallocated->bytes, m->capacity->bytes - Of(14.76 * kGiB) + Of(13.79 * kGiB) - Of(13.56 * kGiB));
  EXPECT_FALSE(m->in_use.has_value());
  EXPECT_EQ(m->OtherProcesses(), 0);
}

TEST(OomMessage, IsReadAsOldVersionsWriteIt) {
  const auto m = FindOomMessage(
      "CUDA out of memory. Tried to allocate 512.00 MiB (GPU 1; 10.92 GiB total capacity; 8.62 GiB already allocated; "
      "1.39 GiB free; 98.00 MiB cached)");
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->free->bytes, Of(1.39 * kGiB));
  EXPECT_EQ(m->unallocated->bytes, 0);  // cached was less than allocated: it did not include it yet
}

// 2.1 writes "capacty"; 80 - 2 - 70 GiB leaves 8 to others, and process 77 holds them.
TEST(OomMessage, IsReadAsPyTorch21AndLaterWriteIt) {
  const auto m = FindOomMessage(
      "File \"x.py\", line 3, in <module>\n    optimizer.step()\n  File \"torch/optim/adamw.py\", line 1\n"
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacty of 80.00 GiB of which "
      "2.00 GiB is free. Process 77 has 8.00 GiB memory in use. Including non-PyTorch memory, this process has 70.00 GiB memory in use. "
      "20.50 GiB allowed; Of the allocated memory 60.00 GiB is allocated by PyTorch, with 1.00 GiB allocated in private pools "
      "(e.g., CUDA Graphs), and 9.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try");
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->capacity->bytes, Of(80 * kGiB));
  EXPECT_EQ(m->free->bytes, Of(2 * kGiB));
  EXPECT_EQ(m->in_use->bytes, Of(70 * kGiB));
  EXPECT_EQ(m->allocated->bytes, Of(60 * kGiB));
  EXPECT_EQ(m->unallocated->bytes, Of(9 * kGiB));
  EXPECT_EQ(m->allowed->bytes, Of(20.5 * kGiB));
  EXPECT_EQ(m->OtherProcesses(), Of(8 * kGiB));
  EXPECT_EQ(m->phase, "optimizer");
}

TEST(OomMessage, WhatIsMissingBelongsToOthers) {
  const auto m = FindOomMessage(
      "loss.backward()\n CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 2.00 GiB is free. "
      "Including non-PyTorch memory, this process has 70.00 GiB memory in use. Of the allocated memory 69.00 GiB is allocated by PyTorch, "
      "and 100.00 MiB is reserved by PyTorch but unallocated.");
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->OtherProcesses(), Of(8 * kGiB));
  EXPECT_EQ(m->phase, "backward");
}

TEST(OomMessage, OtherTextsAreNone) {
  EXPECT_FALSE(FindOomMessage("").has_value());
  EXPECT_FALSE(FindOomMessage("Tried to allocate nothing").has_value());
  EXPECT_FALSE(FindOomMessage("CUDA out of memory. Tried to allocate ").has_value());
  EXPECT_FALSE(FindOomMessage("CUDA out of memory. Tried to allocate 9e99 GiB").has_value());
}

// kSmallBuffer 2 MiB, kLargeBuffer 20 MiB, then multiples of kRoundLarge 2 MiB.
TEST(OomMessage, SegmentsAreWhatTheDriverIsAskedFor) {
  EXPECT_EQ(SegmentSize(512), Of(2 * kMiB));
  EXPECT_EQ(SegmentSize(Of(kMiB) + 512), Of(20 * kMiB));
  EXPECT_EQ(SegmentSize(Of(11 * kMiB)), Of(12 * kMiB));
}

}  // namespace
}  // namespace memcrest
