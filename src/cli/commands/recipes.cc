// memcrest recipes: named jobs to start from, and other programs' settings read as jobs.
#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/job/recipes.h"
#include "src/job/trainer.h"
#include "src/report/text_table.h"

namespace memcrest {
namespace {

constexpr Option kOptions[] = {
    {"--from-trainer", "FILE", "Hugging Face TrainingArguments (JSON) as a job; what was not understood is listed"},
};

// The comment in a recipe's first line.
std::string About(absl::string_view text) {
  const absl::string_view line = text.substr(0, text.find('\n'));
  return std::string(line.substr(line.find_first_not_of("# ")));
}

int List(Console& console) {
  TextTable table("ll", 0, kListWidth);
  table.Row({"recipe", "what it is"});
  for (const auto& [name, text] : EmbeddedRecipes()) table.Row({name, About(text)});
  console.out(table.Text());
  console.out("\n`memcrest recipes NAME` prints one; `--job recipe:NAME` runs it, flags win over it\n");
  return kFits;
}

int Translate(const std::string& path, Console& console) {
  const absl::StatusOr<Source> source = ReadSource(path);
  if (!source.ok()) return Fail(source.status(), console);
  const absl::StatusOr<TrainerJob> job = JobFromTrainer(*source);
  if (!job.ok()) return Fail(job.status(), console);
  console.out(absl::StrCat("# from ", path, "; lora and quantize are not part of it\n", job->text));
  if (!job->not_understood.empty()) console.out("#\n# not understood, and so not in this job:\n");
  for (const std::string& setting : job->not_understood) console.out(absl::StrCat("#   ", setting, "\n"));
  return kFits;
}

int RunRecipes(const Arguments& arguments, Console& console) {
  if (arguments.Has("from-trainer")) return Translate(arguments.Get("from-trainer"), console);
  if (arguments.positional.empty()) return List(console);
  const absl::StatusOr<Source> recipe = RecipeNamed(arguments.positional[0]);
  if (!recipe.ok()) return Fail(recipe.status(), console);
  console.out(recipe->text);
  return kFits;
}

}  // namespace

void RegisterRecipes(CommandRegistry& registry) {
  registry.Add({"recipes", "named jobs to start from; other programs' settings as jobs", "[NAME]", false, kOptions,
                RunRecipes, "memcrest recipes qlora > job.textproto"});
}

}  // namespace memcrest
