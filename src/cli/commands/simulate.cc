// memcrest simulate: the peak memory of a training job.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/job/nearest.h"
#include "src/plan/fit.h"
#include "src/plan/simulate.h"
#include "src/report/renderer.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"--format", "NAME", "text (default), html, json, csv, trace"},
    {"-o,--output", "FILE", "write the report to FILE; - is standard output"},
    {"--force", "", "overwrite FILE"},
    {"--events", "FILE", "also write the events of the reported step (storages made and dropped) as CSV"},
    {"--headroom", "", "also find how many more samples fit (simulates larger batches)"},
    {"--quiet", "", "text: the first line only"},
    {"--top", "N", "text: rows of each list (8)"},
    {"--by", "KEY", "text: list the peak by category, module, pattern (module paths without numbers), op or tensor"},
    {"--depth", "N", "text: levels of module paths that are told apart"},
    {"--verbose", "", "text: every module and tensor; json: every storage of the step"},
};

absl::StatusOr<const Renderer*> RendererOf(const Arguments& arguments) {
  const std::string name = arguments.Get("format", "text");
  if (const Renderer* renderer = Renderers().Find(name)) return renderer;
  std::vector<std::string> names;
  for (const Renderer& renderer : Renderers().All()) names.push_back(renderer.name);
  return ToStatus(Problem{"E0105", absl::StrCat("unknown format \"", name, "\""), absl::StrCat("--format ", name), "",
                          DidYouMean(name, names)});
}

absl::Status ReadCount(const Arguments& arguments, const std::string& name, int64_t& count) {
  const std::string text = arguments.Get(name, "0");
  if (absl::SimpleAtoi(text, &count) && count >= 0) return absl::OkStatus();
  return ToStatus(Problem{"E0104", absl::StrCat("\"", text, "\" is not a count"), absl::StrCat("--", name), "", ""});
}

absl::StatusOr<RenderOptions> RenderOptionsOf(const Arguments& arguments) {
  RenderOptions options;
  options.verbose = arguments.Has("verbose");
  MEMCREST_RETURN_IF_ERROR(ReadCount(arguments, "top", options.top));
  MEMCREST_RETURN_IF_ERROR(ReadCount(arguments, "depth", options.depth));
  if (!arguments.Has("by")) return options;
  options.by = ByNamed(arguments.Get("by"));
  if (options.by.has_value()) return options;
  const std::vector<std::string> names(std::begin(kByNames), std::end(kByNames));
  return ToStatus(Problem{"E0105", absl::StrCat("unknown key \"", arguments.Get("by"), "\""), "--by",
                          absl::StrCat("the keys are ", absl::StrJoin(names, ", ")), DidYouMean(arguments.Get("by"), names)});
}

// What a user would try next, most promising first.
std::vector<std::string> NextCommands(const Report& report, const Job& job, const Arguments& arguments) {
  const std::string inspect = absl::StrCat("memcrest inspect ", arguments.positional[0]);
  if (report.fits()) return {inspect};
  std::vector<std::string> next;
  const bool optimizer_peak = !report.devices.empty() && report.devices[0].peak.phase == "optimizer";
  if (optimizer_peak && job.optimizer_impl == OptimizerImpl::kForeach) {
    next.push_back(absl::StrCat(arguments.command_line, " --optimizer-impl fused"));
  } else if (!job.checkpoint.on()) {
    next.push_back(absl::StrCat(arguments.command_line, " --checkpoint all-blocks"));
  }
  if (const int64_t batch = BoundSize(job, "batch", 0); batch > 1) {
    next.push_back(absl::StrCat(arguments.command_line, " --bind batch=", batch / 2));
  }
  next.push_back(inspect);
  return next;
}

// How many more samples fit; nothing is said where no batch is bound.
void FindHeadroom(const std::string& path, const Job& job, Report& report) {
  const auto batch = job.bind.find("batch");
  if (batch == job.bind.end() || !report.fits()) return;
  const absl::StatusOr<Fit> fit = LargestThatFits(path, job, "batch", 0, {});
  if (fit.ok() && fit->size >= batch->second) report.headroom = Headroom{"batch", batch->second, fit->size, fit->bounded};
}

// The first line of a text.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n') + 1); }

int RunSimulate(const Arguments& arguments, Console& console) {
  const absl::StatusOr<const Renderer*> renderer = RendererOf(arguments);
  if (!renderer.ok()) return Fail(renderer.status(), console);
  absl::StatusOr<RenderOptions> options = RenderOptionsOf(arguments);
  if (!options.ok()) return Fail(options.status(), console);
  const absl::StatusOr<Job> job = JobOf(arguments);
  if (!job.ok()) return Fail(job.status(), console);
  std::string events;
  absl::StatusOr<Report> report = Simulate(
      arguments.positional[0], *job, {arguments.Has("events") ? &events : nullptr, NeedsStep(**renderer, *options)});
  if (!report.ok()) return Fail(report.status(), console);
  if (arguments.Has("events")) {
    const absl::Status kept = WriteOutput(arguments.Get("events"), events, arguments.Has("force"), console);
    if (!kept.ok()) return Fail(kept, console);
  }
  if (arguments.Has("headroom")) FindHeadroom(arguments.positional[0], *job, *report);
  report->next = NextCommands(*report, *job, arguments);

  const std::string path = arguments.Get("output");
  options->color = console.color && (path.empty() || path == "-");
  std::string text = (*renderer)->render(*report, *options);
  if (arguments.Has("quiet") && (*renderer)->name == absl::string_view("text")) text = FirstLine(text);
  const absl::Status written = WriteOutput(path, text, arguments.Has("force"), console);
  if (!written.ok()) return Fail(written, console);
  return report->fits() ? kFits : kDoesNotFit;
}

}  // namespace

void RegisterSimulate(CommandRegistry& registry) {
  registry.Add({"simulate", "the peak memory of a training job, when it is reached and what fills it", "MODEL.onnx",
                true, kOptions, RunSimulate,
                "memcrest simulate gpt2.onnx --bind batch=8,seq=1024 --precision amp-bf16 --device a100-80gb"});
}

}  // namespace memcrest
