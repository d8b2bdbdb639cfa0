// NodeProto into a graph under construction. Internal to src/onnx.
#ifndef MEMCREST_ONNX_DECODE_NODE_H_
#define MEMCREST_ONNX_DECODE_NODE_H_

#include "absl/strings/string_view.h"
#include "src/onnx/decode.h"
#include "src/onnx/graph_builder.h"

namespace memcrest::onnx {

// Appends the node to `graph`, whose names `builder` keeps.
bool DecodeNode(absl::string_view message, const Surroundings& around, Context& context, GraphBuilder& builder,
                Graph& graph);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_DECODE_NODE_H_
