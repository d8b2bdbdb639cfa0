// What PYTORCH_ALLOC_CONF (PYTORCH_CUDA_ALLOC_CONF) says about the CUDA caching allocator.
//
// Takes: its text, "max_split_size_mb:128,expandable_segments:True".  Gives: AllocatorConf and every problem of the text.
// Source: c10/core/AllocatorConfig.h, c10/cuda/CUDAAllocatorConfig.cpp. Options that move no bytes (pinned memory, locks) are taken
// and ignored; backend:cudaMallocAsync is refused: it is another allocator.
#ifndef MEMCREST_JOB_ALLOCATOR_CONF_H_
#define MEMCREST_JOB_ALLOCATOR_CONF_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/base/bytes.h"
#include "src/base/problem.h"

namespace memcrest {

struct AllocatorConf {
  static constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();
  static constexpr size_t kIntervals = 16;  // sizes from 1 MiB to 64 GiB by powers of two

  bool expandable_segments = false;
  Bytes max_split_size = kUnlimited;             // blocks from this size on are never split
  Bytes max_non_split_rounding = Bytes{20} << 20;  // how much larger than the request such a block may be
  std::array<int64_t, kIntervals> roundup_power2_divisions{};  // 0: to 512 bytes
  double garbage_collection_threshold = 0;       // of the memory limit of the process; 0: off
  double memory_fraction = 0;                    // per_process_memory_fraction; 0: not set
  Bytes large_segment = Bytes{20} << 20;         // segment of requests between 1 and 10 MiB

  // The divisions of a request of this size.
  int64_t DivisionsFor(Bytes bytes) const;
};

// Adds to `problems`; what is wrong stays at its default.
AllocatorConf ParseAllocatorConf(const std::string& text, std::vector<Problem>& problems);

}  // namespace memcrest

#endif  // MEMCREST_JOB_ALLOCATOR_CONF_H_
