#include "src/cli/command.h"

#include "absl/strings/str_cat.h"
#include "src/job/nearest.h"
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

// The job cannot know the registry of a later stage; its names are checked here, where both are known.
absl::Status CheckOptimizer(const Job& job) {
  if (Optimizers().Find(job.optimizer) != nullptr) return absl::OkStatus();
  std::vector<std::string> names;
  for (const OptimizerEntry& entry : Optimizers().All()) names.push_back(entry.name);
  return ToStatus(Problem{"E0105", absl::StrCat("unknown optimizer \"", job.optimizer, "\""), "optimizer",
                          "memcrest optimizers lists the known ones", DidYouMean(job.optimizer, names)});
}

}  // namespace

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

absl::StatusOr<Job> JobOf(const Arguments& arguments) {
  MEMCREST_ASSIGN_OR_RETURN(const Job job, LoadJob(arguments.Get("job"), arguments.job_flags));
  MEMCREST_RETURN_IF_ERROR(CheckOptimizer(job));
  return job;
}

}  // namespace memcrest
