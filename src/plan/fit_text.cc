#include "src/plan/fit_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/report/json_writer.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

constexpr size_t kShownAbove = 3;  // sizes that do not fit, in the text

std::string Where(const std::string& phase, const std::string& op, const std::string& module) {
  return absl::StrCat(phase, module.empty() ? op.empty() ? "" : absl::StrCat(", ", op) : absl::StrCat(" of ", module));
}

int64_t Percent(double share) { return std::llround(share * 100); }

std::string FirstLine(const FitHeading& h, const Fit& fit) {
  if (fit.size == 0) {
    const FitProbe& p = fit.tried[0];
    return absl::StrCat(h.symbol, " does not fit ", h.device, ": ", h.symbol, "=", p.size, " needs ", HumanBytes(p.outcome.process),
                        " of ", HumanBytes(p.outcome.capacity), " with ", Percent(h.headroom), "% kept free\n");
  }
  const Outcome& o = fit.Find(fit.size)->outcome;
  return absl::StrCat(h.symbol, " ", fit.size, " is the largest that fits ", h.device, ": ", HumanBytes(o.process), " of ",
                      HumanBytes(o.capacity), " with ", Percent(h.headroom), "% kept free\n");
}

std::string NextLimit(const FitHeading& h, const Fit& fit) {
  const FitProbe* next = fit.Next();
  if (next == nullptr) return absl::StrCat("next limit: none up to ", fit.size, " (--most)\n");
  if (!next->refused.empty()) {
    const std::string reason = next->refused.substr(0, next->refused.find('\n'));
    return absl::StrCat(Wrapped(absl::StrCat("next limit: ", h.symbol, "=", next->size, " is refused: ", reason), 2), "\n");
  }
  const BreakReport& b = *next->outcome.breaks;
  return absl::StrCat(Wrapped(absl::StrCat("next limit: ", h.symbol, "=", next->size, " breaks in ", Where(b.phase, b.op, b.module),
                                           ", asking for ", HumanBytes(b.requested), " with ", HumanBytes(b.allocated), " allocated"),
                              2),
                      "\n");
}

void WriteProbe(const FitProbe& p, JsonWriter& json) {
  json.Open('{', "", true);
  json.Number("size", p.size);
  json.Bool("fits", p.fits());
  json.Bool("tight", p.outcome.tight);
  if (p.refused.empty()) {
    const Outcome& o = p.outcome;
    json.Number("tensor_bytes", o.tensor);
    json.Number("allocated_bytes", o.allocated);
    json.Number("reserved_bytes", o.reserved);
    json.Number("process_bytes", o.process);
    json.Text("peak_phase", o.phase);
    json.Text("peak_module", o.module);
  } else {
    json.Text("refused", p.refused);
  }
  json.Close();
}

void WriteNext(const FitProbe& p, JsonWriter& json) {
  json.Open('{', "next_limit", true);
  json.Number("size", p.size);
  if (p.outcome.breaks.has_value()) {
    const BreakReport& b = *p.outcome.breaks;
    json.Text("phase", b.phase);
    json.Text("op", b.op);
    json.Text("module", b.module);
    json.Number("requested_bytes", b.requested);
    json.Number("allocated_bytes", b.allocated);
  }
  json.Close();
}

}  // namespace

std::string FitText(const FitHeading& h, const Fit& fit) {
  std::string text = FirstLine(h, fit);
  if (fit.per_unit > 0) absl::StrAppend(&text, "one more ", h.symbol, ": +", HumanBytes(fit.per_unit), " live\n");
  absl::StrAppend(&text, NextLimit(h, fit), "\ntried\n");
  TextTable table("rrrrll");
  table.Row({h.symbol, "allocated", "reserved", "process", "", "peak in"});
  size_t above = 0;
  for (const FitProbe& p : fit.tried) {
    const Outcome& o = p.outcome;
    if (p.size > fit.size && ++above > kShownAbove) break;
    if (!p.refused.empty()) table.Row({absl::StrCat(p.size), "", "", "", "refused", ""});
    else table.Row({absl::StrCat(p.size), HumanBytes(o.allocated), HumanBytes(o.reserved), HumanBytes(o.process),
                    !o.fits ? "too much" : o.tight ? "fits, tight" : "fits", Where(o.phase, o.op, o.module)});
  }
  absl::StrAppend(&text, table.Text());
  if (above > kShownAbove) absl::StrAppend(&text, "  ... and larger ones, none of which fits\n");
  const FitProbe* at = fit.Find(fit.size);
  if (at != nullptr && at->outcome.tight) {
    absl::StrAppend(&text, "\ntight: runs only because the allocator gives cached memory back in mid-step, which stalls the device\n");
  }
  return text;
}

std::string FitJson(const FitHeading& h, const Fit& fit) {
  JsonWriter json;
  json.Open('{');
  json.Number("schema", 1);
  json.Text("model", h.model_file);
  json.Text("device", h.device);
  json.Text("vary", h.symbol);
  json.Seconds("headroom", h.headroom);
  json.Number("capacity_bytes", fit.tried[0].outcome.capacity);
  json.Number("budget_bytes", fit.tried[0].outcome.budget);
  json.Number("largest", fit.size);
  json.Bool("bounded", fit.bounded);
  json.Number("bytes_per_unit", fit.per_unit);
  if (fit.Next() != nullptr) WriteNext(*fit.Next(), json);
  json.Open('[', "tried");
  for (const FitProbe& p : fit.tried) WriteProbe(p, json);
  json.Close();
  json.Close();
  return json.Finish();
}

}  // namespace memcrest
