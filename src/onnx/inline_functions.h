// Function calls replaced by the functions' bodies, to any depth.
//
// Takes: a decoded model whose calls are marked, and its functions.  Gives: a model of operators only; Node::function
// tells which body a node was written in. Guarantees: attribute references are resolved (call, then default, else left
// out); names of inner values are "CALL/NAME" and unlike any other; recursion and calls that do not fit are problems;
// the size is bounded by the context's budget. Ignores: functions that nothing calls.
//
//   main:  y = f(x)        f(a) => (b):  t = Relu(a)        =>   main:  f/t = Relu(x)
//                                        b = g(t)                       f/g/s = Exp(f/t) ...
//
// Functions are flattened callees first, each once, so no recursion follows the depth of calls.
#ifndef MEMCREST_ONNX_INLINE_FUNCTIONS_H_
#define MEMCREST_ONNX_INLINE_FUNCTIONS_H_

#include "src/onnx/context.h"
#include "src/onnx/function_table.h"
#include "src/onnx/model.h"

namespace memcrest::onnx {

// False after recording a Problem.
bool InlineFunctions(Context& context, FunctionTable* functions, Model* model);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_INLINE_FUNCTIONS_H_
