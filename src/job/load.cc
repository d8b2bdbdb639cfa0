#include "src/job/load.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "src/job/job_fields.h"
#include "src/job/recipes.h"
#include "src/job/validate.h"

namespace memcrest {
namespace {

template <class T>
std::string FlagName(const Field<T>& field) {
  return field.flag[0] != '\0' ? field.flag : absl::StrReplaceAll(field.name, {{"_", "-"}});
}

template <class T>
void AddFlags(bool parallel, std::vector<JobFlag>& flags) {
  for (const Field<T>& field : FieldsOf<T>()) {
    if (field.metavar[0] != '\0') flags.push_back({FlagName(field), field.metavar, field.help, parallel});
  }
}

// A flag as the file would have said it: a message with one field.
template <class T>
bool ReadFlag(const std::string& name, const std::string& value, std::vector<Problem>& problems, T& out) {
  for (const Field<T>& field : FieldsOf<T>()) {
    if (field.metavar[0] == '\0' || FlagName(field) != name) continue;
    const Source none;
    Doc message;
    message.kind = Doc::Kind::kMap;
    message.items.push_back(StringDoc(value));
    message.items[0].key = field.name;
    FieldReader(none, absl::StrCat("--", name, " ", value), problems).Message(message, out);
    return true;
  }
  return false;
}

// A file, or "recipe:NAME".
absl::StatusOr<Source> JobSource(absl::string_view name) {
  return absl::ConsumePrefix(&name, "recipe:") ? RecipeNamed(name) : ReadSource(std::string(name));
}

}  // namespace

const std::vector<JobFlag>& JobFlags() {
  static const std::vector<JobFlag>* const kFlags = [] {
    auto* flags = new std::vector<JobFlag>;
    AddFlags<Job>(false, *flags);
    AddFlags<Parallel>(true, *flags);
    return flags;
  }();
  return *kFlags;
}

absl::Status ReadJob(const Source& source, Job& job, std::vector<Problem>& problems) {
  MEMCREST_ASSIGN_OR_RETURN(const Doc doc, ParseDocument(source));
  FieldReader(source, "", problems).Message(doc, job);
  return absl::OkStatus();
}

absl::StatusOr<Job> LoadJob(const std::string& job_file, const FlagValues& flags) {
  Job job;
  std::vector<Problem> problems;
  if (!job_file.empty()) {
    MEMCREST_ASSIGN_OR_RETURN(const Source source, JobSource(job_file));
    MEMCREST_RETURN_IF_ERROR(ReadJob(source, job, problems));
  }
  for (const auto& [name, value] : flags) {
    ReadFlag(name, value, problems, job) || ReadFlag(name, value, problems, job.parallel);
  }
  Settle(job);
  Validate(job, problems);
  MEMCREST_RETURN_IF_ERROR(ToStatus(problems));
  return job;
}

}  // namespace memcrest
