// In-place activations that no source line shows: a module's `inplace` flag is not in the file, its library's habit is.
//
// torchvision and timm build their models with in-place ReLU, ReLU6, SiLU and Hardswish modules; the exceptions are
// known by class.
#ifndef MEMCREST_LIFT_INPLACE_H_
#define MEMCREST_LIFT_INPLACE_H_

#include "absl/strings/string_view.h"
#include "src/lift/modules.h"

namespace memcrest {

// `op`: canonical operator run directly in the innermost of `scopes`.
bool RunsInPlace(absl::string_view op, const Scopes& scopes);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_INPLACE_H_
