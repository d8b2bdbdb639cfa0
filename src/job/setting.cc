#include "src/job/setting.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memcrest {

bool AsBool(const Setting& s, bool otherwise) {
  if (const bool* b = std::get_if<bool>(&s)) return *b;
  if (const int64_t* i = std::get_if<int64_t>(&s)) return *i != 0;
  if (const double* d = std::get_if<double>(&s)) return *d != 0;
  if (const std::string* text = std::get_if<std::string>(&s))
    return *text != "none" && *text != "false" && !text->empty();
  return otherwise;
}

int64_t AsInt(const Setting& s, int64_t otherwise) {
  if (const bool* b = std::get_if<bool>(&s)) return *b ? 1 : 0;
  if (const int64_t* i = std::get_if<int64_t>(&s)) return *i;
  if (const double* d = std::get_if<double>(&s)) return static_cast<int64_t>(*d);
  return otherwise;
}

double AsDouble(const Setting& s, double otherwise) {
  if (const bool* b = std::get_if<bool>(&s)) return *b ? 1 : 0;
  if (const int64_t* i = std::get_if<int64_t>(&s)) return static_cast<double>(*i);
  if (const double* d = std::get_if<double>(&s)) return *d;
  return otherwise;
}

std::string AsText(const Setting& s, const std::string& otherwise) {
  const std::string* text = std::get_if<std::string>(&s);
  return text != nullptr ? *text : otherwise;
}

std::string ToText(const Setting& s) {
  if (const bool* b = std::get_if<bool>(&s)) return *b ? "true" : "false";
  if (const int64_t* i = std::get_if<int64_t>(&s)) return absl::StrCat(*i);
  if (const double* d = std::get_if<double>(&s)) return absl::StrCat(*d);
  if (const std::string* text = std::get_if<std::string>(&s)) return *text;
  const auto* list = std::get_if<std::vector<double>>(&s);
  return list != nullptr ? absl::StrCat("[", absl::StrJoin(*list, ", "), "]") : "";
}

const Setting& Get(const Options& options, const std::string& name) {
  static const Setting kAbsent;
  const auto it = options.find(name);
  return it == options.end() ? kAbsent : it->second;
}

}  // namespace memcrest
