#include "src/plan/simulate.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/clock/clock.h"
#include "src/memory/account.h"
#include "src/report/build_report.h"
#include "src/report/events_csv.h"
#include "src/step/regions.h"
#include "src/step/session.h"

namespace memcrest {
namespace {

void FillSettings(const Job& job, Report& report) {
  for (const auto& [name, size] : job.bind) report.bind.emplace_back(name, size);
  report.settings.emplace_back("precision", NameOf(job.precision));
  report.settings.emplace_back("optimizer", absl::StrCat(job.optimizer, " (", NameOf(job.optimizer_impl), ")"));
  report.settings.emplace_back("loss", NameOf(job.loss));
  if (const EngineEntry* engine = Engines().Find(NameOf(job.parallel.engine)); engine != nullptr) {
    const std::string copies = job.parallel.replicate > 1 ? absl::StrCat(" x ", job.parallel.replicate) : "";
    report.settings.emplace_back("engine", absl::StrCat(engine->name, " on ", job.parallel.data, copies, " ranks"));
    if (engine->divisions != nullptr) {
      for (const Division& d : engine->divisions(job)) report.divisions.emplace_back(d.category, d.by);
    }
  }
  if (job.accumulate > 1) report.settings.emplace_back("accumulate", absl::StrCat(job.accumulate));
  if (job.checkpoint.on()) report.settings.emplace_back("checkpoint", "on");
  if (job.optimizer_in_backward) report.settings.emplace_back("optimizer_in_backward", "on");
  if (job.outputs != Outputs::kKeep) report.settings.emplace_back("outputs", NameOf(job.outputs));
  if (job.zero_grad != ZeroGrad::kAfterStep) report.settings.emplace_back("zero_grad", NameOf(job.zero_grad));
  if (!job.set_to_none) report.settings.emplace_back("set_to_none", "off");
  if (job.clip_grad.has_value()) report.settings.emplace_back("clip_grad", "on");
  if (job.ema.has_value()) report.settings.emplace_back("ema", "on");
  if (!job.freeze.empty()) report.settings.emplace_back("freeze", absl::StrJoin(job.freeze, ","));
  if (!job.train.empty()) report.settings.emplace_back("train", absl::StrJoin(job.train, ","));
  if (job.attention != Attention::kAuto) report.settings.emplace_back("attention", NameOf(job.attention));
  if (job.memory_format != MemoryFormat::kContiguous) report.settings.emplace_back("memory_format", NameOf(job.memory_format));
  if (job.allocator != Allocator::kDefault) report.settings.emplace_back("allocator", NameOf(job.allocator));
}

void FillSeconds(const StepSeconds& s, const Job& job, DeviceReport& device) {
  device.time = {s.step, s.device, s.host, s.forward, s.recompute, s.backward, s.optimizer, 0, 0};
  device.step_seconds = s.step;
  if (s.step <= 0) return;
  const double samples = static_cast<double>(BoundSize(job, "batch", 0) * job.accumulate);
  device.time.samples_per_second = samples / s.step;
  device.time.tokens_per_second = samples * static_cast<double>(BoundSize(job, "seq", 0)) / s.step;
}

// Simulates the first of `ranks` and adds what all of them have to the report.
void SimulateRanks(const BoundJob& bound, const Job& job, const Device& device, const std::vector<bool>& regions,
                   const RankClass& ranks, Report& report, const SimulateOptions& options) {
  const Network& network = *bound.program.network;
  const std::unique_ptr<Session> made = SessionOf(bound, job, device, regions, ranks.ranks[0]);
  Session& session = *made;
  Clock clock(device, session.rt().recorder());
  session.rt().observer = &clock;
  session.Run();
  const Trace& trace = session.rt().recorder().trace;
  if (options.events != nullptr) *options.events = EventsCsv(network, trace);
  const std::vector<MemoryPart> parts = ProcessParts(device, job, trace);
  AllocatorOptions allocator = AllocatorOptionsOf(job, device);
  allocator.memory = MemoryLeft(device, parts);
  const Account account = AccountFor(trace, allocator);
  const ReportSource source{network, trace, account, device, session.names(), nullptr, parts};
  report.parameter_count = session.parameter_count();
  report.trainable_count = session.trainable_count();
  report.parameter_bytes = session.parameter_bytes();
  report.devices.push_back(BuildDeviceReport(source, allocator, options.step));
  report.devices.back().ranks = ranks.ranks;
  // Collectives are not timed yet: no seconds where there are any.
  if (job.parallel.engine == Engine::kSingle) FillSeconds(clock.seconds(), job, report.devices.back());
  if (report.devices.size() == 1) report.unknown_ops = UnknownOps(source);
}

}  // namespace

absl::StatusOr<Report> Simulate(const std::string& model_path, const Job& job, const SimulateOptions& options) {
  MEMCREST_ASSIGN_OR_RETURN(const std::unique_ptr<NetworkFile> file, OpenNetwork(model_path, job));
  return Simulate(*file, job, options);
}

absl::StatusOr<Report> Simulate(const NetworkFile& file, const Job& job, const SimulateOptions& options) {
  MEMCREST_ASSIGN_OR_RETURN(const std::unique_ptr<BoundJob> bound, BindJob(file, job));
  const Network& network = file.network;
  MEMCREST_ASSIGN_OR_RETURN(const std::vector<bool> regions, CheckpointedCalls(network, job.checkpoint));
  MEMCREST_RETURN_IF_ERROR(CheckEngine(network, job));
  Report report;
  report.model_file = file.path;
  report.assumptions = network.assumptions;
  report.assumptions.insert(report.assumptions.end(), file.unrolling.begin(), file.unrolling.end());
  report.assumptions.insert(report.assumptions.end(), bound->shapes.assumptions.begin(), bound->shapes.assumptions.end());
  for (const std::string& note : file.model.notes) report.assumptions.push_back({"A0201", note, 0});
  FillSettings(job, report);
  SimulateOptions wanted = options;
  for (const RankClass& ranks : RankClasses(network, job)) {
    SimulateRanks(*bound, job, file.device, regions, ranks, report, wanted);
    wanted.events = nullptr;  // those of the first ranks
  }
  if (report.devices[0].step_seconds > 0) {
    report.assumptions.push_back({"A0801", "seconds are estimates: a roofline with the device's data sheet rates", 0});
  }
  std::stable_sort(report.devices.begin(), report.devices.end(),
                   [](const DeviceReport& a, const DeviceReport& b) { return a.process > b.process; });
  return report;
}

}  // namespace memcrest
