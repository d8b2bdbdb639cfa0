// The tensor bytes at a device's peak, added up by one of several keys.
//
// Takes: DeviceReport.  Gives: rows, largest first, that add up to what is listed. Operators and tensors come from the
// step's storages where the report has them, else from its largest tensors.
#ifndef MEMCREST_REPORT_BREAKDOWN_H_
#define MEMCREST_REPORT_BREAKDOWN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/report/report.h"

namespace memcrest {

// kPattern: modules whose paths differ in numbers only are one, "model.layers.*.mlp".
enum class By { kCategory, kModule, kPattern, kOp, kTensor };

inline constexpr const char* kByNames[] = {"category", "module", "pattern", "op", "tensor"};
std::optional<By> ByNamed(absl::string_view name);

struct BreakdownRow {
  std::string name;
  Bytes bytes = 0;
  int64_t tensors = 0;  // 0: not counted
  std::string note;     // of a single tensor: its category and where it was born
};

// `depth`: segments of a module's path that are kept; 0: all.
std::vector<BreakdownRow> Breakdown(const DeviceReport& device, By by, int64_t depth = 0);

// "model.layers.3.mlp" -> "model.layers.*.mlp"; cut to `depth` segments unless it is 0.
std::string ModuleKey(absl::string_view path, bool pattern, int64_t depth);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_BREAKDOWN_H_
