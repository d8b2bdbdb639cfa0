#include "src/job/recipes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/job/nearest.h"

namespace memcrest {

absl::StatusOr<Source> RecipeNamed(absl::string_view name) {
  std::vector<std::string> names;
  for (const auto& [known, text] : EmbeddedRecipes()) {
    if (name == known) return Source{absl::StrCat("recipe:", known), text};
    names.push_back(known);
  }
  return ToStatus(Problem{"E0105", absl::StrCat("no recipe is named \"", name, "\""), "",
                          "`memcrest recipes` lists them", DidYouMean(std::string(name), names)});
}

}  // namespace memcrest
