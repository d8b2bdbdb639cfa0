// memcrest plan: which modules to checkpoint so that a job fits.
#include <cctype>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/plan/checkpoint_plan.h"
#include "src/plan/plan_output.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"--budget", "SIZE", "reserved memory that must suffice: 40GB, 36GiB, bytes; the device's where not given"},
    {"--max-slowdown", "PERCENT", "how much longer a step may take: 20%"},
    {"--seconds", "N", "end the search after so long with the best plan found (30)"},
    {"--format", "NAME", "text (default), json, csv (the curve), python, plan"},
    {"-o,--output", "FILE", "write the answer to FILE; - is standard output"},
    {"--plan-file", "FILE", "also write the plan for --checkpoint FILE"},
    {"--python", "FILE", "also write Python to paste"},
    {"--curve", "FILE", "also write the curve of memory against time as CSV"},
    {"--force", "", "overwrite files"},
};

Problem BadNumber(const std::string& flag, const std::string& value, const char* wanted) {
  return Problem{"E0103", absl::StrCat("\"", value, "\" is not ", wanted), absl::StrCat(flag, " ", value), "", ""};
}

// "40GB" is 40 * 10^9, "40GiB" 40 * 2^30 bytes; 0 if it cannot be read.
Bytes ReadSize(absl::string_view text) {
  static constexpr std::pair<const char*, double> kUnits[] = {
      {"TiB", 1099511627776.0}, {"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0}, {"TB", 1e12},
      {"GB", 1e9},              {"MB", 1e6},           {"KB", 1e3},        {"B", 1},        {"", 1}};
  for (const auto& [unit, factor] : kUnits) {
    absl::string_view number = text;
    double value = 0;
    if (!absl::ConsumeSuffix(&number, unit)) continue;
    return absl::SimpleAtod(number, &value) && value > 0 && value * factor < 9e18 ? static_cast<Bytes>(value * factor) : 0;
  }
  return 0;
}

absl::StatusOr<PlanOptions> OptionsOf(const Arguments& a) {
  PlanOptions o;
  if (a.Has("budget") && (o.budget = ReadSize(a.Get("budget"))) <= 0) {
    return ToStatus(BadNumber("--budget", a.Get("budget"), "a size such as 40GB or 36GiB"));
  }
  if (a.Has("max-slowdown")) {
    const std::string value = a.Get("max-slowdown");
    absl::string_view text = value;
    const bool percent = absl::ConsumeSuffix(&text, "%");
    if (!absl::SimpleAtod(text, &o.max_slowdown) || o.max_slowdown < 0) {
      return ToStatus(BadNumber("--max-slowdown", value, "a share such as 20% or 0.2"));
    }
    if (percent) o.max_slowdown /= 100;
  }
  if (a.Has("seconds") && (!absl::SimpleAtod(a.Get("seconds"), &o.seconds) || o.seconds <= 0)) {
    return ToStatus(BadNumber("--seconds", a.Get("seconds"), "a number of seconds"));
  }
  return o;
}

absl::StatusOr<std::string> Rendered(const PlanReport& report, const std::string& format) {
  if (format == "text") return PlanText(report);
  if (format == "json") return PlanReportJson(report);
  if (format == "csv") return CurveCsv(report);
  if (format == "python") return PlanPython(report.plan);
  if (format == "plan") return PlanFile(report.plan);
  return ToStatus(Problem{"E0105", absl::StrCat("unknown format \"", format, "\""), absl::StrCat("--format ", format), "",
                          "one of text, json, csv, python, plan"});
}

absl::StatusOr<PlanReport> Find(const Arguments& arguments) {
  MEMCREST_ASSIGN_OR_RETURN(PlanOptions options, OptionsOf(arguments));
  MEMCREST_ASSIGN_OR_RETURN(const Job job, JobOf(arguments));
  MEMCREST_ASSIGN_OR_RETURN(const std::unique_ptr<NetworkFile> file, OpenNetwork(arguments.positional[0], job));
  if (!arguments.Has("budget")) options.budget = file->device.usable_bytes - file->device.context_bytes.likely;
  return FindPlan(*file, job, options);
}

int RunPlan(const Arguments& arguments, Console& console) {
  const absl::StatusOr<PlanReport> report = Find(arguments);
  if (!report.ok()) return Fail(report.status(), console);
  const absl::StatusOr<std::string> text = Rendered(*report, arguments.Get("format", "text"));
  if (!text.ok()) return Fail(text.status(), console);
  const std::pair<const char*, std::string> files[] = {
      {"plan-file", PlanFile(report->plan)}, {"python", PlanPython(report->plan)}, {"curve", CurveCsv(*report)}};
  for (const auto& [name, content] : files) {
    if (!arguments.Has(name)) continue;
    const absl::Status written = WriteOutput(arguments.Get(name), content, arguments.Has("force"), console);
    if (!written.ok()) return Fail(written, console);
  }
  const absl::Status written = WriteOutput(arguments.Get("output"), *text, arguments.Has("force"), console);
  if (!written.ok()) return Fail(written, console);
  return report->fits ? kFits : kDoesNotFit;
}

}  // namespace

void RegisterPlan(CommandRegistry& registry) {
  registry.Add({"plan", "which modules to checkpoint so that a job fits a budget, at the least cost in time", "MODEL.onnx", true,
                kOptions, RunPlan,
                "memcrest plan gpt2.onnx --bind batch=8,seq=1024 --budget 12GB --max-slowdown 20% --plan-file plan.json"});
}

}  // namespace memcrest
