// Patterns: exported decompositions that become one framework operator again.
//
// A pattern looks backwards from the last node of a decomposition (its anchor). It answers which nodes it stands for and what
// operator ran instead. Inner results must have no other reader. One file per pattern in src/lift/patterns/, registered by the
// build's list; patterns are tried in the order of `priority`, larger first.
#ifndef MEMCREST_LIFT_PATTERN_H_
#define MEMCREST_LIFT_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

#include "src/graph/attrs.h"
#include "src/lift/onnx_view.h"

namespace memcrest {

// An operand that is a view of a parameter, folded by the exporter into a stored tensor of its own.
struct FoldedView {
  size_t operand = 0;
  const char* leaf = "";  // the parameter's name in its module
  Dims own;               // sizes in the module
  bool scaled = false;    // multiplied by a number before it was viewed
};

struct Match {
  std::string op;
  Attrs attrs;
  std::vector<onnx::ValueId> in;   // operands, kNoValue where absent
  onnx::ValueId out = onnx::kNoValue;
  std::vector<int> nodes;          // all nodes it stands for, the anchor included
  // Operands that are a permutation of a value that the exporter merged with another: (operand, permutation of that value).
  std::vector<std::pair<size_t, Dims>> permuted;
  std::vector<FoldedView> folded;
  std::vector<size_t> transposed_weights;  // operands that are stored transposed: [in, out] in the file, [out, in] in the module
};

struct Pattern {
  const char* name = "";
  const char* anchor = "";  // op_type of the last node
  int priority = 0;
  std::optional<Match> (*match)(const OnnxView& view, int node) = nullptr;
  const char* doc = "";
};

class PatternRegistry {
 public:
  void Add(const Pattern& pattern);
  const std::vector<Pattern>& All() const { return patterns_; }  // largest priority first, then by name

 private:
  std::vector<Pattern> patterns_;
};

const PatternRegistry& Patterns();

// Helpers for pattern files.
// The other operand of a commutative node whose one operand is made by `op_type`; (-1, kNoValue) if none is.
std::pair<int, onnx::ValueId> Split(const OnnxView& view, int node, absl::string_view op_type);
// The operand that is not the number `number`; kNoValue if none is that number.
onnx::ValueId WithoutNumber(const OnnxView& view, int node, double number);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_PATTERN_H_
