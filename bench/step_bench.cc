// Three training steps on the virtual runtime, and the whole chain from a file to the report.
#include <benchmark/benchmark.h>

#include <fstream>

#include "bench/synthetic_model.h"
#include "src/lift/lift.h"
#include "src/onnx/reader.h"
#include "src/plan/simulate.h"
#include "src/shape/shapes.h"
#include "src/step/program.h"
#include "src/step/session.h"

namespace memcrest {
namespace {

Job JobOf() {
  Job job;
  job.bind["N"] = 8;
  job.loss = Loss::kMse;
  return job;
}

void Steps(benchmark::State& state) {
  const Job job = JobOf();
  const auto model = onnx::ReadBytes(bench::ResidualModel(state.range(0)), "synthetic");
  const auto shapes = BindShapes(*model, {job.bind, {}});
  const auto network = Lift(*model, {});
  const Program program = MakeProgram(*network, *shapes, job);
  for ([[maybe_unused]] auto _ : state) {
    Session session(program, job, KernelDevice(), {});
    session.Run();
    benchmark::DoNotOptimize(session.rt().recorder().trace.events.size());
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(Steps)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

void WholeChain(benchmark::State& state) {
  const std::string path = "memcrest_bench.onnx";  // in the working directory
  const std::string bytes = bench::ResidualModel(state.range(0));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const Job job = JobOf();
  for ([[maybe_unused]] auto _ : state) {
    const auto report = Simulate(path, job);
    if (!report.ok()) return state.SkipWithError(std::string(report.status().message()).c_str());
    benchmark::DoNotOptimize(report);
  }
  state.SetComplexityN(state.range(0));
  std::remove(path.c_str());
}
BENCHMARK(WholeChain)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

}  // namespace
}  // namespace memcrest
