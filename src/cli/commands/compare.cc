// memcrest compare: two reports, or two jobs of one network.
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/plan/simulate.h"
#include "src/report/compare.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"--top", "N", "modules shown (12)"},
    {"-o,--output", "FILE", "write to FILE; - is standard output"},
    {"--force", "", "overwrite FILE"},
};

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A report as it is; a job file is simulated on `model` with the flags on top.
absl::StatusOr<Digest> DigestOfFile(const std::string& path, const std::string& model, const FlagValues& flags) {
  MEMCREST_ASSIGN_OR_RETURN(const Source source, ReadSource(path));
  if (LooksLikeReport(source)) return ReadDigest(source);
  if (model.empty()) {
    return ToStatus(Problem{"E0704", "this is neither a JSON report nor a page of memcrest", path, "",
                            "for two job files name the network: memcrest compare A B MODEL.onnx"});
  }
  MEMCREST_ASSIGN_OR_RETURN(const Job job, LoadJob(path, flags));
  MEMCREST_ASSIGN_OR_RETURN(const Report report, Simulate(model, job));
  return DigestOf(report, BaseName(path));
}

int RunCompare(const Arguments& arguments, Console& console) {
  int64_t top = 12;
  if (!absl::SimpleAtoi(arguments.Get("top", "12"), &top) || top < 0) {
    return Fail(ToStatus(Problem{"E0104", absl::StrCat("\"", arguments.Get("top"), "\" is not a count"), "--top", "", ""}), console);
  }
  const std::vector<std::string>& words = arguments.positional;
  if (words.size() < 2) {
    return Fail(ToStatus(Problem{"E0112", "a second file is missing", "command line", "", "memcrest compare A B [MODEL.onnx]"}), console);
  }
  const std::string model = words.size() > 2 ? words[2] : "";
  absl::StatusOr<Digest> a = DigestOfFile(words[0], model, arguments.job_flags);
  if (!a.ok()) return Fail(a.status(), console);
  absl::StatusOr<Digest> b = DigestOfFile(words[1], model, arguments.job_flags);
  if (!b.ok()) return Fail(b.status(), console);
  if (a->name == b->name) a->name = words[0], b->name = words[1];
  const std::string text = CompareText(*a, *b, static_cast<size_t>(top));
  const absl::Status written = WriteOutput(arguments.Get("output"), text, arguments.Has("force"), console);
  return written.ok() ? kFits : Fail(written, console);
}

}  // namespace

void RegisterCompare(CommandRegistry& registry) {
  registry.Add({"compare", "what rose and what fell between two reports, or between two jobs of a network", "A B [MODEL.onnx]", true,
                kOptions, RunCompare, "memcrest compare before.json after.json"});
}

}  // namespace memcrest
