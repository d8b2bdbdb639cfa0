// memcrest sweep: one job under every combination of some settings.
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/cli/command.h"
#include "src/cli/numbers.h"
#include "src/cli/output.h"
#include "src/plan/sweep_rows.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"--vary", "NAME=VALUES", "an axis: a job flag or a dimension; may be given several times"},
    {"--headroom", "PERCENT", "share of the device's capacity to keep free (10)"},
    {"--threads", "N", "threads (as many as the machine has)"},
    {"--shard", "I/N", "only every N-th setting, from the I-th (0 to N-1): for array jobs"},
    {"--format", "NAME", "text (default), csv, json"},
    {"--rows", "FILE", "keep the rows in FILE as CSV as they are made; rows it already has are not simulated again"},
    {"--merge", "FILE,...", "take rows from these files as well: what --rows of the shards wrote"},
    {"-o,--output", "FILE", "write to FILE; - is standard output"},
    {"--force", "", "overwrite FILE of --output"},
};

struct Request {
  SweepQuestion question;
  SweepOptions options;
  std::string format, run;
};

void ReadShard(const Arguments& arguments, SweepOptions& options, std::vector<Problem>& problems) {
  if (!arguments.Has("shard")) return;
  const std::string text = arguments.Get("shard");
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('/', 1));
  const bool numbers = absl::SimpleAtoi(parts.first, &options.shard) && absl::SimpleAtoi(parts.second, &options.shards);
  if (numbers && options.shard >= 0 && options.shards > options.shard) return;
  problems.push_back({"E0104", absl::StrCat("\"", text, "\" is not a shard"), absl::StrCat("--shard ", text),
                      "I/N: the I-th of N, from 0 to N-1", "--shard 0/8"});
}

absl::StatusOr<Request> RequestOf(const Arguments& arguments) {
  Request r;
  std::vector<Problem> problems;
  r.question.model_path = arguments.positional[0];
  r.question.job_file = arguments.Get("job");
  r.question.flags = arguments.job_flags;
  r.options.headroom = 0.1;
  int64_t threads = 0;
  ReadShare(arguments, "headroom", r.options.headroom, problems);
  ReadCount(arguments, "threads", 1, threads, problems);
  r.options.threads = static_cast<int>(std::min<int64_t>(threads, 1024));
  ReadShard(arguments, r.options, problems);
  r.format = arguments.Get("format", "text");
  if (r.format != "text" && r.format != "csv" && r.format != "json") {
    problems.push_back({"E0105", absl::StrCat("unknown format \"", r.format, "\""), absl::StrCat("--format ", r.format), "",
                        "text, csv or json"});
  }
  MEMCREST_RETURN_IF_ERROR(ToStatus(problems));
  const auto axes = arguments.repeated.find("vary");
  if (axes == arguments.repeated.end()) {
    return ToStatus(Problem{"E0911", "nothing varies", "command line", "", "--vary batch=1,2,4..64"});
  }
  for (const std::string& text : axes->second) {
    MEMCREST_ASSIGN_OR_RETURN(Axis axis, ParseAxis(text));
    r.question.axes.push_back(std::move(axis));
  }
  MEMCREST_ASSIGN_OR_RETURN(r.run, RunOf(r.question, r.options.headroom));
  return r;
}

using Rows = std::map<int64_t, SweepRow>;

// The rows of a file; none if there is no such file and it need not exist.
absl::Status Collect(const Request& r, const std::string& path, bool must_exist, Rows& rows) {
  const std::ifstream in(path, std::ios::binary);
  if (!in) {
    if (!must_exist) return absl::OkStatus();
    return ToStatus(Problem{"E0108", "the file cannot be read", path, "", "check the path"});
  }
  std::stringstream text;
  text << in.rdbuf();
  MEMCREST_ASSIGN_OR_RETURN(Rows found, ReadCsv(path, text.str(), r.question.axes, r.run));
  rows.merge(found);
  return absl::OkStatus();
}

// The file of --rows: written anew with the rows it had (a line that was cut off goes), then a line for each new one.
class RowsFile {
 public:
  absl::Status Open(const Request& r, const std::string& path, const Rows& rows) {
    out_.open(path, std::ios::binary | std::ios::trunc);
    out_ << CsvHeader(r.question.axes);
    for (const auto& [index, row] : rows) out_ << CsvRow(row, r.run);
    out_.flush();
    if (out_) return absl::OkStatus();
    return ToStatus(Problem{"E0702", "the file cannot be written", path, "", "check the folder and its permissions"});
  }
  void Add(const SweepRow& row, const std::string& run) {
    if (out_.is_open()) out_ << CsvRow(row, run) << std::flush;
  }

 private:
  std::ofstream out_;
};

std::string Rendered(const Request& r, const Rows& rows) {
  if (r.format == "text") return SweepTable(r.question.axes, rows);
  if (r.format == "json") return SweepJson(r.question, r.options.headroom, rows);
  std::string text = CsvHeader(r.question.axes);
  for (const auto& [index, row] : rows) absl::StrAppend(&text, CsvRow(row, r.run));
  return text;
}

absl::Status Run(const Request& r, const Arguments& arguments, Rows& rows) {
  MEMCREST_ASSIGN_OR_RETURN(const int64_t count, CountSettings(r.question.axes));
  static_cast<void>(count);
  RowsFile file;
  if (arguments.Has("rows")) {
    MEMCREST_RETURN_IF_ERROR(Collect(r, arguments.Get("rows"), false, rows));
    MEMCREST_RETURN_IF_ERROR(file.Open(r, arguments.Get("rows"), rows));
  }
  if (arguments.Has("merge")) {
    for (const std::string& path : std::vector<std::string>(absl::StrSplit(arguments.Get("merge"), ','))) {
      MEMCREST_RETURN_IF_ERROR(Collect(r, path, true, rows));
    }
  }
  std::set<int64_t> have;
  for (const auto& [index, row] : rows) have.insert(index);
  return Sweep(r.question, r.options, have, [&](SweepRow row) {
    file.Add(row, r.run);
    rows[row.index] = std::move(row);
  });
}

int RunSweep(const Arguments& arguments, Console& console) {
  const absl::StatusOr<Request> request = RequestOf(arguments);
  if (!request.ok()) return Fail(request.status(), console);
  Rows rows;
  const absl::Status done = Run(*request, arguments, rows);
  if (!done.ok()) return Fail(done, console);
  const absl::Status written = WriteOutput(arguments.Get("output"), Rendered(*request, rows), arguments.Has("force"), console);
  if (!written.ok()) return Fail(written, console);
  for (const auto& [index, row] : rows) {
    if (row.refused.empty() && row.outcome.fits) return kFits;
  }
  return rows.empty() ? kFits : kDoesNotFit;
}

}  // namespace

void RegisterSweep(CommandRegistry& registry) {
  registry.Add({"sweep", "a table over settings: every combination of the values of some axes", "MODEL.onnx", true, kOptions, RunSweep,
                "memcrest sweep gpt2.onnx --bind seq=1024 --vary batch=1,2,4..64 --vary precision=fp32,amp-bf16"
                " --vary checkpoint=none,all-blocks"});
}

}  // namespace memcrest
