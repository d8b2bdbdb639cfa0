#include "src/lift/signature.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace memcrest {
namespace {

absl::string_view TargetOf(absl::string_view rest) {
  const size_t begin = rest.find("target='");
  if (begin == absl::string_view::npos) return "";
  rest.remove_prefix(begin + 8);
  return rest.substr(0, rest.find('\''));
}

SignatureEntry::Kind KindOf(absl::string_view word) {
  if (word == "PARAMETER") return SignatureEntry::Kind::kParameter;
  if (word == "BUFFER") return SignatureEntry::Kind::kBuffer;
  if (word == "CONSTANT_TENSOR") return SignatureEntry::Kind::kConstant;
  if (word == "USER_INPUT") return SignatureEntry::Kind::kInput;
  return SignatureEntry::Kind::kOther;
}

// "b_mask: BUFFER target='mask' persistent=False"
void AddLine(absl::string_view line, bool in_outputs, Signature& signature) {
  const size_t colon = line.find(": ");
  if (colon == absl::string_view::npos) return;
  absl::string_view rest = line.substr(colon + 2);
  const absl::string_view word = rest.substr(0, rest.find(' '));
  if (in_outputs) {
    if (word == "USER_OUTPUT") signature.outputs.push_back(line.substr(0, colon));
    return;
  }
  SignatureEntry entry;
  entry.name = line.substr(0, colon);
  entry.kind = KindOf(word);
  entry.target = TargetOf(rest);
  entry.persistent = !absl::StrContains(rest, "persistent=False");
  signature.inputs.push_back(entry);
}

}  // namespace

Signature ParseSignature(absl::string_view text) {
  Signature signature;
  bool in_outputs = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const absl::string_view line = text.substr(0, end);
    text.remove_prefix(end == absl::string_view::npos ? text.size() : end + 1);
    if (absl::StartsWith(line, "# outputs")) in_outputs = true;
    else if (absl::StartsWith(line, "# inputs")) in_outputs = false;
    else AddLine(line, in_outputs, signature);
  }
  return signature;
}

}  // namespace memcrest
