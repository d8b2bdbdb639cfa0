// Python's pickle as data: values, a writer, and a reader that never runs anything.
//
// Takes: bytes of a pickle, protocol 0 to 5.  Gives: a PickleDoc of plain data: None, bools, integers, floats, text, lists, tuples,
// dicts. Opcodes that build objects (GLOBAL, REDUCE, BUILD ...) are refused: nothing in a memory snapshot needs them.
// Guarantees: time and memory linear in the input, shared values are stored once, no recursion on the input's depth.
#ifndef MEMCREST_BASE_PICKLE_H_
#define MEMCREST_BASE_PICKLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace memcrest {

using PickleId = int32_t;  // of a value in its document

struct PickleValue {
  enum class Kind : uint8_t { kNone, kBool, kInt, kFloat, kText, kList, kTuple, kDict };
  Kind kind = Kind::kNone;
  int64_t number = 0;             // kBool, kInt
  double real = 0;                // kFloat
  std::string text;               // kText
  std::vector<PickleId> items;    // of a list or tuple; of a dict key, value, key, value ...
};

class PickleDoc {
 public:
  const PickleValue& root() const { return values[static_cast<size_t>(top)]; }
  const PickleValue& at(PickleId id) const { return values[static_cast<size_t>(id)]; }
  // The entry of a dict; nullptr if there is none or it is no dict.
  const PickleValue* Find(const PickleValue& dict, absl::string_view key) const;
  // Of an entry; `otherwise` if it is absent or no integer.
  int64_t Int(const PickleValue& dict, absl::string_view key, int64_t otherwise = 0) const;
  std::string Text(const PickleValue& dict, absl::string_view key) const;

  std::vector<PickleValue> values;
  PickleId top = 0;
};

// E0601: not a pickle of plain data.
absl::StatusOr<PickleDoc> ReadPickle(absl::string_view bytes, const std::string& name);

// Writes protocol 2, in the order it is told.
class PickleWriter {
 public:
  PickleWriter();
  void None() { out_ += 'N'; }
  void Bool(bool value) { out_ += value ? "\x88" : "\x89"; }
  void Int(int64_t value);
  void Text(absl::string_view text);
  // List: items follow, then Close(). Dict: key and value in turn.
  void OpenList();
  void OpenDict();
  void OpenTuple();
  void Close();
  void Key(absl::string_view text) { Text(text); }
  // The value just closed is kept under `slot`, to be put in again by Again.
  void Keep(uint32_t slot);
  void Again(uint32_t slot);
  std::string Finish();

 private:
  void Raw32(uint32_t n);
  std::string out_;
  std::vector<char> open_;
};

}  // namespace memcrest

#endif  // MEMCREST_BASE_PICKLE_H_
