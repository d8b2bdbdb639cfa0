// What a file is that is not an ONNX model.
#ifndef MEMCREST_ONNX_FILE_KIND_H_
#define MEMCREST_ONNX_FILE_KIND_H_

#include "absl/strings/string_view.h"

namespace memcrest::onnx {

struct FileKind {
  absl::string_view what;  // "a zip archive (PyTorch checkpoint or .pt2 program)"; empty if not recognised
  absl::string_view fix;
};
// Looks at the first bytes only.
FileKind GuessFileKind(absl::string_view bytes);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_FILE_KIND_H_
