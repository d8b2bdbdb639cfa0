#include "src/eager/op.h"

#include <algorithm>
#include <memory>

namespace memcrest {

void OpRegistry::Add(const OpEntry& entry) {
  entries_.push_back(std::make_unique<OpEntry>(entry));
  by_name_[entries_.back()->name] = entries_.back().get();
}

const OpEntry* OpRegistry::Find(absl::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<const OpEntry*> OpRegistry::All() const {
  std::vector<const OpEntry*> all;
  for (const auto& entry : entries_) all.push_back(entry.get());
  std::sort(all.begin(), all.end(),
            [](const OpEntry* a, const OpEntry* b) { return absl::string_view(a->name) < b->name; });
  return all;
}

}  // namespace memcrest
