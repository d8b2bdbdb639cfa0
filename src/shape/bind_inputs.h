// Sizes of a graph's inputs from what the user bound.
//
// Takes: a model and a Binding. Gives: sizes per input and the symbols' values; problems E0401 (symbols without a
// value, all at once), E0405 (names that do not occur), E0406 (values that contradict each other or the file). A bound
// name that no input has is accepted where it states what the file already fixes (a literal dimension of that size),
// and "batch" where all inputs begin with one literal: then `old_batch` is set and the caller must prove that it may
// change.
#ifndef MEMCREST_SHAPE_BIND_INPUTS_H_
#define MEMCREST_SHAPE_BIND_INPUTS_H_

#include <optional>
#include <vector>

#include "src/base/problem.h"
#include "src/onnx/model.h"
#include "src/shape/expression.h"
#include "src/shape/shapes.h"

namespace memcrest::shape {

struct BoundInputs {
  SymbolTable symbols;
  std::vector<Dims> sizes;           // by index in Graph::inputs
  std::optional<int64_t> old_batch;  // the literal that sizes[i][0] had in the file before "batch" replaced it
  std::vector<Assumption> assumptions;
};

// Problems are appended; the result is only of use if there are none.
BoundInputs BindInputs(const onnx::Model& model, const Binding& binding, std::vector<Problem>* problems);

// The symbol of dimension `d` of `input` if the file gives it neither a size nor a name: "<input>_dim_<d>".
std::string AnonymousSymbol(const onnx::Value& input, size_t d);

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_BIND_INPUTS_H_
