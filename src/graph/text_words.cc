#include "src/graph/text_words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace memcrest {
namespace {

constexpr absl::string_view kEvidence[] = {"exporter", "pattern", "mapping", "fallback"};

bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

absl::string_view NameOf(Evidence evidence) { return kEvidence[static_cast<size_t>(evidence)]; }

bool EvidenceFromName(absl::string_view name, Evidence& evidence) {
  for (size_t i = 0; i < 4; ++i) {
    if (kEvidence[i] != name) continue;
    evidence = static_cast<Evidence>(i);
    return true;
  }
  return false;
}

void Words::SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

bool Words::AtEnd() {
  SkipSpace();
  return rest_.empty();
}

bool Words::Take(absl::string_view mark) {
  SkipSpace();
  if (!absl::StartsWith(rest_, mark)) return false;
  // A word must end where the mark ends.
  if (IsWord(mark.back()) && rest_.size() > mark.size() && IsWord(rest_[mark.size()])) return false;
  rest_.remove_prefix(mark.size());
  return true;
}

bool Words::TakeName(absl::string_view& name) {
  SkipSpace();
  size_t n = 0;
  while (n < rest_.size() && IsWord(rest_[n])) ++n;
  if (n == 0) return false;
  name = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return true;
}

bool Words::TakeInt(int64_t& value) {
  SkipSpace();
  size_t n = !rest_.empty() && rest_[0] == '-' ? 1 : 0;
  while (n < rest_.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest_[n]))) ++n;
  if (!absl::SimpleAtoi(rest_.substr(0, n), &value)) return false;
  rest_.remove_prefix(n);
  return true;
}

bool Words::TakeId(int32_t& id) {
  int64_t value = 0;
  if (TakeInt(value)) {
    id = static_cast<int32_t>(value);
    return value >= 0 && value <= INT32_MAX;
  }
  id = kNone;
  return Take("-");
}

bool Words::TakeTensor(TensorId& id) {
  if (Take("%")) return TakeId(id) && id != kNone;
  id = kNone;
  return Take("-");
}

bool Words::TakeQuoted(std::string& text) {
  SkipSpace();
  if (rest_.empty() || rest_[0] != '"') return false;
  size_t end = 1;
  while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2u : 1u;
  if (end >= rest_.size() || !absl::CUnescape(rest_.substr(1, end - 1), &text)) return false;
  rest_.remove_prefix(end + 1);
  return true;
}

bool Words::TakeList(Dims& dims) {
  dims.clear();
  if (!Take("[")) return false;
  while (!Take("]")) {
    int64_t value = 0;
    if ((!dims.empty() && !Take(",")) || !TakeInt(value)) return false;
    dims.push_back(value);
  }
  return true;
}

bool Words::TakeNumber(int64_t& integer, double& real, bool& is_integer) {
  SkipSpace();
  const absl::string_view word = rest_.substr(0, rest_.find_first_of(",} "));
  is_integer = absl::SimpleAtoi(word, &integer);
  if (!is_integer && !absl::SimpleAtod(word, &real)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

}  // namespace memcrest
