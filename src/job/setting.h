// A setting whose type the framework leaves open: reshard is true, false or a number; an optimizer option may be
// anything.
//
// Takes: nothing.  Gives: Setting and typed reads of it with a default.
#ifndef MEMCREST_JOB_SETTING_H_
#define MEMCREST_JOB_SETTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace memcrest {

// monostate: not given.
using Setting = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<double>>;
using Options = std::map<std::string, Setting>;  // sorted: deterministic

inline bool IsSet(const Setting& s) { return !std::holds_alternative<std::monostate>(s); }
// true, false; numbers are true unless 0; words are true unless "none" or "false"; `otherwise` if not given.
bool AsBool(const Setting& s, bool otherwise);
// Numbers; true is 1, false is 0; `otherwise` for words and what is not given.
int64_t AsInt(const Setting& s, int64_t otherwise);
double AsDouble(const Setting& s, double otherwise);
// Words; `otherwise` for anything else.
std::string AsText(const Setting& s, const std::string& otherwise);
// "true", "2", "0.9", "BACKWARD_POST", "[0.9, 0.999]", "" if not given.
std::string ToText(const Setting& s);

// The option of that name; monostate if absent.
const Setting& Get(const Options& options, const std::string& name);

}  // namespace memcrest

#endif  // MEMCREST_JOB_SETTING_H_
