#include "src/report/breakdown.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/memory/account.h"

namespace memcrest {
namespace {

// Rows with the same name become one, in the order of the first of each.
class Sums {
 public:
  void Add(const std::string& name, Bytes bytes, int64_t tensors) {
    const auto [at, added] = rows_.try_emplace(name, list_.size());
    if (added) list_.push_back({name, 0, 0, ""});
    list_[at->second].bytes += bytes;
    list_[at->second].tensors += tensors;
  }
  std::vector<BreakdownRow> Take() { return std::move(list_); }

 private:
  absl::flat_hash_map<std::string, size_t> rows_;
  std::vector<BreakdownRow> list_;
};

bool IsNumber(absl::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == absl::string_view::npos;
}

bool AliveAt(const StorageLife& life, int64_t event) {
  return life.born <= event && life.dies > event && life.seen != Seen::kAllocatorOnly;
}

std::vector<BreakdownRow> Categories(const DeviceReport& d) {
  std::vector<BreakdownRow> rows;
  for (size_t c = 0; c < kCategoryCount; ++c) {
    if (d.peak.by_category[c] != 0) rows.push_back({NameOf(static_cast<Category>(c)), d.peak.by_category[c], 0, ""});
  }
  return rows;
}

std::vector<BreakdownRow> Modules(const DeviceReport& d, bool pattern, int64_t depth) {
  Sums sums;
  absl::flat_hash_map<std::string, std::string> only;  // pattern -> the one module that it stands for
  for (const ModuleRow& row : d.top_modules) {
    const std::string key = ModuleKey(row.module, pattern, depth), name = ModuleKey(row.module, false, depth);
    sums.Add(key, row.bytes, row.tensors);
    const auto [at, added] = only.try_emplace(key, name);
    if (!added && at->second != name) at->second = key;
  }
  std::vector<BreakdownRow> rows = sums.Take();
  for (BreakdownRow& row : rows) row.name = only[row.name];
  return rows;
}

std::vector<BreakdownRow> Operators(const DeviceReport& d) {
  Sums sums;
  for (const StorageLife& life : d.step.lives) {
    if (AliveAt(life, d.peak.event)) sums.Add(d.step.strings[static_cast<size_t>(life.op)], life.bytes, 1);
  }
  if (d.step.events > 0) return sums.Take();
  for (const TensorRow& row : d.top_tensors) sums.Add(row.op, row.bytes, 1);
  return sums.Take();
}

std::vector<BreakdownRow> Tensors(const DeviceReport& d) {
  std::vector<BreakdownRow> rows;
  for (const TensorRow& row : d.top_tensors)
    rows.push_back({row.name, row.bytes, 1, absl::StrCat(NameOf(row.category), row.born_phase.empty() || row.born_phase == "init" ? "" : ", ",
                                                     row.born_phase == "init" ? "" : row.born_phase)});
  return rows;
}

}  // namespace

std::optional<By> ByNamed(absl::string_view name) {
  for (size_t i = 0; i < std::size(kByNames); ++i) {
    if (name == kByNames[i]) return static_cast<By>(i);
  }
  return std::nullopt;
}

std::string ModuleKey(absl::string_view path, bool pattern, int64_t depth) {
  if (path.empty()) return "(outside of modules)";
  std::vector<std::string> segments = absl::StrSplit(path, '.');
  if (depth > 0 && segments.size() > static_cast<size_t>(depth)) segments.resize(static_cast<size_t>(depth));
  for (std::string& segment : segments) {
    if (pattern && IsNumber(segment)) segment.assign(1, '*');
  }
  return absl::StrJoin(segments, ".");
}

std::vector<BreakdownRow> Breakdown(const DeviceReport& d, By by, int64_t depth) {
  std::vector<BreakdownRow> rows;
  switch (by) {
    case By::kCategory: rows = Categories(d); break;
    case By::kModule: rows = Modules(d, false, depth); break;
    case By::kPattern: rows = Modules(d, true, depth); break;
    case By::kOp: rows = Operators(d); break;
    case By::kTensor: rows = Tensors(d); break;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return rows;
}

}  // namespace memcrest
