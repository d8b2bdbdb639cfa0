// The module's parameters and buffers, as PyTorch registered them, from the graph signature and what the file still
// holds.
//
// Takes: FxGraph.  Gives: Network::params in registration order. Sizes come from the initializer of that name, else
// from the operator that reads it (transposed, merged or anonymous copies), else they stay unknown and an assumption
// says so.
#ifndef MEMCREST_LIFT_PARAMETERS_H_
#define MEMCREST_LIFT_PARAMETERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "src/graph/network.h"
#include "src/lift/fx_graph.h"

namespace memcrest {

class ParamTable {
 public:
  // Fills network.params; both must outlive the table.
  ParamTable(const FxGraph& graph, Network& network);

  ParamId OfPlaceholder(absl::string_view name) const;  // "p_model_fc_weight"; kNone if there is none
  ParamId OfName(absl::string_view fqn) const;          // "model.fc.weight"
  bool Known(ParamId id) const { return known_[static_cast<size_t>(id)]; }
  // Some FX node names it.
  bool Mentioned(ParamId id) const { return mentioned_[static_cast<size_t>(id)]; }
  // The model keeps parameters of that type, as far as is known.
  bool StoredLike(DType dtype) const;
  void SetDims(ParamId id, const Dims& dims);  // no effect where they are known

  // Learns the sizes of the parameters `node` reads from the initializers its ONNX nodes read.
  void Learn(const FxNode& node);
  // Learns the parameters of a batch norm that was folded into a convolution with that many channels.
  void LearnChannels(const FxNode& node, int64_t channels);
  // A parameter that no FX node names and whose sizes nothing has told, for a constant that the exporter computed from
  // it: in `module` (with `deep`: or in a module inside it), nearest to the parameters last read; kNone if there is
  // none that `fits` (told the parameter's own name, "weight").
  ParamId Forgotten(absl::string_view module, bool deep, absl::FunctionRef<bool(absl::string_view)> fits) const;
  // The same kind of buffer in the module of `id`; kNone if there is none.
  ParamId ForgottenBuffer(ParamId id) const;
  // All such parameters and buffers in the module of `id`, itself included, in registration order.
  std::vector<ParamId> ForgottenBeside(ParamId id) const;

  // Ties parameters that nothing reads to the one their module reads in their place; notes those of unknown size.
  // `reads`: (path of a module, parameter that an operator directly inside it reads).
  void Finish(const std::vector<std::pair<std::string, ParamId>>& reads);

 private:
  void Add(const SignatureEntry& entry);
  void Mention(const FxArg& arg);
  void LearnOne(const FxNode& node, ParamId id, onnx::ValueId value);
  Dims DimsFor(const FxNode& node, const onnx::Literal& literal, onnx::ValueId value) const;
  void LearnRecurrent(const FxNode& node);
  int64_t CellInputs(const onnx::Node& cell, size_t layer) const;
  bool IsForgotten(size_t i) const { return !mentioned_[i] && !known_[i]; }
  void AssumeAlike();
  const Dims* WeightBeside(size_t i) const;
  Dims AsLongAsItsWeight(const std::vector<size_t>& kin, size_t unknown) const;
  Dims MaskedFrame(size_t i) const;
  void TieUnread(std::vector<bool>& gone);
  void Tie(const std::vector<std::pair<std::string, ParamId>>& reads);

  const FxGraph& graph_;
  Network& net_;
  std::vector<bool> known_, mentioned_;
  absl::flat_hash_map<std::string, int> last_read_;  // module path -> when a parameter of it was last read
  int clock_ = 0;
  absl::flat_hash_map<absl::string_view, ParamId> by_placeholder_, by_name_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_PARAMETERS_H_
