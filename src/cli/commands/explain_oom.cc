// memcrest explain-oom: a pasted CUDA out-of-memory message against the simulation.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/plan/explain_oom.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"-o,--output", "FILE", "write to FILE; - is standard output"},
    {"--force", "", "overwrite FILE"},
};

bool NamesDevice(const Arguments& arguments) {
  return std::any_of(arguments.job_flags.begin(), arguments.job_flags.end(),
                     [](const auto& flag) { return flag.first == "device" || flag.first == "device-file"; });
}

int RunExplainOom(const Arguments& arguments, Console& console) {
  if (arguments.positional.size() < 2) {
    return Fail(ToStatus(Problem{"E0112", "the network is missing", "command line", "", "memcrest explain-oom FILE MODEL.onnx"}), console);
  }
  const absl::StatusOr<Source> pasted = ReadSource(arguments.positional[0]);
  if (!pasted.ok()) return Fail(pasted.status(), console);
  const std::optional<OomMessage> message = FindOomMessage(pasted->text);
  if (!message.has_value()) {
    return Fail(ToStatus(Problem{"E0901", "no CUDA out-of-memory message found", arguments.positional[0],
                                 "PyTorch's begins with \"CUDA out of memory. Tried to allocate\"", "paste the whole message"}), console);
  }
  absl::StatusOr<Job> job = JobOf(arguments);
  if (!job.ok()) return Fail(job.status(), console);
  if (const auto device = DeviceOfMessage(*message, job->device); device.has_value() && !NamesDevice(arguments)) job->device = *device;
  const absl::StatusOr<OomExplanation> explanation = ExplainOom(*message, arguments.positional[1], *job);
  if (!explanation.ok()) return Fail(explanation.status(), console);
  const absl::Status written =
      WriteOutput(arguments.Get("output"), OomText(*message, *explanation), arguments.Has("force"), console);
  return written.ok() ? kFits : Fail(written, console);
}

}  // namespace

void RegisterExplainOom(CommandRegistry& registry) {
  registry.Add({"explain-oom", "a pasted CUDA out-of-memory message: its cause and the cheapest simulated remedy", "FILE MODEL.onnx", true,
                kOptions, RunExplainOom, "memcrest explain-oom error.txt gpt2.onnx --bind batch=64,seq=1024"});
}

}  // namespace memcrest
