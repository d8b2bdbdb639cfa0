// Reading a model's bytes into onnx::Model, and binding its sizes.
#include <benchmark/benchmark.h>

#include "bench/synthetic_model.h"
#include "src/onnx/reader.h"
#include "src/shape/shapes.h"

namespace memcrest {
namespace {

void Read(benchmark::State& state) {
  const std::string bytes = bench::ResidualModel(state.range(0));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(onnx::ReadBytes(bytes, "synthetic"));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(Read)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

void Bind(benchmark::State& state) {
  const auto model = onnx::ReadBytes(bench::ResidualModel(state.range(0)), "synthetic");
  const Binding binding{{{"N", 8}}, {}};
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(BindShapes(*model, binding));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(Bind)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

}  // namespace
}  // namespace memcrest
