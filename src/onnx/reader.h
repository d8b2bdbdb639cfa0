// Reads a model without its weights.
//
// ReadFile maps the file and decodes the protobuf wire format itself: TensorProto payloads above kLiteralElements are
// skipped without touching their pages, external data is never opened, files over 2 GiB work, memory is bounded by the
// structure. Function calls are inlined. Errors: Problem E02xx with the byte offset or node as `where`:
//   E0201 the file cannot be opened or mapped        E0209 a cycle among nodes
//   E0202 the file is empty or cut off               E0210 a stored tensor's dimensions are negative or overflow
//   E0203 the file is something else (zip, HTML ..)  E0211 a small tensor's data contradicts its dimensions
//   E0204 the file is not valid protobuf             E0212 a node without an operator, an attribute without a name
//   E0205 the model has no graph                     E0213 a function calls itself
//   E0206 nesting is too deep                        E0214 a call does not fit its function, or two functions clash
//   E0207 a value is defined twice                   E0215 the structure exceeds ReadOptions::max_structure_bytes
//   E0208 a value is used but never defined
#ifndef MEMCREST_ONNX_READER_H_
#define MEMCREST_ONNX_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/onnx/model.h"

namespace memcrest::onnx {

struct ReadOptions {
  // Bound on what is built from the file (estimated): about a million nodes. Stops decompression-bomb-like files.
  int64_t max_structure_bytes = int64_t{384} << 20;
  // Bound on the elements of literals; beyond it literals keep dims and dtype only, with a note.
  int64_t max_literal_bytes = int64_t{64} << 20;
};

// Cost: linear in the file's structure; pages of weights are not touched. Aliases: the Model views the mapped file,
// which must not be truncated by others while the Model lives.
absl::StatusOr<Model> ReadFile(const std::string& path, const ReadOptions& options = {});
// `bytes` are copied into the model's backing. `where` names them in messages.
absl::StatusOr<Model> ReadBytes(absl::string_view bytes, absl::string_view where, const ReadOptions& options = {});

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_READER_H_
