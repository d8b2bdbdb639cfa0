#include "src/report/text_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace memcrest {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeast = 12;  // what the yielding column keeps

std::string Pad(std::string cell, size_t width, char alignment) {
  if (cell.size() >= width) return cell;
  const std::string space(width - cell.size(), ' ');
  return alignment == 'r' ? space + cell : cell + space;
}

}  // namespace

std::vector<size_t> TextTable::Widths() const {
  std::vector<size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  size_t total = indent_ + kGap * (widths.size() - 1);
  for (const size_t w : widths) total += w;
  const size_t yielding = alignment_.find('l');
  if (total > width_ && yielding != std::string::npos) {
    const size_t over = total - width_;
    widths[yielding] = widths[yielding] > over + kLeast ? widths[yielding] - over : std::min(widths[yielding], kLeast);
  }
  return widths;
}

std::string TextTable::Text() const {
  const std::vector<size_t> widths = Widths();
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent_, ' ');
    for (size_t c = 0; c < widths.size(); ++c) {
      absl::StrAppend(&line, c > 0 ? "  " : "", Pad(Shortened(row[c], widths[c]), widths[c], alignment_[c]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string Grouped(int64_t n) {
  std::string text = absl::StrCat(n);
  for (int at = static_cast<int>(text.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string Shortened(absl::string_view text, size_t width) {
  if (text.size() <= width) return std::string(text);
  if (width <= 2) return std::string(text.substr(0, width));
  const size_t tail = (width - 2) * 2 / 3, head = width - 2 - tail;  // the end of a path tells more than its start
  return absl::StrCat(text.substr(0, head), "..", text.substr(text.size() - tail));
}

std::string Wrapped(absl::string_view text, size_t indent) {
  std::string out;
  size_t column = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (column > 0 && column + 1 + word.size() > kTextWidth) {
      absl::StrAppend(&out, "\n", std::string(indent, ' '));
      column = indent;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    absl::StrAppend(&out, word);
    column += word.size();
  }
  return out;
}

}  // namespace memcrest
