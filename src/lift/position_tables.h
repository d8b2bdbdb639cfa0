// Tables of relative positions: a window's attention adds table[index], heads first, to its scores. Exporters fold that into
// one constant.
#ifndef MEMCREST_LIFT_POSITION_TABLES_H_
#define MEMCREST_LIFT_POSITION_TABLES_H_

#include "src/base/dims.h"
#include "src/lift/plain_state.h"

namespace memcrest {

// Rows of the table of relative positions between n tokens of a square window, perhaps with a class token; 0 if n is
// neither.
int64_t TableRows(int64_t n);
// A bias table's constant is [n*n, heads], [heads, n, n] or [n, n, heads].
bool TableSizes(const Dims& dims, int64_t& tokens, int64_t& heads, bool& heads_first);

// Plain exports: the table, its index and what was done with them, for a folded constant `v` that attention scores are
// added to ([1, heads, n, n] and a Softmax behind); kNone if it is none. Swin V2 computes its bias by a network: it
// scales its scores by a parameter of that name.
TensorId RestorePositionTable(PlainState& state, onnx::ValueId v);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_POSITION_TABLES_H_
