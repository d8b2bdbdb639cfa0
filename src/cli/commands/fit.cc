// memcrest fit: the largest batch, sequence or other dimension that fits the device.
#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/numbers.h"
#include "src/cli/output.h"
#include "src/plan/fit_text.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"--vary", "NAME", "the dimension to enlarge: batch (default), seq, or any name that --bind takes"},
    {"--headroom", "PERCENT", "share of the device's capacity to keep free (10)"},
    {"--multiple", "N", "try only multiples of N (1)"},
    {"--most", "N", "try nothing larger than N (1048576)"},
    {"--format", "NAME", "text (default), json"},
    {"-o,--output", "FILE", "write to FILE; - is standard output"},
    {"--force", "", "overwrite FILE"},
    {"--quiet", "", "text: the first line only"},
};

struct Request {
  std::string symbol, format;
  double headroom = 0.1;
  FitOptions options;
};

absl::StatusOr<Request> RequestOf(const Arguments& arguments) {
  Request r;
  std::vector<Problem> problems;
  r.symbol = arguments.Get("vary", "batch");
  r.format = arguments.Get("format", "text");
  ReadShare(arguments, "headroom", r.headroom, problems);
  ReadCount(arguments, "multiple", 1, r.options.multiple, problems);
  ReadCount(arguments, "most", 1, r.options.most, problems);
  if (r.format != "text" && r.format != "json") {
    problems.push_back({"E0105", absl::StrCat("unknown format \"", r.format, "\""), absl::StrCat("--format ", r.format), "",
                        "text or json"});
  }
  MEMCREST_RETURN_IF_ERROR(ToStatus(problems));
  return r;
}

int RunFit(const Arguments& arguments, Console& console) {
  const absl::StatusOr<Request> request = RequestOf(arguments);
  if (!request.ok()) return Fail(request.status(), console);
  const absl::StatusOr<Job> job = JobOf(arguments);
  if (!job.ok()) return Fail(job.status(), console);
  const absl::StatusOr<Fit> fit =
      LargestThatFits(arguments.positional[0], *job, request->symbol, request->headroom, request->options);
  if (!fit.ok()) return Fail(fit.status(), console);
  const FitHeading heading{arguments.positional[0], request->symbol, job->device, request->headroom};
  std::string text = request->format == "json" ? FitJson(heading, *fit) : FitText(heading, *fit);
  if (arguments.Has("quiet") && request->format == "text") text = text.substr(0, text.find('\n') + 1);
  const absl::Status written = WriteOutput(arguments.Get("output"), text, arguments.Has("force"), console);
  if (!written.ok()) return Fail(written, console);
  return fit->size > 0 ? kFits : kDoesNotFit;
}

}  // namespace

void RegisterFit(CommandRegistry& registry) {
  registry.Add({"fit", "the largest batch, sequence or other dimension that fits the device", "MODEL.onnx", true, kOptions,
                RunFit, "memcrest fit gpt2.onnx --vary batch --bind seq=1024 --precision amp-bf16 --device a100-80gb"});
}

}  // namespace memcrest
