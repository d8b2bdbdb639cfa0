#include "src/report/compare.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/report/breakdown.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

std::string Signed(Bytes bytes) { return bytes == 0 ? "=" : absl::StrCat(bytes > 0 ? "+" : "", HumanBytes(bytes)); }

std::string PeakPlace(const Digest& d) { return d.module.empty() ? d.phase : absl::StrCat(d.phase, " of ", d.module); }

std::string Answer(const Digest& a, const Digest& b) {
  const Bytes more = b.process - a.process;
  if (more == 0) return absl::StrCat(b.name, " needs as much as ", a.name, ": ", HumanBytes(a.process), "\n");
  const double share = a.process > 0 ? 100.0 * static_cast<double>(more) / static_cast<double>(a.process) : 0.0;
  std::string text = absl::StrCat(b.name, " needs ", HumanBytes(std::abs(more)), more > 0 ? " more" : " less", " than ", a.name, ": ",
                                  HumanBytes(b.process), " against ", HumanBytes(a.process), absl::StrFormat(" (%+.1f %%)", share));
  if (a.fits != b.fits) absl::StrAppend(&text, b.fits ? "; it fits" : "; it does not fit");
  return text + "\n";
}

std::string Change(const std::string& key, const Digest& a, const Digest& b) {
  const auto value = [&](const Digest& d) {
    const auto at = d.settings.find(key);
    return at == d.settings.end() ? std::string("-") : at->second;
  };
  return value(a) == value(b) ? "" : absl::StrCat(key, " ", value(a), " -> ", value(b));
}

std::vector<std::string> Keys(const Digest& a, const Digest& b) {
  std::vector<std::string> keys;
  for (const Digest* d : {&a, &b}) {
    for (const auto& [key, value] : d->settings) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::string Settings(const Digest& a, const Digest& b) {
  std::vector<std::string> changes;
  for (const std::string& key : Keys(a, b)) {
    if (const std::string change = Change(key, a, b); !change.empty()) changes.push_back(change);
  }
  if (changes.empty()) return "\nthe same settings\n";
  return absl::StrCat("\nsettings that differ\n  ", absl::StrJoin(changes, "\n  "), "\n");
}

std::string Figures(const Digest& a, const Digest& b) {
  TextTable table("lrrr");
  table.Row({"", a.name, b.name, "difference"});
  const auto row = [&](const std::string& name, Bytes x, Bytes y) {
    table.Row({name, HumanBytes(x), HumanBytes(y), Signed(y - x)});
  };
  row("process", a.process, b.process);
  row("reserved", a.reserved, b.reserved);
  row("allocated", a.allocated, b.allocated);
  row("live tensors", a.tensor, b.tensor);
  for (const auto& [phase, bytes] : a.phases) {
    for (const auto& [other, theirs] : b.phases) {
      if (other == phase) row(absl::StrCat("peak of ", phase), bytes, theirs);
    }
  }
  std::string text = absl::StrCat("\n", table.Text());
  if (PeakPlace(a) != PeakPlace(b)) absl::StrAppend(&text, Wrapped(absl::StrCat("the peak moves: ", PeakPlace(a), " -> ", PeakPlace(b)), 2), "\n");
  return text;
}

struct Difference {
  std::string name;
  Bytes a = 0, b = 0;
};

std::vector<Difference> Sorted(std::map<std::string, Difference> rows) {
  std::vector<Difference> list;
  for (auto& [name, row] : rows) {
    if (row.a != row.b) list.push_back(std::move(row));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Difference& x, const Difference& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
  return list;
}

std::string Categories(const Digest& a, const Digest& b) {
  std::map<std::string, Difference> rows;
  for (const auto& [name, bytes] : a.categories) rows[name] = {name, bytes, 0};
  for (const auto& [name, bytes] : b.categories) rows[name].name = name, rows[name].b = bytes;
  std::string text;
  for (const bool rose : {true, false}) {
    TextTable table("lrrr");
    std::vector<std::string> why;
    for (const Difference& d : Sorted(rows)) {
      if ((d.b > d.a) != rose) continue;
      table.Row({d.name, HumanBytes(d.a), HumanBytes(d.b), Signed(d.b - d.a)});
      const std::vector<std::string> reasons = Reasons(a, b, d.name);
      if (!reasons.empty()) why.push_back(absl::StrCat(d.name, ": ", absl::StrJoin(reasons, ", ")));
    }
    if (table.empty()) continue;
    absl::StrAppend(&text, rose ? "\nrose at the peak\n" : "\nfell at the peak\n", table.Text());
    for (const std::string& line : why) absl::StrAppend(&text, "  why ", Wrapped(line, 6), "\n");
  }
  return text;
}

std::string Modules(const Digest& a, const Digest& b, size_t top) {
  std::map<std::string, Difference> rows;
  for (const auto& [path, bytes] : a.modules) {
    const std::string key = ModuleKey(path, true, 0);
    rows[key].name = key;
    rows[key].a += bytes;
  }
  for (const auto& [path, bytes] : b.modules) {
    const std::string key = ModuleKey(path, true, 0);
    rows[key].name = key;
    rows[key].b += bytes;
  }
  TextTable table("lrrr");
  const std::vector<Difference> list = Sorted(std::move(rows));
  for (size_t i = 0; i < std::min(top, list.size()); ++i)
    table.Row({list[i].name, HumanBytes(list[i].a), HumanBytes(list[i].b), Signed(list[i].b - list[i].a)});
  return table.empty() ? "" : absl::StrCat("\nmodules that differ most at the peak\n", table.Text());
}

// Which settings decide a category's bytes. Names that stand here and in no report do no harm.
bool Decides(const std::string& key, const std::string& category) {
  static const auto* const kOther = new std::map<std::string, std::vector<std::string>>{
      {"parameters", {"model", "precision", "engine", "quantize_base", "lora", "ema"}},
      {"buffers", {"model", "precision"}},
      {"optimizer_state", {"model", "optimizer", "precision", "freeze", "train", "lora", "engine"}},
      {"gradients", {"model", "precision", "freeze", "train", "lora", "zero_grad", "accumulate", "engine"}},
      {"temporaries", {"optimizer", "precision", "loss", "checkpoint", "clip_grad", "model"}},
      {"communication", {"engine", "model"}},
  };
  if (key == "device" || key == "allocator") return false;
  const auto at = kOther->find(category);
  if (at == kOther->end()) return key != "optimizer";  // inputs, activations, workspace: all that shapes the passes
  return std::find(at->second.begin(), at->second.end(), key) != at->second.end();
}

}  // namespace

std::vector<std::string> Reasons(const Digest& a, const Digest& b, const std::string& category) {
  std::vector<std::string> reasons;
  for (const std::string& key : Keys(a, b)) {
    const std::string change = Decides(key, category) ? Change(key, a, b) : "";
    if (!change.empty()) reasons.push_back(change);
  }
  if (PeakPlace(a) != PeakPlace(b)) reasons.push_back("the peak moves");
  return reasons;
}

std::string CompareText(const Digest& a, const Digest& b, size_t top) {
  return absl::StrCat(Answer(a, b), Settings(a, b), Figures(a, b), Categories(a, b), Modules(a, b, top));
}

}  // namespace memcrest
