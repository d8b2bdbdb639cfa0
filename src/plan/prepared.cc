#include "src/plan/prepared.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/problem.h"
#include "src/job/allocator_conf.h"
#include "src/lift/finetune.h"
#include "src/lift/lift.h"
#include "src/onnx/expand_control.h"
#include "src/onnx/reader.h"
#include "src/plan/lift_options.h"
#include "src/shape/unroll.h"
#include "src/step/heads.h"
#include "src/step/optimizer.h"
#include "src/step/session.h"

namespace memcrest {
namespace {

Binding BindingOf(const Job& job) {
  Binding b;
  b.symbols = job.bind;
  for (const auto& [name, sizes] : job.input) b.inputs[name] = Dims(sizes.begin(), sizes.end());
  return b;
}

absl::Status CheckOptimizer(const Job& job) {
  if (Optimizers().Find(job.optimizer) != nullptr) return absl::OkStatus();
  return ToStatus(Problem{"E0502", absl::StrCat("no optimizer named '", job.optimizer, "'"), "--optimizer", "", "see `memcrest optimizers`"});
}

// Losses that run the base model and the head apart need to find them.
absl::Status CheckLoss(const Network& network, const Job& job) {
  const bool chunked = job.loss == Loss::kChunkedCrossEntropy, contrastive = job.loss == Loss::kTokenContrastive;
  if (!chunked && !contrastive) return absl::OkStatus();
  const bool found = FindBaseModel(network).hidden != kNone && (contrastive || FindHead(network).weight != kNone);
  if (found) return absl::OkStatus();
  return ToStatus(Problem{"E0503", absl::StrCat("loss ", NameOf(job.loss), " needs a base model and a head that the file tells apart"),
                          "--loss", "the first output is not made by a linear layer after the model's largest child",
                          "choose another loss"});
}

// A validation batch differs from the training one in its size alone.
absl::Status BindEvaluation(const NetworkFile& file, const Job& job, Binding binding, BoundJob& bound) {
  if (job.evaluate.has_value()) {
    if (job.evaluate->batch != 0) binding.symbols["batch"] = job.evaluate->batch;
    MEMCREST_ASSIGN_OR_RETURN(bound.evaluation_shapes, BindShapes(file.model, binding));
    bound.evaluation = MakeProgram(file.network, bound.evaluation_shapes, job, Mode::kEvaluation);
  }
  if (job.loss == Loss::kDistillation) bound.teacher = MakeProgram(file.network, bound.shapes, job, Mode::kEvaluation);
  return absl::OkStatus();
}

// The job's binding less the trip counts of loops, which the file's network has in it.
Binding BindingFor(const NetworkFile& file, const Job& job) {
  Binding binding = BindingOf(job);
  for (const std::string& name : file.trips) binding.symbols.erase(name);
  return binding;
}

// What a network without control flow depends on.
std::string KeyOf(const Job& job) {
  std::string key = absl::StrCat(job.device, "|", job.device_file, "|", absl::StrJoin(job.restore, ","), "|", absl::StrJoin(job.untie, ","));
  for (const auto& [pattern, p] : job.dropout) absl::StrAppend(&key, "|dropout ", pattern, "=", p);
  for (const auto& [from, to] : job.tie) absl::StrAppend(&key, "|tie ", from, "=", to);
  return key + FineTuningKey(job);
}

KernelDevice KernelDeviceOf(const Device& device, const Job& job) {
  KernelDevice k;
  k.sm = device.sm();
  k.multiprocessors = static_cast<int>(device.multiprocessors);
  k.cublas_workspace = device.cublas_workspace_bytes;
  k.attention = NameOf(job.attention);
  return k;
}

}  // namespace

std::unique_ptr<Session> SessionOf(const BoundJob& bound, const Job& job, const Device& device, const std::vector<bool>& regions,
                                   int64_t rank) {
  auto session = std::make_unique<Session>(bound.program, job, KernelDeviceOf(device, job), regions, rank);
  session->SetPrograms(bound.Evaluation(), bound.Teacher());
  return session;
}

AllocatorOptions AllocatorOptionsOf(const Job& job, const Device& device) {
  AllocatorOptions o;
  std::vector<Problem> refused;  // the job was validated
  o.conf = ParseAllocatorConf(job.allocator_conf, refused);
  o.conf.expandable_segments |= job.allocator == Allocator::kExpandable;
  o.ideal = job.allocator == Allocator::kIdeal;
  o.device_total = device.memory_bytes;
  if (o.conf.memory_fraction > 0) {
    o.allowed = static_cast<Bytes>(o.conf.memory_fraction * static_cast<double>(device.usable_bytes));
  }
  return o;
}

absl::StatusOr<std::unique_ptr<NetworkFile>> OpenNetwork(const std::string& path, const Job& job) {
  auto file = std::make_unique<NetworkFile>();
  file->path = path;
  MEMCREST_RETURN_IF_ERROR(CheckOptimizer(job));
  MEMCREST_ASSIGN_OR_RETURN(file->device, DeviceOf(job));
  MEMCREST_ASSIGN_OR_RETURN(onnx::Model read, onnx::ReadFile(path));
  file->control = onnx::HasControl(read);
  const Binding given = BindingOf(job);
  Binding binding = given;
  MEMCREST_ASSIGN_OR_RETURN(file->model, Unroll(std::move(read), &binding, &file->unrolling));
  for (const auto& [name, size] : given.symbols) {
    if (binding.symbols.count(name) == 0) file->trips.push_back(name);
  }
  MEMCREST_ASSIGN_OR_RETURN(file->network, Lift(file->model, LiftOptionsOf(job)));
  MEMCREST_RETURN_IF_ERROR(PrepareFineTuning(job, file->network));
  return file;
}

absl::StatusOr<std::shared_ptr<const NetworkFile>> PreparedModel::For(const Job& job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MEMCREST_RETURN_IF_ERROR(CheckOptimizer(job));
  const std::string key = KeyOf(job);
  if (const auto open = open_.find(key); open != open_.end()) return open->second;
  MEMCREST_ASSIGN_OR_RETURN(std::unique_ptr<NetworkFile> file, OpenNetwork(path_, job));
  std::shared_ptr<const NetworkFile> shared = std::move(file);
  if (!shared->control) open_[key] = shared;
  return shared;
}

absl::StatusOr<std::unique_ptr<BoundJob>> BindJob(const NetworkFile& file, const Job& job) {
  auto bound = std::make_unique<BoundJob>();
  MEMCREST_ASSIGN_OR_RETURN(bound->shapes, BindShapes(file.model, BindingFor(file, job)));
  MEMCREST_RETURN_IF_ERROR(RebindJob(file, job, *bound));
  return bound;
}

absl::Status RebindJob(const NetworkFile& file, const Job& job, BoundJob& bound) {
  MEMCREST_RETURN_IF_ERROR(CheckLoss(file.network, job));
  bound.program = MakeProgram(file.network, bound.shapes, job);
  bound.evaluation.reset();
  bound.teacher.reset();
  return BindEvaluation(file, job, BindingFor(file, job), bound);
}

}  // namespace memcrest
