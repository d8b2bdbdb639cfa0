// What lifting by FX nodes has built so far: the network, and where each FX name and each ONNX value ended up.
#ifndef MEMCREST_LIFT_FX_STATE_H_
#define MEMCREST_LIFT_FX_STATE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "src/eager/op.h"
#include "src/graph/network.h"
#include "src/lift/fx_graph.h"
#include "src/lift/lift.h"
#include "src/lift/modules.h"
#include "src/lift/parameters.h"

namespace memcrest {

// One operator about to be added.
struct Emission {
  absl::string_view op;  // canonical name; a name that is not registered becomes "unknown"
  Attrs attrs;
  absl::InlinedVector<TensorId, 4> in;
  absl::InlinedVector<std::pair<std::string, onnx::ValueId>, 2> out;  // names, and values whose sizes they have
  Evidence evidence = Evidence::kExporter;
};

class FxState {
 public:
  FxState(const FxGraph& graph, Network& network);

  const FxGraph& fx;
  Network& net;
  ParamTable params;
  CallTree calls;
  absl::flat_hash_map<absl::string_view, TensorId> by_name;  // FX names, undefined ones included once they are resolved
  std::vector<TensorId> by_value;                            // ONNX values
  std::vector<std::pair<std::string, ParamId>> reads;  // (module path, parameter an operator directly in it reads)
  std::vector<int> fx_of_node;                               // per network node: the FX node it was made for

  const onnx::Value& ValueAt(onnx::ValueId v) const { return fx.model->graph.values[static_cast<size_t>(v)]; }
  // The stored tensor behind a value; nullptr if it is computed or an input.
  const onnx::Literal* LiteralOf(onnx::ValueId v) const;
  // The tensor of a parameter, made at its first use.
  TensorId OfParam(ParamId id);
  // A constant of the file as a tensor.
  TensorId Constant(onnx::ValueId v);
  // A tensor that stands for `v` although no node of the network makes it: a graph input or a stored tensor; else
  // kNone.
  TensorId OfOutside(onnx::ValueId v);

  // Adds the operator in `scopes` as made for FX node `fx_index`; gives the tensor of its first result.
  TensorId Emit(Emission emission, const Scopes& scopes, int fx_index);
  // Scopes in which an argument of an operator in `scopes` was made: those around an atomic torch.nn module.
  static Scopes CallersOf(const Scopes& scopes);

 private:
  TensorId NewTensor(std::string name, onnx::ValueId source);
  std::vector<TensorId> of_param_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_FX_STATE_H_
