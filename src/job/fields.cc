#include "src/job/fields.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/job/nearest.h"

namespace memcrest {
namespace {

constexpr double kLargestExact = 9007199254740992.0;  // 2^53

const char* KindName(const Doc& doc) {
  static constexpr const char* kNames[] = {"null", "a boolean", "a number", "text", "a list", "a message"};
  return kNames[static_cast<size_t>(doc.kind)];
}

bool IsScalar(const Doc& doc) { return doc.kind == Doc::Kind::kNumber || doc.kind == Doc::Kind::kString; }

bool ToInt(const std::string& text, int64_t& out) {
  int64_t i;
  double d;
  if (absl::SimpleAtoi(text, &i)) return out = i, true;
  if (!absl::SimpleAtod(text, &d) || std::floor(d) != d || std::fabs(d) > kLargestExact) return false;
  out = static_cast<int64_t>(d);
  return true;
}

Setting ScalarOf(const Doc& doc) {
  int64_t i;
  double d;
  if (doc.text == "true" || doc.text == "false") return doc.text == "true";
  if (ToInt(doc.text, i) && !absl::StrContains(doc.text, ".")) return i;
  if (absl::SimpleAtod(doc.text, &d) && std::isfinite(d)) return d;
  return doc.text;
}

}  // namespace

Doc Unwrapped(const Doc& doc) {
  if (doc.kind != Doc::Kind::kMap || doc.items.size() != 1) return doc;
  const Doc& only = doc.items[0];
  if (only.key == "number_value" || only.key == "string_value" || only.key == "bool_value") return only;
  if (only.key != "list_value" || only.kind != Doc::Kind::kMap) return doc;
  Doc list;
  list.kind = Doc::Kind::kList;
  list.offset = doc.offset;
  for (const Doc& values : only.items) {
    if (values.kind != Doc::Kind::kList) list.items.push_back(Unwrapped(values));
    for (const Doc& item : values.kind == Doc::Kind::kList ? values.items : std::vector<Doc>())
      list.items.push_back(Unwrapped(item));
  }
  return list;
}

void FieldReader::Read(const Doc& doc, bool& out) {
  const Doc value = Unwrapped(doc);
  const bool word = value.kind == Doc::Kind::kBool || IsScalar(value);
  if (word && (value.text == "true" || value.text == "1")) out = true;
  else if (word && (value.text == "false" || value.text == "0")) out = false;
  else Wrong(doc, "true or false");
}

void FieldReader::Read(const Doc& doc, int64_t& out) {
  const Doc value = Unwrapped(doc);
  if (!IsScalar(value) || !ToInt(value.text, out)) Wrong(doc, "a whole number");
}

void FieldReader::Read(const Doc& doc, double& out) {
  const Doc value = Unwrapped(doc);
  double d;
  if (!IsScalar(value) || !absl::SimpleAtod(value.text, &d) || !std::isfinite(d)) return Wrong(doc, "a number");
  out = d;
}

void FieldReader::Read(const Doc& doc, std::string& out) {
  const Doc value = Unwrapped(doc);
  if (value.kind == Doc::Kind::kString) out = value.text;
  else Wrong(doc, "text");
}

void FieldReader::Read(const Doc& doc, DType& out) {
  static constexpr std::pair<const char*, DType> kShort[] = {
      {"fp32", DType::kFloat32}, {"bf16", DType::kBFloat16}, {"fp16", DType::kFloat16}, {"none", DType::kUndefined}};
  const Doc value = Unwrapped(doc);
  if (doc.kind == Doc::Kind::kNull) return;
  for (const auto& [name, dtype] : kShort) {
    if (value.text == name) {
      out = dtype;
      return;
    }
  }
  const DType named = DTypeFromName(value.text);
  if (IsFloating(named)) out = named;
  else Wrong(doc, "a floating type: fp32, bf16, fp16, float32, bfloat16 ...");
}

void FieldReader::Read(const Doc& doc, Setting& out) {
  const Doc value = Unwrapped(doc);
  if (value.kind == Doc::Kind::kNull) return out.emplace<std::monostate>(), void();
  if (value.kind == Doc::Kind::kString && flag_.empty()) return out.emplace<std::string>(value.text), void();
  if (value.kind == Doc::Kind::kBool || IsScalar(value)) return out = ScalarOf(value), void();
  std::vector<double> numbers(value.items.size());
  if (value.kind != Doc::Kind::kList) return Wrong(doc, "true, false, a number, text or a list of numbers");
  for (size_t i = 0; i < numbers.size(); ++i) Read(value.items[i], numbers[i]);
  out = std::move(numbers);
}

void FieldReader::Read(const Doc& doc, std::vector<int64_t>& out) {
  out.clear();
  if (doc.kind == Doc::Kind::kList) {
    for (const Doc& item : doc.items) Read(item, out.emplace_back());
    return;
  }
  if (!IsScalar(doc)) return Wrong(doc, "sizes, as [8, 1024] or 8x1024");
  if (doc.text.empty() || doc.text == "scalar") return;
  for (const auto part : absl::StrSplit(doc.text, 'x')) {
    if (!ToInt(std::string(part), out.emplace_back())) return Wrong(doc, "sizes, as [8, 1024] or 8x1024");
  }
}

void FieldReader::Read(const Doc& doc, std::vector<std::string>& out) {
  out.clear();
  if (doc.kind == Doc::Kind::kNull) return;
  if (doc.kind == Doc::Kind::kList) {
    for (const Doc& item : doc.items) Read(item, out.emplace_back());
    return;
  }
  if (doc.kind != Doc::Kind::kString) return Wrong(doc, "a list of texts");
  if (flag_.empty()) return out.push_back(doc.text);
  const char* separators = path_.size() > 1 ? "+" : ",";
  for (const auto part : absl::StrSplit(doc.text, absl::ByAnyChar(separators), absl::SkipEmpty()))
    out.emplace_back(part);
  if (out.size() == 1 && out[0] == "none") out.clear();
}

void FieldReader::Add(const Doc& doc, Problem problem) {
  problem.where = Where(doc.offset);
  problems_.push_back(std::move(problem));
}

std::string FieldReader::Path() const { return absl::StrJoin(path_, "."); }

std::string FieldReader::Where(size_t offset) const { return flag_.empty() ? WhereIn(source_, offset) : flag_; }

void FieldReader::Wrong(const Doc& doc, const char* wanted) {
  std::string got = doc.kind == Doc::Kind::kString ? absl::StrCat("\"", doc.text, "\"")
                    : doc.text.empty()             ? KindName(doc)
                                                   : doc.text;
  Add(doc,
      Problem{"E0104", absl::StrCat("field \"", Path(), "\" is ", got), "", absl::StrCat("it must be ", wanted), ""});
}

void FieldReader::Unknown(const Doc& item, const std::vector<std::string>& names) {
  const std::string in = path_.empty() ? "" : absl::StrCat(" in \"", Path(), "\"");
  problems_.push_back(Problem{"E0102", absl::StrCat("unknown field \"", item.key, "\"", in), Where(item.key_offset), "",
                              DidYouMean(item.key, names)});
}

int FieldReader::Choice(const Doc& doc, absl::Span<const char* const> names) {
  const Doc value = Unwrapped(doc);
  if (value.kind != Doc::Kind::kString && value.kind != Doc::Kind::kNumber) return Wrong(doc, "one of its names"), -1;
  for (size_t i = 0; i < names.size(); ++i) {
    if (value.text == names[i]) return static_cast<int>(i);
  }
  Add(doc, Problem{"E0105", absl::StrCat("\"", value.text, "\" is no value of \"", Path(), "\""), "",
                   absl::StrCat("known are ", absl::StrJoin(names, ", ")), DidYouMean(value.text, Strings(names), 0)});
  return -1;
}

bool FieldReader::IsOff(const Doc& doc) {
  const bool word = doc.kind == Doc::Kind::kBool || doc.kind == Doc::Kind::kString;
  return word && (doc.text == "false" || doc.text == "none");
}

bool FieldReader::IsBare(const Doc& doc) {
  if (doc.kind == Doc::Kind::kMap) return false;
  return doc.kind != Doc::Kind::kString || !absl::StrContains(doc.text, "=");
}

const std::vector<Doc>& FieldReader::Items(const Doc& doc, std::vector<Doc>& storage) {
  if (doc.kind == Doc::Kind::kMap) return doc.items;
  for (const auto part : absl::StrSplit(doc.text, ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> entry = absl::StrSplit(part, absl::MaxSplits('=', 1));
    storage.push_back(StringDoc(entry.second));
    storage.back().key = entry.first;
    storage.back().offset = storage.back().key_offset = doc.offset;
  }
  return storage;
}

std::vector<Doc> FieldReader::Entries(const Doc& doc) {
  std::vector<Doc> entries;
  const auto add = [&](const Doc& pair) {
    const bool sound = pair.kind == Doc::Kind::kMap && pair.items.size() == 2 && pair.items[0].key == "key" &&
                       pair.items[1].key == "value";
    if (!sound) return false;
    entries.push_back(Unwrapped(pair.items[1]));
    entries.back().key = pair.items[0].text;
    return true;
  };
  if (doc.kind == Doc::Kind::kNull) return entries;
  if (doc.kind == Doc::Kind::kList) {
    for (const Doc& item : doc.items) {
      if (!add(item)) Wrong(item, "a key and a value");
    }
  } else if (doc.kind == Doc::Kind::kString && (doc.text.empty() || absl::StrContains(doc.text, "="))) {
    Items(doc, entries);
  } else if (doc.kind != Doc::Kind::kMap) {
    Wrong(doc, "pairs: NAME=VALUE,NAME=VALUE on the command line, a message in a file");
  } else if (!add(doc)) {
    entries = doc.items;
  }
  return entries;
}

}  // namespace memcrest
