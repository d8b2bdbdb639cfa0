// Lifting: from the ONNX graph to the network of framework operators; on a synthetic network and on real exports.
#include <benchmark/benchmark.h>

#include "bench/synthetic_model.h"
#include "src/lift/lift.h"
#include "src/onnx/reader.h"

namespace memcrest {
namespace {

void LiftResidual(benchmark::State& state) {
  const auto model = onnx::ReadBytes(bench::ResidualModel(state.range(0)), "synthetic");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(Lift(*model, {}));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(LiftResidual)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

void LiftExport(benchmark::State& state, const char* path) {
  const auto model = onnx::ReadFile(path);
  if (!model.ok()) return state.SkipWithError("run it in the repository's root");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(Lift(*model, {}));
}
BENCHMARK_CAPTURE(LiftExport, gpt2, "models/gpt2.onnx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(LiftExport, resnet50, "models/resnet50.onnx")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace memcrest
