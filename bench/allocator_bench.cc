// The caching allocator on a training step's pattern: activations are kept through a forward, given back in a backward, with
// temporaries in between. 1,000,000 events have to take at most 0.2 s.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "src/memory/caching_allocator.h"

namespace memcrest {
namespace {

struct Step {
  int32_t id = 0;
  Bytes bytes = 0;  // 0: freed
};

// Sizes as in networks: few distinct ones, from scalars to 64 MiB.
std::vector<Step> Steps(size_t events, int32_t layers) {
  std::mt19937_64 random(7);
  std::vector<Bytes> sizes;
  for (int i = 0; i < 24; ++i) sizes.push_back(Bytes{512} << (random() % 18));
  std::vector<Step> steps;
  int32_t next = 0;
  while (steps.size() < events) {
    std::vector<int32_t> kept;
    for (int32_t layer = 0; layer < layers; ++layer) {
      const int32_t temporary = next++;
      steps.push_back({temporary, sizes[random() % sizes.size()] + 1});
      kept.push_back(next);
      steps.push_back({next++, sizes[random() % sizes.size()]});
      steps.push_back({temporary, 0});
    }
    for (; !kept.empty(); kept.pop_back()) {
      const int32_t gradient = next++;
      steps.push_back({gradient, sizes[random() % sizes.size()]});
      steps.push_back({kept.back(), 0});
      steps.push_back({gradient, 0});
    }
  }
  return steps;
}

void Replay(benchmark::State& state) {
  const std::vector<Step> steps = Steps(1'000'000, static_cast<int32_t>(state.range(0)));
  AllocatorOptions options;
  options.conf.expandable_segments = state.range(1) != 0;
  std::vector<CachingAllocator::Block*> blocks(steps.size());
  for ([[maybe_unused]] auto _ : state) {
    CachingAllocator allocator(options);
    for (const Step& s : steps) {
      CachingAllocator::Block*& block = blocks[static_cast<size_t>(s.id)];
      if (s.bytes > 0) block = allocator.Malloc(s.bytes, 0);
      else allocator.Free(block);
    }
    benchmark::DoNotOptimize(allocator.peak().reserved);
  }
}
BENCHMARK(Replay)->Args({100, 0})->Args({2000, 0})->Args({2000, 1})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace memcrest
