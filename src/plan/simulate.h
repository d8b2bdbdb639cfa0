// The whole chain: from a network file and a job to the report.
//
// Takes: the path of an ONNX file, a validated job.  Gives: Report, with the device of the job.
// Errors: InvalidArgument holding every Problem of the stage that refused (exit code 2); Internal is our bug (exit code 3).
// Not fitting is a result (Report::fits), not an error. Prints nothing.
#ifndef MEMCREST_PLAN_SIMULATE_H_
#define MEMCREST_PLAN_SIMULATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "src/job/job.h"
#include "src/plan/prepared.h"
#include "src/report/report.h"

namespace memcrest {

struct SimulateOptions {
  std::string* events = nullptr;  // where to put the events of the reported step as CSV (report/events_csv.h); null: not wanted
  bool step = true;               // fill DeviceReport::step
};

absl::StatusOr<Report> Simulate(const std::string& model_path, const Job& job, const SimulateOptions& options = {});
// The same on a file that is open for this job (prepared.h).
absl::StatusOr<Report> Simulate(const NetworkFile& file, const Job& job, const SimulateOptions& options = {});

}  // namespace memcrest

#endif  // MEMCREST_PLAN_SIMULATE_H_
