#include "src/report/sparkline.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace memcrest {
namespace {

constexpr int64_t kLevels = 8;  // of a block character
constexpr std::array<const char*, kLevels + 1> kBlocks = {
    " ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};

Bytes Total(const TimelineSample& s) { return std::accumulate(s.by_category.begin(), s.by_category.end(), Bytes{0}); }

// The samples of column `i` of `columns`: [first, second), never empty.
std::pair<size_t, size_t> Range(size_t i, size_t columns, size_t samples) {
  const size_t begin = i * samples / columns;
  return {begin, std::max(begin + 1, (i + 1) * samples / columns)};
}

std::vector<Bytes> Heights(const std::vector<TimelineSample>& timeline, size_t columns) {
  std::vector<Bytes> heights(columns);
  for (size_t i = 0; i < columns; ++i) {
    const auto [begin, end] = Range(i, columns, timeline.size());
    for (size_t k = begin; k < end; ++k) heights[i] = std::max(heights[i], Total(timeline[k]));
  }
  return heights;
}

// The name of each phase where it begins, if the one before leaves room.
std::string PhaseLine(const std::vector<TimelineSample>& timeline, size_t columns) {
  std::string line;
  const std::string* last = nullptr;
  for (size_t i = 0; i < columns; ++i) {
    const std::string& phase = timeline[Range(i, columns, timeline.size()).first].phase;
    if (last != nullptr && *last == phase) continue;
    last = &phase;
    const size_t at = i + phase.size() <= columns ? i : columns - std::min(columns, phase.size());
    if (!line.empty() && line.size() + 1 > at) continue;
    line.resize(at, ' ');
    line += phase;
  }
  return line;
}

}  // namespace

std::string Sparkline(const std::vector<TimelineSample>& timeline, size_t width, size_t rows) {
  const size_t columns = std::min(width, timeline.size());
  if (columns == 0) return "";
  const std::vector<Bytes> heights = Heights(timeline, columns);
  const Bytes most = std::max<Bytes>(1, *std::max_element(heights.begin(), heights.end()));
  const int64_t steps = static_cast<int64_t>(rows) * kLevels;
  std::string text;
  for (int64_t row = static_cast<int64_t>(rows) - 1; row >= 0; --row) {
    std::string line;
    for (const Bytes height : heights) {
      const double share = static_cast<double>(height) / static_cast<double>(most);
      const int64_t filled = static_cast<int64_t>(share * static_cast<double>(steps) + 0.5) - row * kLevels;
      line += kBlocks[static_cast<size_t>(std::clamp<int64_t>(filled, 0, kLevels))];
    }
    line.resize(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, "  ", line, "\n");
  }
  return absl::StrCat(text, "  ", PhaseLine(timeline, columns), "\n");
}

}  // namespace memcrest
