#include "src/plan/sweep_axes.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/bytes.h"
#include "src/base/problem.h"

namespace memcrest {
namespace {

constexpr size_t kMaxValues = 100'000;

absl::Status Wrong(absl::string_view axis, const std::string& what) {
  return ToStatus(Problem{"E0911", what, absl::StrCat("--vary ", axis), "an axis is NAME=VALUE,VALUE,...; FROM..TO stands for a range",
                          "--vary batch=1,2,4..64"});
}

// How a range goes on: by a factor, or by a step.
struct Stride {
  int64_t factor = 1, step = 1;
};

// From the values before "..", the last of them its start.
Stride StrideOf(const std::vector<int64_t>& v) {
  const size_t n = v.size();
  if (n < 2) return {};
  const bool ratios = n >= 3 && v[n - 3] > 0 && v[n - 2] > v[n - 3] && v[n - 2] % v[n - 3] == 0 &&
                      v[n - 1] % v[n - 2] == 0 && v[n - 1] / v[n - 2] == v[n - 2] / v[n - 3];
  if (ratios) return {v[n - 1] / v[n - 2], 0};
  return {1, v[n - 1] - v[n - 2]};
}

bool Numbers(const std::vector<std::string>& texts, std::vector<int64_t>& numbers) {
  numbers.clear();
  for (const std::string& text : texts) {
    int64_t n = 0;
    if (!absl::SimpleAtoi(text, &n)) return false;
    numbers.push_back(n);
  }
  return true;
}

// Appends the values of "FROM..TO"; false if it is no range of numbers.
bool AddRange(absl::string_view from, absl::string_view to, std::vector<std::string>& values) {
  values.emplace_back(from);
  std::vector<int64_t> numbers;
  int64_t last = 0;
  if (!Numbers(values, numbers) || !absl::SimpleAtoi(to, &last)) return false;
  const Stride stride = StrideOf(numbers);
  if (stride.factor == 1 && stride.step <= 0) return false;
  int64_t next = numbers.back();
  while (values.size() < kMaxValues) {
    const auto grown = CheckedMul(next, stride.factor);
    const auto moved = grown.has_value() ? CheckedAdd(*grown, stride.step) : std::nullopt;
    if (!moved.has_value() || *moved > last) return true;
    next = *moved;
    values.push_back(absl::StrCat(next));
  }
  return false;
}

bool IsFlag(const std::string& name) {
  return std::any_of(JobFlags().begin(), JobFlags().end(), [&](const JobFlag& flag) { return flag.name == name; });
}

}  // namespace

absl::StatusOr<Axis> ParseAxis(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) return Wrong(text, "an axis without a name or values");
  Axis axis;
  axis.name = std::string(text.substr(0, equals));
  const absl::string_view list = text.substr(equals + 1);
  const bool semicolons = absl::StrContains(list, ';');
  for (const absl::string_view value : absl::StrSplit(list, semicolons ? ';' : ',')) {
    const size_t dots = value.find("..");
    if (value.empty()) return Wrong(text, "an empty value");
    if (dots == absl::string_view::npos) axis.values.emplace_back(value);
    else if (!AddRange(value.substr(0, dots), value.substr(dots + 2), axis.values)) {
      return Wrong(text, absl::StrCat("\"", value, "\" is not a range of numbers that grows"));
    }
  }
  return axis;
}

absl::StatusOr<int64_t> CountSettings(const std::vector<Axis>& axes) {
  int64_t count = 1;
  for (size_t a = 0; a < axes.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (axes[a].name == axes[b].name) {
        return ToStatus(Problem{"E0912", absl::StrCat("two axes are named ", axes[a].name), "--vary", "", "give one axis all values"});
      }
    }
    count *= static_cast<int64_t>(axes[a].values.size());  // both below 10^7
    if (count > kMaxSettings) {
      return ToStatus(Problem{"E0912", absl::StrCat("more than ", kMaxSettings, " settings"), "--vary", "", "give fewer values"});
    }
  }
  return count;
}

std::vector<std::string> SettingOf(const std::vector<Axis>& axes, int64_t index) {
  std::vector<std::string> values(axes.size());
  for (size_t a = axes.size(); a-- > 0;) {
    const int64_t n = static_cast<int64_t>(axes[a].values.size());
    values[a] = axes[a].values[static_cast<size_t>(index % n)];
    index /= n;
  }
  return values;
}

FlagValues FlagsOf(const std::vector<Axis>& axes, const std::vector<std::string>& values) {
  FlagValues flags;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (IsFlag(axes[a].name)) flags.emplace_back(axes[a].name, values[a]);
    else flags.emplace_back("bind", absl::StrCat(axes[a].name, "=", values[a]));
  }
  return flags;
}

}  // namespace memcrest
