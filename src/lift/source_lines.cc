#include "src/lift/source_lines.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace memcrest {
namespace {

absl::string_view NextLine(absl::string_view& text) {
  const size_t end = text.find('\n');
  const absl::string_view line = text.substr(0, end);
  text.remove_prefix(end == absl::string_view::npos ? text.size() : end + 1);
  return absl::StripAsciiWhitespace(line);
}

// File "NAME", line N, in FUNCTION
bool ParseFrame(absl::string_view line, SourceFrame& frame) {
  if (!absl::ConsumePrefix(&line, "File \"")) return false;
  const size_t quote = line.find("\", line ");
  if (quote == absl::string_view::npos) return false;
  frame.file = line.substr(0, quote);
  line.remove_prefix(quote + 8);
  const size_t comma = line.find(", in ");
  if (comma == absl::string_view::npos) return false;
  frame.function = line.substr(comma + 5);
  return absl::SimpleAtoi(line.substr(0, comma), &frame.line);
}

bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Position of `find` outside of brackets and strings; npos if there is none. Unclosed brackets are a cut-off line.
template <typename Found>
size_t FindOutside(absl::string_view code, Found found) {
  int open = 0;
  char quote = '\0';
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[' || c == '{') ++open;
    if (c == ')' || c == ']' || c == '}') --open;
    if (open == 0 && found(i)) return i;
  }
  return absl::string_view::npos;
}

bool IsAssignAt(absl::string_view code, size_t i) {
  if (code[i] != '=' || (i + 1 < code.size() && code[i + 1] == '=')) return false;
  return i > 0 && !absl::StrContains("=!<>:", code.substr(i - 1, 1));
}

void AddTarget(absl::string_view text, Statement& statement) {
  text = absl::StripAsciiWhitespace(text.substr(0, text.find(':')));  // without an annotation
  absl::ConsumePrefix(&text, "*");
  for (const char c : text) {
    if (!IsWord(c) && c != '.') return;
  }
  if (!text.empty()) statement.targets.push_back(text);
}

// "a, b", "a, (b, c)"; one name alone too. "x[0]" binds no name: "[]" keeps its place among others.
void AddTargets(absl::string_view text, Statement& statement) {
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    const size_t comma = FindOutside(text, [&](size_t i) { return text[i] == ','; });
    absl::string_view one = absl::StripAsciiWhitespace(text.substr(0, comma));
    const bool nested = one.size() > 1 && (one[0] == '(' || one[0] == '[');
    if (nested) AddTargets(one.substr(1, one.size() - 2), statement);
    else if (absl::StrContains(one, "[") || absl::StrContains(one, "(")) statement.targets.push_back("[]");
    else AddTarget(one, statement);
    if (comma == absl::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (statement.targets.size() == 1 && statement.targets[0] == "[]") statement.targets.clear();
}

// What stands behind "if c:", "else:", "with c:" on the same line.
absl::string_view WithoutHeader(absl::string_view code) {
  for (const absl::string_view word : {"if ", "elif ", "else", "with ", "try", "while "}) {
    if (!absl::StartsWith(code, word)) continue;
    const size_t colon = FindOutside(code, [&](size_t i) { return code[i] == ':'; });
    if (colon != absl::string_view::npos) return absl::StripAsciiWhitespace(code.substr(colon + 1));
  }
  // "def forward(self, x): return f(x)", "for f in fs: x = f(x)"; a loop whose body stands below binds its variable.
  if (absl::StartsWith(code, "def ") || absl::StartsWith(code, "for ")) {
    const size_t colon = FindOutside(code, [&](size_t i) { return code[i] == ':'; });
    if (colon == absl::string_view::npos) return code;
    const absl::string_view body = absl::StripAsciiWhitespace(code.substr(colon + 1));
    if (!body.empty()) return body;
  }
  return code;
}

int CountCalls(absl::string_view code) {
  int calls = 0;
  for (size_t i = 1; i < code.size(); ++i) {
    if (code[i] == '(' && (IsWord(code[i - 1]) || code[i - 1] == ')' || code[i - 1] == ']')) ++calls;
  }
  return calls;
}

void ParseOne(absl::string_view code, Statement& statement) {
  if (absl::StartsWith(code, "return")) {
    statement.returns = true;
    return;
  }
  if (absl::ConsumePrefix(&code, "for ")) {  // the loop's variable
    const size_t in = code.find(" in ");
    if (in != absl::string_view::npos) AddTargets(code.substr(0, in), statement);
    return;
  }
  if (const size_t append = code.find(".append("); append != absl::string_view::npos && append > 0) {
    AddTarget(code.substr(0, append), statement);
    statement.appends = !statement.targets.empty();
    return;
  }
  while (true) {  // "a = b = f(x)" has two
    const size_t assign = FindOutside(code, [&](size_t i) { return IsAssignAt(code, i); });
    if (assign == absl::string_view::npos) return;
    absl::string_view left = code.substr(0, assign);
    if (!left.empty() && absl::StrContains("+-*/@|&", left.substr(left.size() - 1))) {
      statement.augmented = left.back();
      left.remove_suffix(1);
    }
    AddTargets(left, statement);
    code.remove_prefix(assign + 1);
  }
}

}  // namespace

SourceFrames ParseStack(absl::string_view trace) {
  SourceFrames frames;
  while (!trace.empty()) {
    SourceFrame frame;
    const absl::string_view line = NextLine(trace);
    if (ParseFrame(line, frame)) frames.push_back(frame);
    else if (!frames.empty() && frames.back().code.empty()) frames.back().code = line;
  }
  return frames;
}

Statement ParseStatement(absl::string_view code) {
  Statement statement;
  code = WithoutHeader(absl::StripAsciiWhitespace(code));
  statement.calls = CountCalls(code);
  while (!code.empty()) {
    const size_t semicolon = FindOutside(code, [&](size_t i) { return code[i] == ';'; });
    ParseOne(absl::StripAsciiWhitespace(code.substr(0, semicolon)), statement);
    ++statement.statements;
    if (statement.first_targets == 0) statement.first_targets = statement.targets.size();
    if (semicolon == absl::string_view::npos) break;
    code.remove_prefix(semicolon + 1);
  }
  return statement;
}

}  // namespace memcrest
