#include "src/lift/lift.h"

#include "src/lift/dropouts.h"
#include "src/lift/fx_graph.h"
#include "src/lift/fx_lift.h"
#include "src/lift/masked_bias.h"
#include "src/lift/masks.h"
#include "src/lift/onnx_lift.h"
#include "src/lift/repeated_heads.h"
#include "src/lift/upcasts.h"

namespace memcrest {
namespace {

constexpr int kMostNodes = 500;  // per mille: the file is the dynamo exporter's work

}  // namespace

absl::StatusOr<Network> Lift(const onnx::Model& model, const LiftOptions& options) {
  absl::StatusOr<Network> network =
      NotedPerMille(model) >= kMostNodes ? LiftFx(model, options) : LiftPlain(model, options);
  if (!network.ok()) return network;
  MarkSkippableMasks(*network);
  RestoreMaskedBiases(*network);
  HoldUnrepeatedHeads(*network);
  RestoreUpcasts(*network);
  RestoreDropouts(options, *network);
  return network;
}

}  // namespace memcrest
