// What the decoding functions of one file share: its bytes, limits, problems, repairs and strings made while reading.
//
// Takes: the whole file (a view) and how to name it.  Gives: Fail() and its kin, which record a Problem and return
// false so that decoders can `return context.Fail(...)`; notes that are counted rather than repeated. Internal to
// src/onnx.
#ifndef MEMCREST_ONNX_CONTEXT_H_
#define MEMCREST_ONNX_CONTEXT_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/base/problem.h"
#include "src/onnx/reader.h"
#include "src/onnx/wire.h"

namespace memcrest::onnx {

inline constexpr int kMaxGraphDepth = 64;       // If/Loop/Scan bodies inside each other
inline constexpr int64_t kLatestIrVersion = 14;  // onnx.proto, enum Version, as of ONNX 1.23
inline constexpr size_t kMaxProblems = 8;        // later ones of a file are counted, not shown

// Repairs and oddities that are told once per kind with a count and the first example.
enum class Note : uint8_t {
  kSorted,            // nodes not in topological order
  kUnknownDType,      // a data type this program does not know
  kStoredBytes,       // stored length contradicts dims
  kSparse,            // sparse initializer counted as dense
  kNamelessInit,      // initializer without a name
  kNegativeSymDim,    // declared dimension below zero: taken as unknown
  kLiteralsDropped,   // element data of small tensors beyond ReadOptions::max_literal_bytes
  kOpsetDiffers,      // a function imports another version of an operator set
  kTraining,          // training_info ignored
  kCount,
};

class Context {
 public:
  Context(absl::string_view file, absl::string_view where, const ReadOptions& options);

  // Recording problems: all return false.
  bool Fail(absl::string_view code, absl::string_view what, absl::string_view where, absl::string_view why,
            absl::string_view fix);
  bool FailWire(const Cursor& cursor, absl::string_view message);
  bool FailAt(const char* at, absl::string_view code, absl::string_view what, absl::string_view why,
              absl::string_view fix);
  // Like Fail, but reading may go on: later problems are collected too.
  void Report(absl::string_view code, absl::string_view what, absl::string_view where, absl::string_view why,
              absl::string_view fix);
  bool has_problems() const { return problems_.size() + dropped_ > 0; }
  std::vector<Problem> TakeProblems();

  // "model.onnx" and "model.onnx, byte 1234".
  const std::string& where() const { return where_; }
  std::string At(const char* at) const;
  absl::string_view file() const { return file_; }

  // Accounts for `bytes` of decoded structure; false (with E0215) once ReadOptions::max_structure_bytes is passed.
  // `what` names the stage in that problem.
  bool Charge(int64_t bytes) { return (left_ -= bytes) >= 0 || FailTooLarge(); }
  // The same for the elements of literals, where the answer to "too many" is to leave them out.
  bool ChargeLiteral(int64_t bytes);
  void set_inlining() { inlining_ = true; }

  void AddNote(Note note, absl::string_view example);
  std::vector<std::string> Notes() const;

  // A string that lives as long as the model.
  absl::string_view Keep(std::string text);
  std::shared_ptr<const void> strings() const { return strings_; }

 private:
  bool FailTooLarge();

  absl::string_view file_;
  std::string where_;
  ReadOptions options_;
  int64_t left_;
  int64_t literals_left_;
  bool inlining_ = false;
  bool too_large_ = false;
  size_t dropped_ = 0;
  std::vector<Problem> problems_;
  struct Counted {
    int64_t count = 0;
    std::string example;
  };
  std::array<Counted, static_cast<size_t>(Note::kCount)> notes_;
  std::shared_ptr<std::deque<std::string>> strings_;
};

// `text` in quotes, fit for a message: control and non-UTF-8 bytes escaped, long texts cut.
std::string Quoted(absl::string_view text);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_CONTEXT_H_
