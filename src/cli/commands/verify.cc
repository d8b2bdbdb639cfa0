// memcrest verify: a memory snapshot of the user's own run beside the prediction.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/memory/snapshot.h"
#include "src/plan/simulate.h"
#include "src/report/verify.h"

namespace memcrest {
namespace {

constexpr std::uintmax_t kLargest = std::uintmax_t{2} << 30;

constexpr Option kOptions[] = {
    {"--rank", "N", "device of the snapshot to look at (0)"},
    {"-o,--output", "FILE", "write to FILE; - is standard output"},
    {"--force", "", "overwrite FILE"},
};

absl::StatusOr<std::string> WholeFile(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return ToStatus(Problem{"E0603", "the snapshot cannot be read", path, error.message(), ""});
  if (size > kLargest) {
    return ToStatus(Problem{"E0603", "the snapshot is too large", path, absl::StrCat(size, " bytes; at most 2 GiB are read"),
                            "record fewer events: _record_memory_history(max_entries=100000)"});
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

int RunVerify(const Arguments& arguments, Console& console) {
  int64_t rank = 0;
  if (!absl::SimpleAtoi(arguments.Get("rank", "0"), &rank)) {
    return Fail(ToStatus(Problem{"E0104", absl::StrCat("\"", arguments.Get("rank"), "\" is no number"), "--rank", "", ""}), console);
  }
  const absl::StatusOr<Job> job = JobOf(arguments);
  if (!job.ok()) return Fail(job.status(), console);
  const std::string& path = arguments.positional[0];
  const absl::StatusOr<std::string> bytes = WholeFile(path);
  if (!bytes.ok()) return Fail(bytes.status(), console);
  const absl::StatusOr<MeasuredMemory> measured = ReadMeasurement(*bytes, path, rank);
  if (!measured.ok()) return Fail(measured.status(), console);
  const absl::StatusOr<Report> report = Simulate(arguments.positional[1], *job);
  if (!report.ok()) return Fail(report.status(), console);
  const Verification verification = Verify(*measured, report->devices[0]);
  const std::string text = VerificationText(verification, path);
  const absl::Status written = WriteOutput(arguments.Get("output"), text, arguments.Has("force"), console);
  return written.ok() ? kFits : Fail(written, console);
}

}  // namespace

void RegisterVerify(CommandRegistry& registry) {
  registry.Add({"verify", "a memory snapshot of your own run beside the prediction", "SNAPSHOT.pickle MODEL.onnx", true, kOptions,
                RunVerify, "memcrest verify snapshot.pickle gpt2.onnx --bind batch=8,seq=1024 --precision amp-bf16"});
}

}  // namespace memcrest
