#include "src/report/report_source.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace memcrest {
namespace {

std::string ResidentName(const ReportSource& s, StorageId id) {
  const auto at =
      std::lower_bound(s.names.begin(), s.names.end(), id, [](const auto& n, StorageId i) { return n.first < i; });
  return at != s.names.end() && at->first == id ? at->second : std::string();
}

bool HasOwner(Category c) {
  return c == Category::kParameters || c == Category::kBuffers || c == Category::kOptimizerState;
}

}  // namespace

size_t FirstEvent(const ReportSource& s) {
  for (const Mark& mark : s.trace.marks) {
    if (mark.step == s.trace.steps - 1) return mark.event;
  }
  return s.trace.events.size();
}

std::string ModuleOf(const ReportSource& s, const Event& e) {
  return e.call == kNone || e.node == kNone ? std::string() : ModulePath(s.network, e.call);
}

const char* OpName(const Event& e) { return absl::string_view(e.op) == "linear_folded" ? "linear" : e.op; }

std::string StorageName(const ReportSource& s, StorageId storage, Category category, const Event& born) {
  const std::string resident = ResidentName(s, storage);
  if (!resident.empty()) return resident;
  if (born.node == kNone) return absl::StrCat(NameOf(category), " of ", OpName(born));
  if (category == Category::kGradients) return absl::StrCat("gradient made by ", OpName(born));
  return absl::StrCat(born.pass == Pass::kBackward ? "backward of " : "output of ", OpName(born));
}

std::string StorageModule(const ReportSource& s, Category category, const Event& born, const std::string& name) {
  if (!HasOwner(category)) return ModuleOf(s, born);
  const size_t dot = name.rfind('.', name.find(' '));
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

}  // namespace memcrest
