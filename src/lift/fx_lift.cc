#include "src/lift/fx_lift.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/lift/call_merge.h"
#include "src/lift/fx_build.h"
#include "src/lift/fx_graph.h"
#include "src/lift/fx_resolve.h"
#include "src/lift/fx_state.h"
#include "src/lift/lifetimes.h"

namespace memcrest {
namespace {

using onnx::ValueId;

// Inputs stand in the signature's order; parameters and constants under their placeholder's name.
void BindPlaceholders(FxState& state) {
  size_t next_input = 0;
  for (const ValueId v : state.fx.model->graph.inputs) state.net.inputs.push_back(state.OfOutside(v));
  for (const SignatureEntry& entry : state.fx.signature.inputs) {
    const ParamId param = state.params.OfPlaceholder(entry.name);
    if (param != kNone) continue;  // made when first read
    if (entry.kind == SignatureEntry::Kind::kInput) {
      if (next_input < state.net.inputs.size()) state.by_name[entry.name] = state.net.inputs[next_input];
      ++next_input;
    } else if (entry.kind == SignatureEntry::Kind::kConstant) {
      auto value = state.fx.value_by_name.find(entry.target);
      if (value == state.fx.value_by_name.end()) value = state.fx.value_by_name.find(entry.name);
      if (value != state.fx.value_by_name.end()) state.by_name[entry.name] = state.Constant(value->second);
    }
  }
}

// Parameters are made when an FX node names them, so that unused ones stay unused.
void BindParams(FxState& state, const FxArg& arg) {
  if (arg.kind == FxArg::Kind::kRef) {
    const ParamId id = state.params.OfPlaceholder(arg.text);
    if (id != kNone) state.by_name.emplace(arg.text, state.OfParam(id));
  }
  for (const FxArg& item : arg.items) BindParams(state, item);
}

void BindOutputs(FxState& state) {
  for (const ValueId v : state.fx.model->graph.outputs) {
    TensorId id = state.by_value[static_cast<size_t>(v)];
    if (id == kNone) id = state.OfOutside(v);
    if (id != kNone) state.net.outputs.push_back(id);
  }
}

void NoteEvidence(FxState& state, const FxResolver& resolver, const FxBuilder& builder) {
  std::vector<Assumption>& notes = state.net.assumptions;
  if (builder.restored_norms() > 0) {
    notes.push_back({"A0303",
                     absl::StrCat(builder.restored_norms(),
                                  " batch norms that the export folded into convolutions are restored "
                                  "(the exporter's notes name them); --restore none leaves them out"),
                     0});
  }
  if (!resolver.lost().empty()) {
    notes.push_back(
        {"A0305",
         absl::StrCat(resolver.lost().size(), " operands that the exporter removed could not be told (first: %",
                      resolver.lost().front(), "): they are left out"),
         0});
  }
}

}  // namespace

absl::StatusOr<Network> LiftFx(const onnx::Model& model, const LiftOptions& options) {
  Network network;
  const FxGraph graph = BuildFxGraph(model);
  FxState state(graph, network);
  FxResolver resolver(state);
  FxBuilder builder(state, resolver, options);
  BindPlaceholders(state);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const FxArg& arg : graph.nodes[i].call.args) BindParams(state, arg);
    for (const auto& [key, arg] : graph.nodes[i].call.kwargs) BindParams(state, arg);
    builder.Add(static_cast<int>(i));
  }
  state.calls.Finish();
  MergeSplitCalls(network);
  BindOutputs(state);
  NoteEvidence(state, resolver, builder);
  state.params.Finish(state.reads);
  state.calls.OwnParams();
  ComputeLifetimes(graph, state.fx_of_node, network);
  return network;
}

}  // namespace memcrest
