// The module's parameters and buffers, as PyTorch registered them, from the graph signature and what the file still holds.
//
// Takes: FxGraph.  Gives: Network::params in registration order. Sizes come from the initializer of that name, else from the
// operator that reads it (transposed, merged or anonymous copies), else they stay unknown and an assumption says so.
#ifndef MEMCREST_LIFT_PARAMETERS_H_
#define MEMCREST_LIFT_PARAMETERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
  void SetDims(ParamId id, const Dims& dims);  // no effect where they are known

  // Learns the sizes of the parameters `node` reads from the initializers its ONNX nodes read.
  void Learn(const FxNode& node);
  // Learns the parameters of a batch norm that was folded into a convolution with that many channels.
  void LearnChannels(const FxNode& node, int64_t channels);
  // A parameter (or buffer) of that module that no FX node names and whose sizes nothing has told; kNone if there is none.
  // Used for constants that the exporter computed from parameters: it takes the next one each time.
  ParamId TakeForgotten(absl::string_view module, bool buffer);

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
  void Tie(const std::vector<std::pair<std::string, ParamId>>& reads);

  const FxGraph& graph_;
  Network& net_;
  std::vector<bool> known_, mentioned_, taken_;
  absl::flat_hash_map<absl::string_view, ParamId> by_placeholder_, by_name_;
};

}  // namespace memcrest

#endif  // MEMCREST_LIFT_PARAMETERS_H_
