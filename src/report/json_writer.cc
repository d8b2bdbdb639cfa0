#include "src/report/json_writer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace memcrest {
namespace {

// Bytes of the valid UTF-8 sequence at the start of `text`; 0 if there is none.
size_t SequenceLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t n = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3
                   : first >= 0xF0 && first < 0xF5                  ? 4 : 0;
  if (n == 0 || n > text.size()) return 0;
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;  // overlong, surrogate
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
  return n;
}

void AppendAscii(char c, std::string& out) {
  if (c == '"' || c == '\\') out += {'\\', c};
  else if (c == '\n') out += "\\n";
  else if (c == '\t') out += "\\t";
  else if (static_cast<unsigned char>(c) < 0x20) out += absl::StrFormat("\\u%04x", static_cast<int>(c));
  else out += c;
}

}  // namespace

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t n = SequenceLength(text);
    if (n == 1) AppendAscii(text[0], out);
    else if (n == 0) out += "\\ufffd";
    else absl::StrAppend(&out, text.substr(0, n));
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out + "\"";
}

void JsonWriter::NewLine() { absl::StrAppend(&out_, "\n", std::string(scopes_.size(), ' ')); }

void JsonWriter::Begin(absl::string_view key) {
  if (scopes_.empty()) return;
  Scope& scope = scopes_.back();
  if (!scope.empty) out_ += scope.one_line ? ", " : ",";
  if (!scope.one_line) NewLine();
  scope.empty = false;
  if (scope.object) absl::StrAppend(&out_, JsonString(key), ": ");
}

void JsonWriter::Open(char bracket, absl::string_view key, bool on_one_line) {
  Begin(key);
  const bool inherited = !scopes_.empty() && scopes_.back().one_line;
  out_ += bracket;
  scopes_.push_back({bracket == '{', on_one_line || inherited, true});
}

void JsonWriter::Close() {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  if (!scope.empty && !scope.one_line) NewLine();
  out_ += scope.object ? '}' : ']';
}

void JsonWriter::Number(absl::string_view key, int64_t value) {
  Begin(key);
  absl::StrAppend(&out_, value);
}

void JsonWriter::Numbers(absl::string_view key, const std::vector<int64_t>& values) {
  Begin(key);
  absl::StrAppend(&out_, "[", absl::StrJoin(values, ","), "]");
}

void JsonWriter::Seconds(absl::string_view key, double value) {
  Begin(key);
  absl::StrAppend(&out_, absl::StrFormat("%.9g", std::isfinite(value) ? value : 0.0));
}

void JsonWriter::Bool(absl::string_view key, bool value) {
  Begin(key);
  out_ += value ? "true" : "false";
}

void JsonWriter::Text(absl::string_view key, absl::string_view value) {
  Begin(key);
  out_ += JsonString(value);
}

std::string JsonWriter::Finish() { return out_ + "\n"; }

}  // namespace memcrest
