#include "src/lift/fx_text.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace memcrest {
namespace {

constexpr int kMaxDepth = 64;  // lists nest two or three deep; more is not a trace

class Parser {
 public:
  explicit Parser(absl::string_view text) : rest_(text) {}

  bool Call(FxCall& call) {
    call.name = FxName(rest_);
    if (call.name.empty() || !SkipPast("num_users=")) return false;
    if (!absl::SimpleAtoi(TakeDigits(), &call.users) || !SkipPast("call_function[target=")) return false;
    const size_t end = rest_.find(']');
    if (end == absl::string_view::npos) return false;
    call.target = rest_.substr(0, end);
    absl::ConsumePrefix(&call.target, "torch.ops.");
    rest_.remove_prefix(end + 1);
    if (!absl::ConsumePrefix(&rest_, "(args = (")) return false;
    if (!Positional(call) || !SkipPast("kwargs = {")) return false;
    return Keywords(call);
  }

 private:
  bool Positional(FxCall& call) {
    // Its equation is unquoted and may hold commas; the list of operands ends it.
    if (absl::StartsWith(call.target, "aten.einsum")) {
      const size_t end = rest_.find(", [");
      if (end == absl::string_view::npos) return false;
      FxArg equation;
      equation.kind = FxArg::Kind::kText;
      equation.text = rest_.substr(0, end);
      call.args.push_back(std::move(equation));
      rest_.remove_prefix(end + 2);
    }
    return Items(')', call.args, 0);
  }

  bool Items(char close, std::vector<FxArg>& items, int depth) {
    while (true) {
      if (rest_.empty()) return false;
      if (rest_[0] == close) {
        rest_.remove_prefix(1);
        return true;
      }
      if (!One(close, items.emplace_back(), depth)) return false;
      Separator();
    }
  }

  bool Keywords(FxCall& call) {
    while (true) {
      if (rest_.empty()) return false;
      if (rest_[0] == '}') return true;
      const size_t colon = rest_.find(": ");
      if (colon == absl::string_view::npos) return false;
      const absl::string_view key = rest_.substr(0, colon);
      rest_.remove_prefix(colon + 2);
      FxArg value;
      if (!One('}', value, 0)) return false;
      call.kwargs.emplace_back(key, std::move(value));
      Separator();
    }
  }

  bool One(char close, FxArg& arg, int depth) {
    if (depth > kMaxDepth || rest_.empty()) return false;
    if (rest_[0] == '[' || rest_[0] == '(') {
      const char end = rest_[0] == '[' ? ']' : ')';
      rest_.remove_prefix(1);
      arg.kind = FxArg::Kind::kList;
      return Items(end, arg.items, depth + 1);
    }
    const absl::string_view word = TakeWord(close);
    if (!word.empty()) Classify(word, arg);
    return !word.empty() || (!rest_.empty() && rest_[0] == ',');
  }

  // Up to ", " or the closing bracket; brackets inside the word are its own.
  absl::string_view TakeWord(char close) {
    size_t i = 0;
    int open = 0;
    for (; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (open == 0 &&
          (c == close || (c == ',' && (i + 1 >= rest_.size() || rest_[i + 1] == ' ' || rest_[i + 1] == close))))
        break;
      if (c == '(' || c == '[' || c == '{') ++open;
      if ((c == ')' || c == ']' || c == '}') && open > 0) --open;
    }
    const absl::string_view word = rest_.substr(0, i);
    rest_.remove_prefix(i);
    return word;
  }

  static void Classify(absl::string_view word, FxArg& arg) {
    if (word[0] == '%') {
      arg.kind = FxArg::Kind::kRef;
      arg.text = word.substr(1);
    } else if (word == "None") {
      arg.kind = FxArg::Kind::kNothing;
    } else if (word == "True" || word == "False") {
      arg.kind = FxArg::Kind::kBool;
      arg.i = word == "True" ? 1 : 0;
      arg.f = static_cast<double>(arg.i);
    } else if (absl::SimpleAtoi(word, &arg.i)) {
      arg.kind = FxArg::Kind::kInt;
      arg.f = static_cast<double>(arg.i);
    } else if (LooksNumeric(word) && absl::SimpleAtod(word, &arg.f)) {
      arg.kind = FxArg::Kind::kFloat;
    } else {
      arg.kind = FxArg::Kind::kText;
      arg.text = word;
    }
  }

  static bool LooksNumeric(absl::string_view word) {
    if (word == "inf" || word == "-inf" || word == "nan") return true;
    return absl::ascii_isdigit(static_cast<unsigned char>(word.back())) || word.back() == '.';
  }

  void Separator() {
    absl::ConsumePrefix(&rest_, ",");
    while (absl::ConsumePrefix(&rest_, " ")) {
    }
  }

  bool SkipPast(absl::string_view mark) {
    const size_t at = rest_.find(mark);
    if (at == absl::string_view::npos) return false;
    rest_.remove_prefix(at + mark.size());
    return true;
  }

  absl::string_view TakeDigits() {
    size_t i = 0;
    while (i < rest_.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest_[i]))) ++i;
    const absl::string_view digits = rest_.substr(0, i);
    rest_.remove_prefix(i);
    return digits;
  }

  absl::string_view rest_;
};

// Where the number of "slice_12" begins; npos if it has none.
size_t NumberAt(absl::string_view name) {
  const size_t line = name.rfind('_');
  if (line == absl::string_view::npos || line + 1 == name.size() || line == 0) return absl::string_view::npos;
  for (size_t i = line + 1; i < name.size(); ++i) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(name[i]))) return absl::string_view::npos;
  }
  return line;
}

}  // namespace

const FxArg* FxCall::Keyword(absl::string_view key) const {
  for (const auto& [name_of, value] : kwargs) {
    if (name_of == key) return &value;
  }
  return nullptr;
}

bool ParseFxCall(absl::string_view text, FxCall& call) { return Parser(text).Call(call); }

absl::string_view FxName(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "%")) return "";
  size_t i = 0;
  while (i < text.size() && (absl::ascii_isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_')) ++i;
  return text.substr(0, i);
}

absl::string_view FxBaseName(absl::string_view name) { return name.substr(0, NumberAt(name)); }

int64_t FxNumber(absl::string_view name) {
  const size_t at = NumberAt(name);
  int64_t number = 0;
  return at != absl::string_view::npos && absl::SimpleAtoi(name.substr(at + 1), &number) ? number : 0;
}

}  // namespace memcrest
