// Lifting without exporter metadata: by ONNX operators, node names and patterns.
#ifndef MEMCREST_LIFT_ONNX_LIFT_H_
#define MEMCREST_LIFT_ONNX_LIFT_H_

#include "absl/status/statusor.h"
#include "src/graph/network.h"
#include "src/lift/lift.h"
#include "src/onnx/model.h"

namespace memcrest {

absl::StatusOr<Network> LiftPlain(const onnx::Model& model, const LiftOptions& options);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_ONNX_LIFT_H_
