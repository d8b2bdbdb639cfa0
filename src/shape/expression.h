// Integer expressions of symbolic dimensions: "batch", "8*(((height - 1)//8)) + 8", "Min(512, seq)".
//
// Takes: a declared dimension's text and the values of its symbols. Gives: its number, or the symbols in it.
// Knows what exporters print (SymPy's and torch's spelling): + - * / // % **, parentheses, Min Max Mod FloorDiv floor
// ceiling TruncToInt and their aliases. Divisions are exact fractions until rounded. A text that is no expression is
// one symbol.
#ifndef MEMCREST_SHAPE_EXPRESSION_H_
#define MEMCREST_SHAPE_EXPRESSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest {

using SymbolTable = std::map<std::string, int64_t>;

// The value of `text`; nullopt where a symbol has none, the result is no integer, or a step overflows. A symbol named
// exactly like the whole text wins over reading it as an expression ("batch-size").
std::optional<int64_t> EvaluateExpression(absl::string_view text, const SymbolTable& symbols);

// Distinct symbols in order of first occurrence; `text` itself if it is no expression.
std::vector<absl::string_view> SymbolsOf(absl::string_view text);

}  // namespace memcrest

#endif  // MEMCREST_SHAPE_EXPRESSION_H_
