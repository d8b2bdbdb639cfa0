// Lifting: from the ONNX graph to the framework operators that PyTorch ran.
//
// Takes: onnx::Model (sizes unbound).  Gives: Network. A file of PyTorch's dynamo exporter is lifted by the FX nodes it
// notes; any other file by the names and patterns of its ONNX nodes. Operators that nobody knows become "unknown",
// never an error. Errors: E03xx, if the graph is beyond repair. What the result rests on stands in Network::assumptions
// (A03xx).
#ifndef MEMCREST_LIFT_LIFT_H_
#define MEMCREST_LIFT_LIFT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/graph/network.h"
#include "src/onnx/model.h"

namespace memcrest {

struct LiftOptions {
  bool restore_batch_norm = true;  // batch norms that the file shows only folded into a convolution
  bool restore_dropout = true;     // dropout that an export in evaluation mode lost, where there is evidence
  std::vector<std::pair<std::string, double>> dropout;  // module pattern -> probability, as --dropout gives them
  std::vector<std::string> tie, untie;                  // parameter patterns
};

// Cost: linear in nodes and their notes. Aliases: none; the network owns all it holds.
absl::StatusOr<Network> Lift(const onnx::Model& model, const LiftOptions& options);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_LIFT_H_
