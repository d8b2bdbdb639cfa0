#include "src/shape/expression.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "src/base/bytes.h"

namespace memcrest {
namespace {

// A fraction with a positive denominator; `ok` is false after a missing symbol, an overflow or a division by zero.
struct Fraction {
  int64_t num = 0, den = 1;
  bool ok = true;
};
constexpr Fraction kBad = {0, 1, false};

Fraction Reduced(std::optional<int64_t> num, std::optional<int64_t> den) {
  if (!num || !den || *den == 0 || *num == INT64_MIN || *den == INT64_MIN) return kBad;
  const int64_t divisor = std::max<int64_t>(std::gcd(*num, *den), 1) * (*den < 0 ? -1 : 1);
  return {*num / divisor, *den / divisor, true};
}

int64_t FloorOf(Fraction f) { return f.num / f.den - (f.num % f.den < 0 ? 1 : 0); }

Fraction Add(Fraction a, Fraction b) {
  const std::optional<int64_t> x = CheckedMul(a.num, b.den), y = CheckedMul(b.num, a.den);
  if (!a.ok || !b.ok || !x || !y) return kBad;
  return Reduced(CheckedAdd(*x, *y), CheckedMul(a.den, b.den));
}
Fraction Multiply(Fraction a, Fraction b) {
  if (!a.ok || !b.ok) return kBad;
  return Reduced(CheckedMul(a.num, b.num), CheckedMul(a.den, b.den));
}
Fraction Negative(Fraction a) { return Multiply(a, {-1, 1, true}); }
Fraction Divide(Fraction a, Fraction b) {
  if (!a.ok || !b.ok) return kBad;
  return Reduced(CheckedMul(a.num, b.den), CheckedMul(a.den, b.num));
}
Fraction Floor(Fraction a) { return a.ok ? Fraction{FloorOf(a), 1, true} : kBad; }
Fraction Ceiling(Fraction a) { return Negative(Floor(Negative(a))); }
Fraction Truncate(Fraction a) { return a.num < 0 ? Ceiling(a) : Floor(a); }
Fraction FloorDivide(Fraction a, Fraction b) { return Floor(Divide(a, b)); }
Fraction Modulo(Fraction a, Fraction b) { return Add(a, Negative(Multiply(b, FloorDivide(a, b)))); }
bool Less(Fraction a, Fraction b) {
  const Fraction difference = Add(a, Negative(b));
  return difference.ok && difference.num < 0;
}
Fraction Minimum(Fraction a, Fraction b) { return !a.ok || !b.ok ? kBad : Less(b, a) ? b : a; }
Fraction Maximum(Fraction a, Fraction b) { return !a.ok || !b.ok ? kBad : Less(a, b) ? b : a; }
Fraction Power(Fraction a, Fraction b) {
  if (!a.ok || !b.ok || b.den != 1 || b.num < 0 || b.num > 62) return kBad;
  Fraction result = {1, 1, true};
  for (int64_t i = 0; i < b.num; ++i) result = Multiply(result, a);
  return result;
}
Fraction Same(Fraction a) { return a; }

struct Function {
  absl::string_view name;
  Fraction (*one)(Fraction);            // functions of one argument
  Fraction (*two)(Fraction, Fraction);  // folded over two or more
};
constexpr std::array<Function, 22> kFunctions = {{
    {"Min", nullptr, Minimum},          {"min", nullptr, Minimum},       {"Max", nullptr, Maximum},
    {"max", nullptr, Maximum},          {"Mod", nullptr, Modulo},        {"PythonMod", nullptr, Modulo},
    {"FloorDiv", nullptr, FloorDivide}, {"CleanDiv", nullptr, Divide},   {"IntTrueDiv", nullptr, Divide},
    {"FloatTrueDiv", nullptr, Divide},  {"Pow", nullptr, Power},         {"PowByNatural", nullptr, Power},
    {"floor", Floor, nullptr},          {"FloorToInt", Floor, nullptr},  {"ceiling", Ceiling, nullptr},
    {"ceil", Ceiling, nullptr},         {"CeilToInt", Ceiling, nullptr}, {"TruncToInt", Truncate, nullptr},
    {"trunc", Truncate, nullptr},       {"ToFloat", Same, nullptr},      {"Identity", Same, nullptr},
    {"int", Truncate, nullptr},
}};

const Function* FindFunction(absl::string_view name) {
  for (const Function& f : kFunctions) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.'; }

// Recursive descent. `symbols` may be null: then names are collected only. A syntax error sets `failed`.
class Reader {
 public:
  Reader(absl::string_view text, const SymbolTable* symbols) : text_(text), symbols_(symbols) {}

  // nullopt on a syntax error.
  std::optional<Fraction> Read() {
    const Fraction value = Sum();
    Skip();
    if (failed_ || !text_.empty()) return std::nullopt;
    return value;
  }
  const std::vector<absl::string_view>& names() const { return names_; }

 private:
  static constexpr int kDeepest = 200;  // parentheses; deeper text is no dimension

  void Skip() { text_ = absl::StripLeadingAsciiWhitespace(text_); }
  bool Take(absl::string_view token) {
    Skip();
    if (text_.substr(0, token.size()) != token) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  Fraction Error() {
    failed_ = true;
    text_ = "";
    return kBad;
  }

  Fraction Sum() {
    Fraction value = Product();
    while (!failed_) {
      if (Take("+")) {
        value = Add(value, Product());
      } else if (Take("-")) {
        value = Add(value, Negative(Product()));
      } else {
        break;
      }
    }
    return value;
  }
  Fraction Product() {
    Fraction value = Unary();
    while (!failed_) {
      if (Take("//")) {
        value = FloorDivide(value, Unary());
      } else if (Take("*")) {
        value = Multiply(value, Unary());
      } else if (Take("/")) {
        value = Divide(value, Unary());
      } else if (Take("%")) {
        value = Modulo(value, Unary());
      } else {
        break;
      }
    }
    return value;
  }
  Fraction Unary() {
    if (++depth_ > kDeepest) return Error();
    const Fraction value = Take("-") ? Negative(Unary()) : Take("+") ? Unary() : Exponentiation();
    --depth_;
    return value;
  }
  Fraction Exponentiation() {
    const Fraction base = Primary();
    return Take("**") ? Power(base, Unary()) : base;
  }
  Fraction Primary() {
    if (Take("(")) {
      const Fraction value = Sum();
      return Take(")") ? value : Error();
    }
    Skip();
    if (text_.empty()) return Error();
    if (absl::ascii_isdigit(static_cast<unsigned char>(text_[0]))) return Number();
    return IsNameStart(text_[0]) ? Name() : Error();
  }
  Fraction Number() {
    size_t n = 0;
    while (n < text_.size() && IsNamePart(text_[n])) ++n;
    absl::string_view digits = text_.substr(0, n);
    text_.remove_prefix(n);
    if (digits.size() > 2 && digits.substr(digits.size() - 2) == ".0") digits.remove_suffix(2);  // SymPy's "2.0"
    int64_t value = 0;
    return absl::SimpleAtoi(digits, &value) ? Fraction{value, 1, true} : Error();
  }
  Fraction Name() {
    size_t n = 0;
    while (n < text_.size() && IsNamePart(text_[n])) ++n;
    const absl::string_view name = text_.substr(0, n);
    text_.remove_prefix(n);
    if (Take("(")) return Call(name);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    if (symbols_ == nullptr) return kBad;
    const auto it = symbols_->find(std::string(name));
    return it == symbols_->end() ? kBad : Fraction{it->second, 1, true};
  }
  Fraction Call(absl::string_view name) {
    const Function* function = FindFunction(name);
    if (function == nullptr) return Error();
    Fraction value = Sum();
    bool more = false;
    while (!failed_ && Take(",")) {
      more = true;
      const Fraction next = Sum();
      value = function->two != nullptr ? function->two(value, next) : Error();
    }
    if (failed_ || !Take(")") || (!more && function->one == nullptr)) return Error();
    return more ? value : function->one(value);
  }

  absl::string_view text_;
  const SymbolTable* symbols_;
  std::vector<absl::string_view> names_;
  bool failed_ = false;
  int depth_ = 0;
};

}  // namespace

std::optional<int64_t> EvaluateExpression(absl::string_view text, const SymbolTable& symbols) {
  const auto whole = symbols.find(std::string(absl::StripAsciiWhitespace(text)));
  if (whole != symbols.end()) return whole->second;
  const std::optional<Fraction> value = Reader(text, &symbols).Read();
  if (!value.has_value() || !value->ok || value->den != 1) return std::nullopt;
  return value->num;
}

std::vector<absl::string_view> SymbolsOf(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  Reader reader(text, nullptr);
  if (reader.Read().has_value()) return reader.names();
  if (text.empty()) return {};
  return {text};
}

}  // namespace memcrest
