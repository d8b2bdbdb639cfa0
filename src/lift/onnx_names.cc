#include "src/lift/onnx_names.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace memcrest {

OnnxNames::OnnxNames(const onnx::Model& model) {
  for (const onnx::Literal& t : model.graph.initializers) {
    if (absl::StrContains(t.name, "::")) continue;
    for (size_t dot = t.name.find('.'); dot != absl::string_view::npos; dot = t.name.find('.', dot + 1)) known_.insert(t.name.substr(0, dot));
  }
  for (const absl::string_view path : known_) {
    if (absl::StrContains(path, ".")) continue;
    if (!root_.empty() && root_ != path) {
      root_ = absl::string_view();
      break;
    }
    root_ = path;
  }
}

bool OnnxNames::IsBelowRoot(absl::string_view first_segment) const {
  return !root_.empty() && first_segment != root_ && !IsModule(first_segment) && IsModule(absl::StrCat(root_, ".", first_segment));
}

absl::string_view OnnxNames::Keep(std::string text) {
  kept_.push_back(std::move(text));
  return kept_.back();
}

const Scopes& OnnxNames::ScopesOf(absl::string_view node_name) {
  static const Scopes kNothing;
  const size_t last = node_name.rfind('/');
  if (node_name.empty() || node_name[0] != '/' || last == 0 || last == absl::string_view::npos) return kNothing;
  const absl::string_view prefix = node_name.substr(1, last - 1);
  if (const auto found = by_prefix_.find(prefix); found != by_prefix_.end()) return found->second;
  Scopes scopes;
  absl::string_view path, previous;
  for (size_t at = 0; at <= prefix.size();) {
    const size_t end = std::min(prefix.find('/', at), prefix.size());
    const absl::string_view segment = prefix.substr(at, end - at);
    at = end + 1;
    absl::string_view local = segment;
    if (!previous.empty() && local.size() > previous.size() + 1 && absl::StartsWith(local, previous) && local[previous.size()] == '.') {
      local.remove_prefix(previous.size() + 1);
    }
    previous = segment;
    if (path.empty() && IsBelowRoot(local)) path = root_;
    absl::string_view full = Keep(path.empty() ? std::string(local) : absl::StrCat(path, ".", local));
    int repeat = 0;
    const size_t underscore = full.rfind('_');
    if (underscore != absl::string_view::npos && !IsModule(full) && absl::SimpleAtoi(full.substr(underscore + 1), &repeat)) {
      const absl::string_view base = full.substr(0, underscore);
      if (IsModule(base) || seen_.contains(base)) {
        full = base;
        previous = segment.substr(0, segment.rfind('_'));
      } else {
        repeat = 0;
      }
    }
    seen_.insert(full);
    scopes.push_back(Scope{full, "", repeat});
    path = full;
  }
  return by_prefix_.emplace(prefix, std::move(scopes)).first->second;
}

}  // namespace memcrest
