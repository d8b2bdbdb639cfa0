#include "src/plan/simulate.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/job/device.h"
#include "src/lift/lift.h"
#include "src/memory/account.h"
#include "src/onnx/reader.h"
#include "src/ops/reduce_scratch.h"
#include "src/report/build_report.h"
#include "src/report/events_csv.h"
#include "src/shape/shapes.h"
#include "src/shape/unroll.h"
#include "src/step/optimizer.h"
#include "src/step/program.h"
#include "src/step/regions.h"
#include "src/step/session.h"

namespace memcrest {
namespace {

LiftOptions LiftOptionsOf(const Job& job) {
  LiftOptions o;
  const auto restores = [&](const char* what) {
    return std::find(job.restore.begin(), job.restore.end(), what) != job.restore.end();
  };
  o.restore_batch_norm = restores("batchnorm");
  o.restore_dropout = restores("dropout");
  o.dropout.assign(job.dropout.begin(), job.dropout.end());
  for (const auto& [from, to] : job.tie) o.tie.push_back(absl::StrCat(from, "=", to));
  o.untie = job.untie;
  return o;
}

Binding BindingOf(const Job& job) {
  Binding b;
  b.symbols = job.bind;
  for (const auto& [name, sizes] : job.input) b.inputs[name] = Dims(sizes.begin(), sizes.end());
  return b;
}

KernelDevice KernelDeviceOf(const Device& device, const Job& job) {
  KernelDevice k;
  k.sm = device.sm();
  k.multiprocessors = static_cast<int>(device.multiprocessors);
  k.cublas_workspace = device.cublas_workspace_bytes;
  k.attention = NameOf(job.attention);
  return k;
}

AllocatorOptions AllocatorOptionsOf(const Job& job, const Device& device) {
  AllocatorOptions o;
  o.expandable_segments = job.allocator == Allocator::kExpandable;
  o.device_total = device.memory_bytes;
  return o;
}

void FillSettings(const Job& job, Report& report) {
  for (const auto& [name, size] : job.bind) report.bind.emplace_back(name, size);
  report.settings.emplace_back("precision", NameOf(job.precision));
  report.settings.emplace_back("optimizer", absl::StrCat(job.optimizer, " (", NameOf(job.optimizer_impl), ")"));
  report.settings.emplace_back("loss", NameOf(job.loss));
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

}  // namespace

absl::StatusOr<Report> Simulate(const std::string& model_path, const Job& job, std::string* events) {
  MEMCREST_ASSIGN_OR_RETURN(const Device device, DeviceOf(job));
  if (Optimizers().Find(job.optimizer) == nullptr) {
    return ToStatus(Problem{"E0502", absl::StrCat("no optimizer named '", job.optimizer, "'"), "--optimizer", "", "see `memcrest optimizers`"});
  }
  MEMCREST_ASSIGN_OR_RETURN(onnx::Model read, onnx::ReadFile(model_path));
  Binding binding = BindingOf(job);
  std::vector<Assumption> unrolling;
  MEMCREST_ASSIGN_OR_RETURN(const onnx::Model model, Unroll(std::move(read), &binding, &unrolling));
  MEMCREST_ASSIGN_OR_RETURN(const BoundShapes shapes, BindShapes(model, binding));
  MEMCREST_ASSIGN_OR_RETURN(const Network network, Lift(model, LiftOptionsOf(job)));
  MEMCREST_ASSIGN_OR_RETURN(std::vector<bool> regions, CheckpointedCalls(network, job.checkpoint));
  const Program program = MakeProgram(network, shapes, job);
  Session session(program, job, KernelDeviceOf(device, job), std::move(regions));
  session.rt().reduction_scratch = &SumScratch;
  session.Run();

  const Trace& trace = session.rt().recorder().trace;
  if (events != nullptr) *events = EventsCsv(network, trace);
  const AllocatorOptions allocator = AllocatorOptionsOf(job, device);
  const Account account = AccountFor(trace, allocator);
  const ReportSource source{network, trace, account, device, session.names()};
  Report report;
  report.model_file = model_path;
  report.parameter_count = session.parameter_count();
  report.trainable_count = session.trainable_count();
  report.parameter_bytes = session.parameter_bytes();
  report.assumptions = network.assumptions;
  report.assumptions.insert(report.assumptions.end(), unrolling.begin(), unrolling.end());
  report.assumptions.insert(report.assumptions.end(), shapes.assumptions.begin(), shapes.assumptions.end());
  for (const std::string& note : model.notes) report.assumptions.push_back({"A0201", note, 0});
  FillSettings(job, report);
  report.devices.push_back(BuildDeviceReport(source, allocator));
  report.unknown_ops = UnknownOps(source);
  return report;
}

}  // namespace memcrest
