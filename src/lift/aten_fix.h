// What the table's rows cannot say of an ATen operator: attributes that stand on its ONNX nodes, defaults that depend
// on rank.
#ifndef MEMCREST_LIFT_ATEN_FIX_H_
#define MEMCREST_LIFT_ATEN_FIX_H_

#include "src/lift/aten_schema.h"
#include "src/lift/fx_graph.h"
#include "src/lift/fx_state.h"

namespace memcrest {

// Completes `emission`, made of `node` by its row `schema`.
void ApplyFix(const FxGraph& graph, const FxNode& node, const AtenSchema& schema, Emission& emission);

// Attributes of "convolution" as an ONNX Conv or ConvTranspose states them.
Attrs ConvAttrs(const onnx::Node& conv);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_ATEN_FIX_H_
