// The text of a verification.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/report/text_table.h"
#include "src/report/verify.h"

namespace memcrest {
namespace {

std::string Off(Bytes ours, Bytes theirs) {
  if (theirs <= 0) return "";
  return absl::StrFormat("%+.2f %%", 100.0 * (static_cast<double>(ours) / static_cast<double>(theirs) - 1));
}

std::string Side(const VerifiedAllocation& a) {
  if (a.bytes == 0) return "nothing";
  const std::string bytes = absl::StrCat(Grouped(a.bytes), " B");
  if (!a.op.empty()) return absl::StrCat(bytes, " by ", a.op, a.module.empty() ? "" : " of ", a.module);
  return a.where.empty() ? bytes : absl::StrCat(bytes, " at ", a.where);
}

std::string Steps(const Verification& v) {
  if (!v.compared) return "it holds no trace of allocations: peaks only\n";
  const std::string size = absl::StrCat(v.step.end - v.step.begin, " allocations");
  if (v.step.repeats == 0) return absl::StrCat("no step repeats in it: all ", size, " are taken as one\n");
  return absl::StrCat("its last step has ", size, " and repeats ", v.step.repeats, v.step.repeats == 1 ? " time" : " times",
                      " before\n");
}

}  // namespace

std::string VerificationText(const Verification& v, const std::string& name) {
  std::string text = absl::StrCat(name, ": ", Steps(v), "\n");
  TextTable table("lrrr");
  table.Row({"peak", "predicted", "measured", "off"});
  table.Row({v.compared ? "live, by requests" : "allocated", HumanBytes(v.our_live), HumanBytes(v.their_live),
             Off(v.our_live, v.their_live)});
  table.Row({"reserved", HumanBytes(v.our_reserved), HumanBytes(v.their_reserved),
             Off(v.our_reserved, v.their_reserved)});
  absl::StrAppend(&text, table.Text());
  if (!v.compared) return text;
  absl::StrAppend(&text, "\n", v.matched, " allocations of ", HumanBytes(kCompared), " and more agree in order, of ", v.ours,
                  " predicted and ", v.theirs, " measured\n");
  for (size_t i = 0; i < v.divergences.size(); ++i) {
    const Divergence& d = v.divergences[i];
    absl::StrAppend(&text, i == 0 ? "first divergence\n" : i == 1 ? "further divergences\n" : "");
    absl::StrAppend(&text, "  predicted ", Side(d.ours), "\n  measured  ", Side(d.theirs), "\n    ", Wrapped(d.explanation, 4), "\n");
  }
  if (v.more > 0) absl::StrAppend(&text, "and ", v.more, " more\n");
  return text;
}

}  // namespace memcrest
