// Lifting guided by the FX nodes that PyTorch's dynamo exporter notes on ONNX nodes.
#ifndef MEMCREST_LIFT_FX_LIFT_H_
#define MEMCREST_LIFT_FX_LIFT_H_

#include "absl/status/statusor.h"
#include "src/graph/network.h"
#include "src/lift/lift.h"
#include "src/onnx/model.h"

namespace memcrest {

// `model` must carry notes (NotedPerMille > 0). ONNX nodes without a note between them are operators of their own.
absl::StatusOr<Network> LiftFx(const onnx::Model& model, const LiftOptions& options);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FX_LIFT_H_
