// A network file opened once, and bound to a job as often as a question needs.
//
// Takes: a path, a job.  Gives: NetworkFile (read and lifted; depends on the job's device and lift options, and on its binding only
// where the file has control flow) and BoundJob (sizes and flat tables for one binding). A plan search opens once, binds once and
// runs the step many times; a search over bindings opens through PreparedModel, which opens again only where it must.
#ifndef MEMCREST_PLAN_PREPARED_H_
#define MEMCREST_PLAN_PREPARED_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/graph/network.h"
#include "src/job/device.h"
#include "src/job/job.h"
#include "src/memory/account.h"
#include "src/onnx/model.h"
#include "src/shape/shapes.h"
#include "src/step/program.h"

namespace memcrest {

class Session;  // src/step/session.h

struct NetworkFile {
  std::string path;
  Device device;
  onnx::Model model;                  // without control flow at its top: unrolled for the job's binding
  std::vector<Assumption> unrolling;
  std::vector<std::string> trips;     // symbols of the job's binding that counted trips of loops
  bool control = false;               // the file has control flow: another binding may make another network
  Network network;
};

// Errors as Simulate's.
absl::StatusOr<std::unique_ptr<NetworkFile>> OpenNetwork(const std::string& path, const Job& job);

// A file for jobs that differ. Thread-safe.
class PreparedModel {
 public:
  explicit PreparedModel(std::string path) : path_(std::move(path)) {}
  // The network for `job`: opened at the first call, and again for other lift options, devices, or (control flow) bindings.
  absl::StatusOr<std::shared_ptr<const NetworkFile>> For(const Job& job);

 private:
  std::string path_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const NetworkFile>> open_;  // by what it depends on; not files with control flow
};

struct BoundJob {
  BoundShapes shapes;
  Program program;  // refers to the file's network
  BoundShapes evaluation_shapes;
  std::optional<Program> evaluation, teacher;  // the network in evaluation mode, where the job runs it beside training
  const Program* Evaluation() const { return evaluation.has_value() ? &*evaluation : nullptr; }
  const Program* Teacher() const { return teacher.has_value() ? &*teacher : nullptr; }
};
absl::StatusOr<std::unique_ptr<BoundJob>> BindJob(const NetworkFile& file, const Job& job);
// Another job with the same binding and file; after an error `bound` must not be used.
absl::Status RebindJob(const NetworkFile& file, const Job& job, BoundJob& bound);

// The training session of one rank, not yet run. All references must outlive it.
std::unique_ptr<Session> SessionOf(const BoundJob& bound, const Job& job, const Device& device, const std::vector<bool>& regions,
                                   int64_t rank = 0);
// Without a limit but the job's own memory fraction.
AllocatorOptions AllocatorOptionsOf(const Job& job, const Device& device);

}  // namespace memcrest

#endif  // MEMCREST_PLAN_PREPARED_H_
