// The FX graph that the exporter translated, as far as its notes on the ONNX nodes tell it.
//
// Takes: onnx::Model.  Gives: one FxNode per distinct FX node in file order, with the ONNX nodes made of it, the values
// that carry its results, and which FX node each ONNX value belongs to. ONNX nodes without a note join the FX node
// whose result they write; the rest stand alone under the target "onnx.<operator>". Views into the model, which must
// outlive the graph.
#ifndef MEMCREST_LIFT_FX_GRAPH_H_
#define MEMCREST_LIFT_FX_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "src/lift/fx_text.h"
#include "src/lift/signature.h"
#include "src/onnx/model.h"

namespace memcrest {

struct FxNode {
  FxCall call;
  int first = 0, count = 0;     // ONNX nodes [first, first + count)
  bool noted = true;            // false: no exporter note
  const onnx::Node* notes = nullptr;  // an ONNX node whose notes describe it; for un-noted ones the nearest before
  // ONNX values of results by their position in the operator's result list; kNoValue where unused.
  absl::InlinedVector<onnx::ValueId, 2> results;
};

struct FxGraph {
  const onnx::Model* model = nullptr;
  Signature signature;
  std::vector<FxNode> nodes;
  absl::flat_hash_map<absl::string_view, int> by_name;                 // FX name -> nodes index
  absl::flat_hash_map<absl::string_view, onnx::ValueId> value_by_name;  // stored values and graph inputs
  std::vector<int> owner;        // by ValueId: nodes index; -1 for inputs and initializers
  std::vector<bool> is_result;   // by ValueId: carries a result of its owner, not an intermediate of the translation

  // Values that the node's ONNX nodes read and do not make themselves, each once, in order.
  absl::InlinedVector<onnx::ValueId, 6> ExternalInputs(const FxNode& node) const;
};

// How many of the model's nodes carry a note that parses, in thousandths.
int NotedPerMille(const onnx::Model& model);
FxGraph BuildFxGraph(const onnx::Model& model);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FX_GRAPH_H_
