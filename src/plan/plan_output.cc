#include "src/plan/plan_output.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/report/json_writer.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

bool IsNumber(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "0-3,7"
std::string Runs(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    absl::StrAppend(&text, text.empty() ? "" : ",", numbers[i], j > i ? absl::StrCat("-", numbers[j]) : "");
    i = j + 1;
  }
  return text;
}

std::string NameOfPlan(const Plan& p) {
  if (!p.name.empty()) return p.name;
  return absl::StrCat(p.modules.size(), p.modules.size() == 1 ? " module" : " modules");
}

std::string Percent(double share) { return absl::StrFormat("%+.1f %%", 100 * share); }

std::string CurveTable(const PlanReport& report) {
  TextTable table("lrrrl");
  table.Row({"", "reserved", "step", "slower by", "checkpointed"});
  for (const Plan& p : report.curve) {
    const bool chosen = p.result.reserved == report.plan.result.reserved && p.modules == report.plan.modules;
    table.Row({chosen ? ">" : "", HumanBytes(p.result.reserved), absl::StrFormat("%.4g s", p.result.seconds.step),
               Percent(p.slowdown), NameOfPlan(p)});
  }
  return table.Text();
}

std::string PolicyText(const SavePolicy& policy) {
  if (policy.empty()) return "";
  std::vector<std::string> ops;
  for (const std::string& op : policy.save) {
    const auto every = policy.every.find(op);
    ops.push_back(every == policy.every.end() ? op : absl::StrCat(op, " (1 of ", every->second, ")"));
  }
  return absl::StrCat("  keeping the results of ", absl::StrJoin(ops, ", "), "\n");
}

std::string Modules(const Plan& plan) {
  if (plan.modules.empty()) return "  nothing: the job fits without\n";
  std::string text;
  for (const std::string& line : Summary(plan.modules)) absl::StrAppend(&text, "  ", line, "\n");
  return text + PolicyText(plan.policy);
}

void WritePlan(JsonWriter& w, const Plan& p) {
  w.Text("name", NameOfPlan(p));
  w.Number("reserved_bytes", p.result.reserved);
  w.Number("allocated_bytes", p.result.allocated);
  w.Number("tensor_bytes", p.result.live);
  w.Seconds("step_seconds", p.result.seconds.step);
  w.Seconds("recompute_seconds", p.result.seconds.recompute);
  w.Seconds("slowdown", p.slowdown);
  w.Open('[', "modules");
  for (const std::string& m : p.modules) w.Text("", m);
  w.Close();
}

void WritePolicy(JsonWriter& w, const SavePolicy& policy) {
  w.Open('{', "policy");
  w.Open('[', "save");
  for (const std::string& op : policy.save) w.Text("", op);
  w.Close();
  w.Open('{', "every", true);
  for (const auto& [op, n] : policy.every) w.Number(op, n);
  w.Close();
  w.Close();
}

}  // namespace

std::vector<std::string> Summary(const std::vector<std::string>& modules) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;  // pattern with "\1" for the number
  for (const std::string& path : modules) {
    std::vector<std::string> parts = absl::StrSplit(path, '.');
    int number = -1;
    for (std::string& part : parts) {
      if (number >= 0 || !IsNumber(part)) continue;
      number = std::stoi(part);
      part = "\1";
    }
    const std::string pattern = absl::StrJoin(parts, ".");
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == pattern; });
    if (known != groups.end()) {
      known->second.push_back(number);
    } else {
      groups.emplace_back(pattern, std::vector<int>{number});
    }
  }
  std::vector<std::string> lines;
  for (const auto& [pattern, numbers] : groups) {
    const size_t hole = pattern.find('\1');
    if (hole == std::string::npos) {
      lines.push_back(pattern);
      continue;
    }
    const std::string runs = Runs(numbers), mark = numbers.size() > 1 ? absl::StrCat("[", runs, "]") : runs;
    std::string line = absl::StrCat(pattern.substr(0, hole), mark, pattern.substr(hole + 1));
    if (numbers.size() > 1) absl::StrAppend(&line, "  (", numbers.size(), ")");
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string PlanText(const PlanReport& r) {
  const bool limited = r.budget < std::numeric_limits<Bytes>::max();
  std::string text;
  const std::string what = r.plan.modules.empty() ? "without checkpointing" : absl::StrCat("checkpointing ", NameOfPlan(r.plan));
  if (r.fits) {
    text = absl::StrCat("reserved ", HumanBytes(r.plan.result.reserved), limited ? absl::StrCat(" of ", HumanBytes(r.budget)) : "",
                        " ", what, ": fits, a step is ", absl::StrFormat("%.1f %%", 100 * r.plan.slowdown), " slower\n");
  } else {
    text = absl::StrCat("no plan fits ", HumanBytes(r.budget), ": at least ", HumanBytes(r.floor.result.reserved),
                        " are reserved, ", Percent(r.floor.slowdown), " time\n");
  }
  absl::StrAppend(&text, "\ncheckpoint\n", Modules(r.plan));
  absl::StrAppend(&text, "\nleast memory for each step time (seconds are estimates)\n", CurveTable(r));
  absl::StrAppend(&text, "\nno plan is below ", HumanBytes(r.floor.result.reserved), ": the peak then stands in ", r.floor_reason, "\n");
  if (r.batch_norms) {
    absl::StrAppend(&text, "\nbatch norms inside update their running statistics twice a step; set their momentum to 1 - sqrt(1 - m)\n");
  }
  if (!r.complete) absl::StrAppend(&text, "\nthe time limit ended the search: the best plan so far is shown\n");
  if (!r.remedies.empty()) absl::StrAppend(&text, "\nwhat would help, with this plan\n");
  TextTable table("rrl", 2, kListWidth);  // flags must not be cut
  for (const Relief& m : r.remedies) {
    table.Row({HumanBytes(m.reserved), absl::StrFormat("%.4g s", m.step_seconds), absl::StrCat(m.flag, ": ", m.what)});
  }
  return text + table.Text();
}

std::string PlanFile(const Plan& plan) {
  JsonWriter w;
  w.Open('{');
  w.Open('[', "modules");
  for (const std::string& m : plan.modules) w.Text("", m);
  w.Close();
  if (!plan.policy.empty()) WritePolicy(w, plan.policy);
  w.Close();
  return w.Finish();
}

std::string PlanPython(const Plan& plan) {
  std::string text = "# Made by memcrest plan: paste after building `model`, whose modules have the names of the export.\n";
  absl::StrAppend(&text, "import functools\nfrom torch.utils.checkpoint import checkpoint",
                  plan.policy.empty() ? "" : ", CheckpointPolicy, create_selective_checkpoint_contexts", "\n");
  if (!plan.policy.empty()) {
    absl::StrAppend(&text, "import collections, torch\n\nKEEP = {");
    for (const std::string& op : plan.policy.save) {
      const auto every = plan.policy.every.find(op);
      absl::StrAppend(&text, "\n    \"", op, "\": ", every == plan.policy.every.end() ? 1 : every->second, ",");
    }
    absl::StrAppend(&text,
                    "\n}  # operator: every n-th call is kept\n\n"
                    "def contexts():\n"
                    "    calls = collections.Counter()\n"
                    "    def policy(ctx, op, *args, **kwargs):\n"
                    "        name = str(op).rsplit(\".\", 1)[0]\n"
                    "        if name not in KEEP: return CheckpointPolicy.PREFER_RECOMPUTE\n"
                    "        calls[ctx.is_recompute, name] += 1\n"
                    "        kept = (calls[ctx.is_recompute, name] - 1) % KEEP[name] == 0\n"
                    "        return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE\n"
                    "    return create_selective_checkpoint_contexts(policy)\n");
  }
  absl::StrAppend(&text, "\nCHECKPOINTED = [");
  for (const std::string& m : plan.modules) absl::StrAppend(&text, "\n    \"", m, "\",");
  absl::StrAppend(&text, plan.modules.empty() ? "]\n" : "\n]\n", "\nfor name in CHECKPOINTED:\n    module = model.get_submodule(name)\n",
                  "    module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False",
                  plan.policy.empty() ? "" : ", context_fn=contexts", ")\n");
  return text;
}

std::string CurveCsv(const PlanReport& report) {
  std::string text = "reserved_bytes,tensor_bytes,step_seconds,recompute_seconds,slowdown,modules\n";
  for (const Plan& p : report.curve) {
    const StepSeconds& s = p.result.seconds;
    absl::StrAppend(&text, p.result.reserved, ",", p.result.live, ",", absl::StrFormat("%.9g,%.9g,%.6f", s.step, s.recompute, p.slowdown), ",",
                    absl::StrJoin(p.modules, " "), "\n");
  }
  return text;
}

std::string PlanReportJson(const PlanReport& r) {
  JsonWriter w;
  w.Open('{');
  w.Number("schema", 1);
  if (r.budget < std::numeric_limits<Bytes>::max()) w.Number("budget_bytes", r.budget);
  w.Bool("fits", r.fits);
  w.Bool("complete", r.complete);
  w.Open('{', "plan");
  WritePlan(w, r.plan);
  if (!r.plan.policy.empty()) WritePolicy(w, r.plan.policy);
  w.Close();
  w.Open('{', "floor");
  WritePlan(w, r.floor);
  w.Text("why", r.floor_reason);
  w.Close();
  w.Open('[', "curve");
  for (const Plan& p : r.curve) {
    w.Open('{');
    WritePlan(w, p);
    w.Close();
  }
  w.Close();
  w.Open('[', "remedies");
  for (const Relief& m : r.remedies) {
    w.Open('{', "", true);
    w.Text("flag", m.flag);
    w.Text("what", m.what);
    w.Number("reserved_bytes", m.reserved);
    w.Seconds("step_seconds", m.step_seconds);
    w.Close();
  }
  w.Close();
  w.Close();
  return w.Finish();
}

}  // namespace memcrest
