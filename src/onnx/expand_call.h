// One function call, replaced. Internal to src/onnx: see inline_functions.h.
#ifndef MEMCREST_ONNX_EXPAND_CALL_H_
#define MEMCREST_ONNX_EXPAND_CALL_H_

#include <vector>

#include "src/onnx/context.h"
#include "src/onnx/fresh_names.h"
#include "src/onnx/function_table.h"
#include "src/onnx/model.h"

namespace memcrest::onnx {

// Appends the body of `function` (itself free of calls) to `out`, bound to the inputs, outputs and attributes of
// `call`, a node of `caller`; inner values join caller.values. Value::node is not kept up to date. False after
// recording a Problem.
bool ExpandCall(const Function& function, const Node& call, FreshNames& names, Context& context, Graph& caller,
                std::vector<Node>* out);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_EXPAND_CALL_H_
