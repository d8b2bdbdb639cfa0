// A job file or device profile as a tree whose every value knows where it stands.
//
// Takes: JSON (the first character is "{") or protobuf text form.  Gives: Doc, or one Problem with line, column and
// caret. Guarantees: any byte sequence ends in a Doc or a Problem; nesting is limited to kMaxDepth. Ignores: meaning.
// Names and types of fields are the business of fields.h.
#ifndef MEMCREST_JOB_DOCUMENT_H_
#define MEMCREST_JOB_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "src/base/problem.h"

namespace memcrest {

// A text with the name that people know it by.
struct Source {
  std::string name;  // "job.json"
  std::string text;
};

struct Doc {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kList, kMap };
  Kind kind = Kind::kNull;
  std::string text;        // kBool, kNumber: as written; kString: the unescaped string
  std::vector<Doc> items;  // kList: elements; kMap: fields in file order, keys unique
  std::string key;         // of a field of a map
  size_t offset = 0;       // of the value in the source
  size_t key_offset = 0;
};

inline constexpr int kMaxDepth = 64;

// Text form: a field given several times becomes one kList. JSON: a key given twice is an error (E0103).
absl::StatusOr<Doc> ParseDocument(const Source& source);

// The whole file; E0108 if it cannot be read or is larger than 16 MiB.
absl::StatusOr<Source> ReadSource(const std::string& path);

// "job.json:3:14" and below it the line and a caret under `offset`.
std::string WhereIn(const Source& source, size_t offset);

// A string Doc, as flags give it.
Doc StringDoc(absl::string_view text);

}  // namespace memcrest

#endif  // MEMCREST_JOB_DOCUMENT_H_
