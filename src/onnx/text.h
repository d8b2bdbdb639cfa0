// Models in ONNX's textual syntax (onnx/docs/Syntax.md), for tests. Links the ONNX library; the program does not.
//
//   <ir_version: 10, opset_import: ["" : 18]>
//   net (float[batch,4] x) => (y)
//   <float[4,8] weight>                    a parameter: declared, but no node makes it
//   { y = MatMul(x, weight) }
#ifndef MEMCREST_ONNX_TEXT_H_
#define MEMCREST_ONNX_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/onnx/model.h"

namespace memcrest::onnx {

// The bytes of the .onnx file that the text describes. A declared value with known dimensions that nothing makes
// becomes an initializer without data, so that weights need not be written out. Errors: InvalidArgument with the
// parser's line and column.
absl::StatusOr<std::string> SerializeModelText(absl::string_view text);
// The same, read.
absl::StatusOr<Model> ParseModelText(absl::string_view text);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_TEXT_H_
