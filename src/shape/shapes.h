// Concrete sizes of every value of an ONNX graph for one binding of its symbolic dimensions.
//
// Takes: onnx::Model and a Binding.  Gives: per value its sizes, dtype, and - for integer plumbing (Shape, Gather,
// Concat, arithmetic on a few elements) - its host value. Every ONNX operator has a rule or a stated fallback; a
// declared value_info is only believed where no rule applies. Data-dependent sizes (NonZero, TopK's k, Loop counts) get
// a stated upper bound. Guarantees: no partial result for a shape error: E04xx problems name node and sizes; all
// unbound symbols are listed at once.
#ifndef MEMCREST_SHAPE_SHAPES_H_
#define MEMCREST_SHAPE_SHAPES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/problem.h"
#include "src/onnx/expand_control.h"
#include "src/onnx/model.h"

namespace memcrest {

// What the user said about free dimensions: --bind batch=8,seq=1024 and --input ids=8x1024.
struct Binding {
  std::map<std::string, int64_t> symbols;
  std::map<std::string, Dims> inputs;
};

struct BoundValue {
  bool known = false;  // sizes are valid
  DType dtype = DType::kUndefined;
  Dims sizes;
  // Host value of small integer/bool results (<= onnx::kLiteralElements elements, row-major), or of float scalars.
  bool has_ints = false, has_floats = false;
  bool upper_bound = false;  // sizes depend on data: this is the largest they can be
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

struct BoundShapes {
  std::vector<BoundValue> values;  // by onnx::ValueId of the top graph
  std::vector<Assumption> assumptions;
  // What the binding decides of the top graph's If, Loop and Scan, in the order of nodes.
  std::vector<onnx::ControlChoice> control;
};

// A Loop whose trips nothing bounds before the run.
inline constexpr int64_t kUnknownTrips = -1;

// One free symbol of the inputs and where it occurs ("input_ids dimension 0").
struct FreeSymbol {
  std::string name;
  std::vector<std::string> where;
};
std::vector<FreeSymbol> FreeSymbols(const onnx::Model& model);

absl::StatusOr<BoundShapes> BindShapes(const onnx::Model& model, const Binding& binding);

}  // namespace memcrest

#endif  // MEMCREST_SHAPE_SHAPES_H_
