// The layers that adapters and quantisation replace: modules whose call is one product with a stored weight.
#ifndef MEMCREST_LIFT_BASE_LAYERS_H_
#define MEMCREST_LIFT_BASE_LAYERS_H_

#include <optional>
#include <vector>

#include "src/graph/network.h"

namespace memcrest {

enum class LayerKind : uint8_t { kLinear, kConv1d, kConvolution, k4Bit, k8Bit };  // kConv1d: addmm with [in, out]

struct BaseLayer {
  LayerKind kind = LayerKind::kLinear;
  NodeId node = kNone;          // the product
  TensorId weight = kNone, bias = kNone;
  int64_t in = 0, out = 0;      // features or channels
};

// The layer that call `c` runs; nullopt if it runs something else or more.
std::optional<BaseLayer> BaseLayerOf(const Network& network, CallId c);

// The module whose result the network returns, casts and scales aside; kNone if that is no such layer.
ModuleId HeadOf(const Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_BASE_LAYERS_H_
