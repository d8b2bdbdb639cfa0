// What memcrest explain-oom prints.
#include "absl/strings/str_cat.h"
#include "src/plan/explain_oom.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

std::string At(const std::string& phase, const std::string& module, const std::string& op) {
  return absl::StrCat(phase, module.empty() ? "" : " of ", module, op.empty() ? "" : " (", op, op.empty() ? "" : ")");
}

std::string Answer(const OomMessage& m, const OomExplanation& e) {
  const DeviceReport& d = e.report.devices[0];
  const std::string needs = absl::StrCat("the job needs ", HumanBytes(d.process));
  switch (e.cause) {
    case OomCause::kJob: return absl::StrCat("the job is too large: it needs ", HumanBytes(d.process), " of ", HumanBytes(e.available));
    case OomCause::kOtherProcesses:
      return absl::StrCat("other processes hold ", HumanBytes(m.OtherProcesses()), " of the GPU; ", needs, " and would fit alone");
    case OomCause::kLimit: return absl::StrCat(needs, ", but the process may use ", HumanBytes(m.allowed->bytes), " only");
    case OomCause::kFragmentation:
      return absl::StrCat("fragmentation: ", HumanBytes(m.unallocated->bytes), " were reserved but free, in pieces too small for ",
                          HumanBytes(m.requested.bytes));
    case OomCause::kNotInJob:
      return absl::StrCat(HumanBytes(m.allocated->bytes), " were alive, a step of this job needs at most ", HumanBytes(d.peak.live.allocated));
    case OomCause::kUnclear: return absl::StrCat(needs, " and should fit into ", HumanBytes(e.available));
  }
  return "";
}

std::string Advice(OomCause cause) {
  switch (cause) {
    case OomCause::kOtherProcesses: return "end the other processes (nvidia-smi names them), or choose another GPU";
    case OomCause::kLimit: return "raise or remove torch.cuda.set_per_process_memory_fraction";
    case OomCause::kNotInJob:
      return "something outside of the simulated step is alive: check the sizes that are bound, losses or outputs kept with their "
             "graph (use .item() or .detach()), a second network, evaluation without torch.no_grad()";
    case OomCause::kUnclear:
      return "check that the job is the one that failed (sizes, precision, optimizer); a profile of another device may be needed (--device)";
    case OomCause::kJob:
    case OomCause::kFragmentation: return "";
  }
  return "";
}

std::string Message(const OomMessage& m, const DeviceReport& d) {
  TextTable table("lrr");
  table.Row({"", "message", "simulated"});
  const auto row = [&](const char* name, const std::optional<ShownBytes>& shown, const std::string& simulated) {
    if (shown.has_value()) table.Row({name, HumanBytes(shown->bytes), simulated});
  };
  row("tried to allocate", m.requested, "");
  row("device", m.capacity, HumanBytes(d.capacity));
  row("free", m.free, "");
  row("this process", m.in_use, absl::StrCat(HumanBytes(d.process), " (peak)"));
  row("allocated", m.allocated, absl::StrCat(HumanBytes(d.peak.live.allocated), " (peak)"));
  row("reserved, unallocated", m.unallocated, HumanBytes(d.reserved - d.peak.live.allocated));
  if (m.OtherProcesses() > 0) table.Row({"other processes", HumanBytes(m.OtherProcesses()), ""});
  return absl::StrCat("\n", table.Text());
}

std::string Places(const OomExplanation& e) {
  const DeviceReport& d = e.report.devices[0];
  std::string text;
  if (e.place.has_value()) {
    const OomPlace& p = *e.place;
    absl::StrAppend(&text, "  ",
                    Wrapped(absl::StrCat("failed in ", At(p.phase, p.module, p.op), p.first_step ? ", first step" : "", ": ", HumanBytes(p.bytes),
                                         " asked for, ", HumanBytes(p.allocated), " allocated"), 4), "\n");
  } else {
    absl::StrAppend(&text, "  no simulated allocation has the message's size with as much allocated\n");
  }
  if (d.breaks.has_value()) {
    absl::StrAppend(&text, "  ", Wrapped(absl::StrCat("the simulation breaks in ", At(d.breaks->phase, d.breaks->module, d.breaks->op), " with ",
                                                      HumanBytes(d.breaks->allocated), " allocated"), 4), "\n");
  }
  absl::StrAppend(&text, "  ", Wrapped(absl::StrCat("the peak is in ", At(d.peak.phase, d.peak.module, d.peak.op)), 4), "\n");
  return absl::StrCat("\nwhere\n", text);
}

constexpr char kTight[] = "; only by giving cached segments back to the driver, which costs time in every step";

std::string Remedies(const OomExplanation& e) {
  std::string text;
  for (const OomRemedy& r : e.remedies) {
    const bool tight = r.fits && r.process > e.available;
    absl::StrAppend(&text, "  ", r.fits ? "fits    " : "        ", HumanBytes(r.process), "  ", r.flags, "\n",
                    "                    ", Wrapped(absl::StrCat(r.cost, tight ? kTight : ""), 20), "\n");
  }
  if (text.empty()) return "";
  const bool found = e.remedies.back().fits;
  return absl::StrCat("\nremedies, cheapest first, simulated against ", HumanBytes(e.available), "\n", text,
                      found ? "" : "  none of them is enough: fewer tokens or pixels, a larger device, or several\n");
}

}  // namespace

std::string OomText(const OomMessage& m, const OomExplanation& e) {
  const std::string advice = Advice(e.cause);
  std::string text = absl::StrCat(Answer(m, e), "\n");
  if (!advice.empty()) absl::StrAppend(&text, Wrapped(advice, 2), "\n");
  return absl::StrCat(text, Message(m, e.report.devices[0]), Places(e), Remedies(e));
}

}  // namespace memcrest
