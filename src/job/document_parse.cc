// The reader of both syntaxes: they differ in keys, separators, comments and repetition, and share the rest.
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/job/document.h"

namespace memcrest {
namespace {

bool IsWordStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+';
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), text_(source.text) {
    SkipSpace();
    json_ = Peek() == '{';
  }

  absl::StatusOr<Doc> Run() {
    Doc root;
    root.kind = Doc::Kind::kMap;
    if (json_ ? Value(root, 0) : Fields(root, 0, '\0')) {
      SkipSpace();
      if (at_ == text_.size()) return root;
      Fail("text after the end of the document");
    }
    return ToStatus(Problem{"E0103", error_, WhereIn(source_, error_at_), "",
                            json_ ? "the file is read as JSON because it begins with {"
                                  : "the file is read as protobuf text form: name: value, one field a line"});
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void SkipSpace() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#' && !json_) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        if (at_ == text_.size()) return;
      } else if (!absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) {
        return;
      }
    }
  }

  bool Fail(std::string what) {
    if (error_.empty()) {
      error_ = std::move(what);
      error_at_ = at_;
    }
    return false;
  }

  bool Value(Doc& doc, int depth) {
    SkipSpace();
    doc.offset = at_;
    if (depth > kMaxDepth) return Fail("nested too deeply");
    const char c = Peek();
    if (c == '{' || (c == '<' && !json_)) {
      ++at_;
      doc.kind = Doc::Kind::kMap;
      return Fields(doc, depth + 1, c == '{' ? '}' : '>');
    }
    if (c == '[') return List(doc, depth + 1);
    if (c == '"' || (c == '\'' && !json_)) return Strings(doc);
    if (absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+' || c == '.') return Number(doc);
    if (IsWordStart(c)) return Word(doc);
    return Fail(at_ == text_.size() ? "the file ends where a value should stand" : "expected a value");
  }

  bool List(Doc& doc, int depth) {
    doc.kind = Doc::Kind::kList;
    ++at_;
    if (Take(']')) return true;
    do {
      doc.items.emplace_back();
      if (!Value(doc.items.back(), depth)) return false;
    } while (Take(','));
    return Take(']') || Fail("expected , or ]");
  }

  // The fields of a map up to `close` ('\0': the end of the file).
  bool Fields(Doc& map, int depth, char close) {
    for (bool first = true;; first = false) {
      SkipSpace();
      if (at_ == text_.size())
        return close == '\0' || Fail(absl::StrCat("the file ends where ", std::string(1, close), " is missing"));
      if (Peek() == close && (first || !json_ || !after_comma_)) {
        ++at_;
        return true;
      }
      if (json_ && !first && !after_comma_) return Fail("expected , or }");
      if (!Field(map, depth)) return false;
      after_comma_ = Take(',') || (!json_ && Take(';'));
    }
  }

  bool Field(Doc& map, int depth) {
    Doc field;
    SkipSpace();
    field.key_offset = at_;
    if (!Key(field.key)) return false;
    const bool colon = Take(':');
    SkipSpace();
    if (!colon && (json_ || (Peek() != '{' && Peek() != '<'))) return Fail("expected : after the field's name");
    if (!Value(field, depth)) return false;
    return Append(map, std::move(field));
  }

  bool Key(std::string& key) {
    if (Peek() == '"') {
      Doc name;
      if (!Strings(name)) return false;
      key = name.text;
      return true;
    }
    if (json_ || !IsWordStart(Peek())) return Fail("expected a field's name");
    while (at_ < text_.size() && (IsWord(text_[at_]))) key += text_[at_++];
    return true;
  }

  // Text form repeats a field to make a list of it; in JSON the second one is a mistake.
  bool Append(Doc& map, Doc field) {
    for (Doc& other : map.items) {
      if (other.key != field.key) continue;
      if (json_) {
        at_ = field.key_offset;
        return Fail(absl::StrCat("field \"", field.key, "\" is given twice"));
      }
      MakeList(other);
      if (field.kind == Doc::Kind::kList) {
        for (Doc& item : field.items) other.items.push_back(std::move(item));
      } else {
        other.items.push_back(std::move(field));
      }
      return true;
    }
    map.items.push_back(std::move(field));
    return true;
  }

  static void MakeList(Doc& doc) {
    if (doc.kind == Doc::Kind::kList) return;
    Doc list;
    list.kind = Doc::Kind::kList;
    list.key = doc.key;
    list.offset = doc.offset;
    list.key_offset = doc.key_offset;
    list.items.push_back(std::move(doc));
    doc = std::move(list);
  }

  bool Word(Doc& doc) {
    while (at_ < text_.size() && IsWord(text_[at_])) doc.text += text_[at_++];
    if (doc.text == "null") doc.kind = Doc::Kind::kNull;
    else if (doc.text == "true" || doc.text == "false") doc.kind = Doc::Kind::kBool;
    else if (json_) return at_ = doc.offset, Fail(absl::StrCat("\"", doc.text, "\" must stand in quotes"));
    else doc.kind = Doc::Kind::kString;
    return true;
  }

  bool Number(Doc& doc) {
    doc.kind = Doc::Kind::kNumber;
    while (at_ < text_.size() && IsWord(text_[at_])) doc.text += text_[at_++];
    double ignored;
    if (absl::SimpleAtod(doc.text, &ignored)) return true;
    at_ = doc.offset;
    return Fail(absl::StrCat("\"", doc.text, "\" is not a number"));
  }

  bool Strings(Doc& doc) {
    doc.kind = Doc::Kind::kString;
    do {
      if (!String(doc.text)) return false;
      if (!json_) SkipSpace();
    } while (!json_ && (Peek() == '"' || Peek() == '\''));
    return true;
  }

  bool String(std::string& out) {
    const size_t begin = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] != '\\') out += text_[at_++];
      else if (!Escape(out)) return false;
    }
    if (Peek() == quote) return ++at_, true;
    at_ = begin;
    return Fail("the string does not end on its line");
  }

  bool Escape(std::string& out) {
    static constexpr absl::string_view kFrom = "nrtbf\"'\\/", kTo = "\n\r\t\b\f\"'\\/";
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == 'u') return Unicode(out);
    const size_t i = kFrom.find(c);
    if (c == '\0' || i == absl::string_view::npos) return Fail("unknown escape in a string");
    out += kTo[i];
    at_ += 2;
    return true;
  }

  bool Unicode(std::string& out) {
    uint32_t code = 0;
    if (!Hex4(code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && absl::StartsWith(absl::string_view(text_).substr(at_), "\\u")) {
      uint32_t low = 0;
      if (!Hex4(low)) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + ((low - 0xDC00) & 0x3FF);
    }
    AppendUtf8(code, out);
    return true;
  }

  bool Hex4(uint32_t& code) {
    const std::string digits = text_.substr(at_ + 2, 4);
    uint64_t value = 0;
    if (digits.size() != 4 || !absl::SimpleHexAtoi(digits, &value) || value > 0xFFFF)
      return Fail("\\u needs four hexadecimal digits");
    code = static_cast<uint32_t>(value);
    at_ += 6;
    return true;
  }

  const Source& source_;
  const std::string& text_;
  size_t at_ = 0;
  bool json_ = false;
  bool after_comma_ = false;
  std::string error_;
  size_t error_at_ = 0;
};

}  // namespace

absl::StatusOr<Doc> ParseDocument(const Source& source) { return Parser(source).Run(); }

}  // namespace memcrest
