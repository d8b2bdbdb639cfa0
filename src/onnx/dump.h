// A model as text, for tests and for looking at what was read.
//
//   ir 10, opset 18, opset local 1
//   graph main
//     input x: float32[N,4]
//     initializer w: float32[4] = {1, 2, 3, 4}
//     y: float32[N,4] = Add(x, w)
//     z = local::Op<alpha=2.5, body=graph>(y, _) "name" from function 0
//       graph body captures x ...
//     output y
//   note: nodes were not in topological order: sorted
//
// Guarantees: deterministic; unnamed absent values are "_". Ignores: exporter notes.
#ifndef MEMCREST_ONNX_DUMP_H_
#define MEMCREST_ONNX_DUMP_H_

#include <string>

#include "src/onnx/model.h"

namespace memcrest::onnx {

std::string Dump(const Model& model);
std::string Dump(const Graph& graph);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_DUMP_H_
