#include "src/lift/aten_schema.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace memcrest {
namespace {

using Table = absl::flat_hash_map<absl::string_view, AtenSchema>;

Key KeyOf(absl::string_view name) {
  for (int i = 0; i < static_cast<int>(Key::kKeyCount); ++i) {
    if (NameOf(static_cast<Key>(i)) == name) return static_cast<Key>(i);
  }
  return Key::kKeyCount;
}

AttrValue ConstantOf(absl::string_view text) {
  int64_t number;
  if (text == "true" || text == "false") return text == "true";
  if (absl::SimpleAtoi(text, &number)) return number;
  return std::string(text);
}

void AddToken(absl::string_view token, AtenSchema& schema) {
  AtenArg arg;
  if (absl::ConsumePrefix(&token, "=")) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(token, absl::MaxSplits(':', 1));
    schema.constants.Set(KeyOf(parts.first), ConstantOf(parts.second));
    return;
  }
  if (absl::ConsumePrefix(&token, "-")) {
    arg.name = token;
  } else if (absl::ConsumePrefix(&token, "*")) {
    arg.kind = AtenArg::Kind::kTensors;
    arg.name = token;
  } else if (absl::StrContains(token, ":")) {
    arg.kind = absl::ConsumePrefix(&token, "#") ? AtenArg::Kind::kLength : AtenArg::Kind::kAttr;
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(token, absl::MaxSplits(':', 1));
    arg.key = KeyOf(parts.first);
    arg.name = parts.second;
  } else {
    arg.kind = AtenArg::Kind::kTensor;
    arg.name = token;
  }
  schema.args.push_back(arg);
}

Table* BuildTable() {
  auto* const table = new Table();
  for (const AtenRow& row : AtenRows()) {
    AtenSchema schema;
    schema.fix = row.fix;
    for (const absl::string_view token : absl::StrSplit(row.args, ' ', absl::SkipEmpty())) AddToken(token, schema);
    for (const absl::string_view name : absl::StrSplit(row.names, ' ', absl::SkipEmpty())) {
      schema.op = row.op[0] != '\0' ? absl::string_view(row.op) : name.substr(0, name.find('.'));
      table->emplace(name, schema);
    }
  }
  return table;
}

absl::string_view WithoutNamespace(absl::string_view target) {
  const size_t dot = target.find('.');
  return dot == absl::string_view::npos ? target : target.substr(dot + 1);
}

}  // namespace

absl::string_view AtenBaseName(absl::string_view target) {
  const absl::string_view name = WithoutNamespace(target);
  return name.substr(0, name.find('.'));
}

const AtenSchema* FindAten(absl::string_view target) {
  static const Table& table = *BuildTable();
  const absl::string_view full = WithoutNamespace(target);
  auto found = table.find(full);
  if (found == table.end()) found = table.find(AtenBaseName(target));
  return found == table.end() ? nullptr : &found->second;
}

bool IsHostTarget(absl::string_view target) {
  const absl::string_view space = target.substr(0, target.find('.'));
  if (space == "operator" || space == "_operator" || space == "math" || space == "builtins") return true;
  const absl::string_view base = AtenBaseName(target);
  return absl::StartsWith(base, "sym_") || absl::StartsWith(base, "_sym_") || absl::StartsWith(base, "_assert") ||
         base == "_local_scalar_dense" || base == "item" || base == "is_nonzero";
}

}  // namespace memcrest
