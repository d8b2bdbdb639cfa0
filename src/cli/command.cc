#include "src/cli/command.h"

namespace memcrest {

std::string Arguments::Get(const std::string& name, const std::string& otherwise) const {
  const auto it = values.find(name);
  return it == values.end() ? otherwise : it->second;
}

const Command* CommandRegistry::Find(absl::string_view name) const {
  for (const Command& entry : entries_) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

const CommandRegistry& Commands() {
  static const CommandRegistry* const kRegistry = [] {
    auto* registry = new CommandRegistry;
    RegisterAllCommands(*registry);
    return registry;
  }();
  return *kRegistry;
}

absl::StatusOr<Job> JobOf(const Arguments& arguments) { return LoadJob(arguments.Get("job"), arguments.job_flags); }

}  // namespace memcrest
