// Writes JSON in the order it is told, with exact integers.
//
// Takes: calls in document order.  Gives: the text, indented by one space a level; objects opened with Line() stay on
// one line. Guarantees: valid JSON for any bytes in strings (invalid UTF-8 becomes U+FFFD).
#ifndef MEMCREST_REPORT_JSON_WRITER_H_
#define MEMCREST_REPORT_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest {

class JsonWriter {
 public:
  // Scopes. `key` is used inside objects only.
  void Open(char bracket, absl::string_view key = "", bool on_one_line = false);
  void Close();
  void Number(absl::string_view key, int64_t value);
  void Numbers(absl::string_view key, const std::vector<int64_t>& values);  // a list without spaces
  void Seconds(absl::string_view key, double value);  // shortest form that reads back
  void Bool(absl::string_view key, bool value);
  void Text(absl::string_view key, absl::string_view value);
  std::string Finish();

 private:
  struct Scope {
    bool object, one_line, empty;
  };
  void Begin(absl::string_view key);
  void NewLine();

  std::string out_;
  std::vector<Scope> scopes_;
};

// With quotes and escapes.
std::string JsonString(absl::string_view text);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_JSON_WRITER_H_
