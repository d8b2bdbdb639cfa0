// ATen's operators as the tracer names them, translated to the canonical framework operators.
//
// A row says, per ATen name, the canonical operator and what each positional argument is: a tensor, a list of tensors,
// or an attribute with its key. A number standing where a tensor may stand becomes Key::kScalar. Rows:
// aten_schema_table.cc.
#ifndef MEMCREST_LIFT_ATEN_SCHEMA_H_
#define MEMCREST_LIFT_ATEN_SCHEMA_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/graph/attrs.h"

namespace memcrest {

struct AtenArg {
  enum class Kind : uint8_t {
    kTensor,   // one input; a number becomes the scalar attribute
    kTensors,  // each element is an input
    kAttr,     // attribute `key`
    kLength,   // the list's length is attribute `key`
    kSkip,
  };
  Kind kind = Kind::kSkip;
  Key key = Key::kKeyCount;
  absl::string_view name;  // as ATen's schema spells it: matches keyword arguments
};

// What an operator needs beyond its row (aten_fix.cc).
enum class AtenFix : uint8_t {
  kNothing,
  kPerm,       // the full permutation stands on the ONNX Transpose, not in the arguments
  kClamp,      // one-sided: clamp_min, clamp_max
  kConv,       // lists to the spatial rank, defaults filled, "same" padding from the ONNX node
  kPool,       // an empty stride is the kernel
  kIndex,      // None among the indices
  kIndexPut,   // values before indices
  kParts,      // count of results
  kRecurrent,  // hidden size from the ONNX node, list of states
};

struct AtenSchema {
  absl::string_view op;  // canonical name
  std::vector<AtenArg> args;
  Attrs constants;
  AtenFix fix = AtenFix::kNothing;
};

// The row of "aten.mean.dim": that overload's, else the row of all overloads ("mean"); nullptr if there is none.
const AtenSchema* FindAten(absl::string_view target);
// "mean" of "aten.mean.dim", "roi_align" of "torchvision.roi_align.default".
absl::string_view AtenBaseName(absl::string_view target);
// Integers of the host (sym_size, operator.add): neither a kernel nor a tensor.
bool IsHostTarget(absl::string_view target);

// One row of the table: names (with overload where rows differ), the canonical name ("": the same), arguments.
//   self      a tensor            *tensors   a list of tensors      axis:dim   attribute axis from argument dim
//   -pin      ignored             #key:list  length of the list     =key:text  a constant
struct AtenRow {
  const char* names;
  const char* op;
  const char* args;
  AtenFix fix = AtenFix::kNothing;
};
const std::vector<AtenRow>& AtenRows();

}  // namespace memcrest

#endif  // MEMCREST_LIFT_ATEN_SCHEMA_H_
