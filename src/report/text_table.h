// Aligned columns for terminals.
//
// Takes: rows of cells.  Gives: lines of at most `width` characters; the first left-aligned column gives way where a
// line is too long (its middle is cut out). Counts bytes as columns: cells are ASCII, other bytes may misalign but
// never break.
#ifndef MEMCREST_REPORT_TEXT_TABLE_H_
#define MEMCREST_REPORT_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest {

inline constexpr size_t kTextWidth = 80;   // reports
inline constexpr size_t kListWidth = 400;  // lists of names, which must not be cut

class TextTable {
 public:
  // One character per column: 'l' left, 'r' right. Rows begin with `indent` spaces, columns are two spaces apart.
  explicit TextTable(std::string alignment, size_t indent = 2, size_t width = kTextWidth)
      : alignment_(std::move(alignment)), indent_(indent), width_(width) {}
  // As many cells as columns.
  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string Text() const;

 private:
  std::vector<size_t> Widths() const;

  std::string alignment_;
  size_t indent_, width_;
  std::vector<std::vector<std::string>> rows_;
};

// "124,439,808"
std::string Grouped(int64_t n);
// `text` in at most `width` characters: "model.lay..1.mlp".
std::string Shortened(absl::string_view text, size_t width);
// Lines of at most kTextWidth characters, broken at spaces; all but the first begin with `indent` spaces.
std::string Wrapped(absl::string_view text, size_t indent);

}  // namespace memcrest

#endif  // MEMCREST_REPORT_TEXT_TABLE_H_
