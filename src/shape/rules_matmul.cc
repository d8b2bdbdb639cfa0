// Rules of matrix products: MatMul and its integer forms, Gemm, Einsum.
#include <array>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

void MatMul(RuleContext& c) {
  Dims sizes;
  if (MatMulSizes(c, 0, 1, &sizes)) c.Out(0, c.Type(0), std::move(sizes));
}

void MatMulInteger(RuleContext& c) {
  Dims sizes;
  if (MatMulSizes(c, 0, 1, &sizes)) c.Out(0, DType::kInt32, std::move(sizes));
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void QLinearMatMul(RuleContext& c) {
  Dims sizes;
  if (MatMulSizes(c, 0, 3, &sizes)) c.Out(0, c.Type(7), std::move(sizes));
}

void Gemm(RuleContext& c) {
  const Dims &a = c.Sizes(0), &b = c.Sizes(1);
  if (a.size() != 2 || b.size() != 2) {
    c.Fail("needs two matrices");
    return;
  }
  const size_t ta = c.node().Int("transA", 0) != 0, tb = c.node().Int("transB", 0) != 0;
  if (a[1 - ta] != b[tb]) {
    c.Fail(absl::StrCat("inner sizes ", a[1 - ta], " and ", b[tb], " differ"));
    return;
  }
  Dims sizes = {a[ta], b[1 - tb]};
  const std::optional<Dims> with_bias = c.Has(2) && c.opset() >= 7 ? Broadcast(sizes, c.Sizes(2)) : sizes;
  if (!with_bias.has_value() || *with_bias != sizes) {
    c.Fail(absl::StrCat("C of ", ToText(c.Sizes(2)), " does not broadcast to ", ToText(sizes)));
    return;
  }
  c.Out(0, c.Type(0), std::move(sizes));
}

// The subscripts of one operand: letters, and where "..." stands (npos if nowhere).
struct Term {
  std::string letters;
  size_t ellipsis = std::string::npos;
};

Term ParseTerm(absl::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (term.ellipsis == std::string::npos) term.ellipsis = term.letters.size();
    } else if (!absl::ascii_isspace(static_cast<unsigned char>(text[i]))) {
      term.letters.push_back(text[i]);
    }
  }
  return term;
}

// Letters' sizes and the broadcast sizes under "...", collected over the operands.
class EinsumSizes {
 public:
  bool Add(RuleContext& c, int input, const Term& term) {
    const Dims& sizes = c.Sizes(input);
    const bool dots = term.ellipsis != std::string::npos;
    if (sizes.size() < term.letters.size() || (!dots && sizes.size() != term.letters.size())) {
      return c.Fail(absl::StrCat("subscripts \"", term.letters, "\" for ", ToText(sizes)));
    }
    const size_t hidden = sizes.size() - term.letters.size();
    for (size_t k = 0; k < term.letters.size(); ++k) {
      if (!AddLetter(c, term.letters[k], sizes[k < term.ellipsis ? k : k + hidden])) return false;
    }
    if (!dots) return true;
    const std::optional<Dims> both = Broadcast(dots_, DimSpan(sizes).subspan(term.ellipsis, hidden));
    if (!both.has_value()) return c.Fail("the dimensions under \"...\" do not broadcast");
    dots_ = *both;
    return true;
  }
  // The implicit output: "..." and the letters that occur once, sorted.
  Term Implicit() const {
    Term term = {"", 0};
    for (const auto& [letter, count] : count_) {
      if (count == 1) term.letters.push_back(letter);
    }
    return term;
  }
  bool Result(RuleContext& c, const Term& term, Dims* sizes) const {
    for (size_t k = 0; k <= term.letters.size(); ++k) {
      if (k == term.ellipsis) Append(sizes, dots_.begin(), dots_.end());
      if (k == term.letters.size()) break;
      const auto it = size_.find(term.letters[k]);
      if (it == size_.end()) return c.Fail("the result has a subscript that no operand has");
      sizes->push_back(it->second);
    }
    return true;
  }

 private:
  bool AddLetter(RuleContext& c, char letter, int64_t size) {
    ++count_[letter];
    const auto [it, added] = size_.try_emplace(letter, size);
    if (added || it->second == size || size == 1) return true;
    if (it->second != 1) {
      return c.Fail(absl::StrCat("subscript ", std::string(1, letter), " is both ", it->second, " and ", size));
    }
    it->second = size;
    return true;
  }

  std::map<char, int64_t> size_;
  std::map<char, int> count_;
  Dims dots_;
};

void Einsum(RuleContext& c) {
  const absl::string_view equation = c.node().String("equation", "");
  const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(equation, absl::MaxSplits("->", 1));
  const std::vector<absl::string_view> terms = absl::StrSplit(sides.first, ',');
  if (static_cast<int>(terms.size()) != c.inputs()) {
    c.Fail(absl::StrCat("\"", equation, "\" does not fit ", c.inputs(), " operands"));
    return;
  }
  EinsumSizes letters;
  for (int i = 0; i < c.inputs(); ++i) {
    if (!letters.Add(c, i, ParseTerm(terms[static_cast<size_t>(i)]))) return;
  }
  const bool explicit_result = equation.find("->") != absl::string_view::npos;
  Dims sizes;
  if (letters.Result(c, explicit_result ? ParseTerm(sides.second) : letters.Implicit(), &sizes)) {
    c.Out(0, c.Type(0), std::move(sizes));
  }
}

// The determinant of the last two dimensions.
void Det(RuleContext& c) {
  if (c.Rank(0) < 2) {
    c.Fail("needs matrices");
    return;
  }
  Dims sizes(c.Sizes(0).begin(), c.Sizes(0).end() - 2);
  c.Out(0, c.Type(0), std::move(sizes));
}

constexpr std::array kRules = {
    Rule{"MatMul", MatMul, 2},
    Rule{"MatMulInteger", MatMulInteger, 2},
    Rule{"QLinearMatMul", QLinearMatMul, 8},
    Rule{"Gemm", Gemm, 2},
    Rule{"Einsum", Einsum},
    Rule{"Det", Det},
};

}  // namespace

absl::Span<const Rule> MatMulRules() { return kRules; }

}  // namespace memcrest::shape
