// Networks with If, Loop or Scan, made straight for one binding: the branches taken, the bodies once per trip.
//
// Takes: onnx::Model and a Binding; "NAME.trips" among its symbols says how often the Loop node NAME runs where that
// depends on data.  Gives: a model without If, Loop, Scan at its top, and assumptions (A0407 a branch or a count that
// depends on data). A model without them is handed through untouched. Errors: those of BindShapes and ExpandControl;
// E0408: Loops whose trips nothing bounds, all at once.
#ifndef MEMCREST_SHAPE_UNROLL_H_
#define MEMCREST_SHAPE_UNROLL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "src/base/problem.h"
#include "src/onnx/model.h"
#include "src/shape/shapes.h"

namespace memcrest {

// Takes the trip counts out of `binding`: what is left names dimensions.
absl::StatusOr<onnx::Model> Unroll(onnx::Model model, Binding* binding, std::vector<Assumption>* assumptions);

}  // namespace memcrest

#endif  // MEMCREST_SHAPE_UNROLL_H_
