// Named jobs to start from: models/recipes/*.textproto, embedded. `--job recipe:NAME` reads one as a job file.
//
// The first line of a recipe is a comment that says what it is.
#ifndef MEMCREST_JOB_RECIPES_H_
#define MEMCREST_JOB_RECIPES_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "src/job/document.h"

namespace memcrest {

// (name, text), sorted by name.
absl::Span<const std::pair<const char*, const char*>> EmbeddedRecipes();

// E0105 if there is none of that name.
absl::StatusOr<Source> RecipeNamed(absl::string_view name);

}  // namespace memcrest

#endif  // MEMCREST_JOB_RECIPES_H_
