#include "src/lift/fx_graph.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

// "split" of "split_split_0": the optimizer turns a sequence split into a Split whose outputs it names so.
absl::string_view SplitName(absl::string_view value) {
  const size_t at = value.rfind("_split_");
  return at == absl::string_view::npos ? "" : value.substr(0, at);
}

class Builder {
 public:
  Builder(const onnx::Model& model, FxGraph& graph) : model_(model), graph_(graph) {}

  void Run() {
    const onnx::Graph& onnx_graph = model_.graph;
    graph_.model = &model_;
    graph_.signature = ParseSignature(model_.graph_signature);
    graph_.owner.assign(onnx_graph.values.size(), -1);
    graph_.is_result.assign(onnx_graph.values.size(), false);
    graph_.value_by_name.reserve(onnx_graph.initializers.size() + onnx_graph.inputs.size());
    for (size_t v = 0; v < onnx_graph.values.size(); ++v) {
      const onnx::Value& value = onnx_graph.values[v];
      if (value.initializer >= 0 || value.is_input) graph_.value_by_name.emplace(value.name, static_cast<ValueId>(v));
    }
    for (size_t i = 0; i < onnx_graph.nodes.size(); ++i) Place(static_cast<int>(i));
    for (FxNode& node : graph_.nodes) FindResults(node);
  }

 private:
  const onnx::Node& At(int i) const { return model_.graph.nodes[static_cast<size_t>(i)]; }
  absl::string_view NameOfValue(ValueId v) const { return model_.graph.values[static_cast<size_t>(v)].name; }

  void Place(int i) {
    const onnx::Node& node = At(i);
    if (node.notes.fx_node.empty()) {
      if (!JoinPrevious(node)) AddPlain(node, i);
    } else if (node.notes.fx_node != last_text_ || graph_.nodes.empty() || !graph_.nodes.back().noted) {
      AddNoted(node, i);
    } else {
      ++graph_.nodes.back().count;
    }
    for (const ValueId v : node.outputs) {
      if (v != kNoValue) graph_.owner[static_cast<size_t>(v)] = static_cast<int>(graph_.nodes.size()) - 1;
    }
  }

  // A node without a note that writes the value named like the FX node before it is part of that one's translation.
  bool JoinPrevious(const onnx::Node& node) {
    if (graph_.nodes.empty() || node.outputs.empty() || node.outputs[0] == kNoValue) return false;
    FxNode& previous = graph_.nodes.back();
    if (!previous.noted || NameOfValue(node.outputs[0]) != previous.call.name) return false;
    ++previous.count;
    return true;
  }

  void AddNoted(const onnx::Node& node, int i) {
    last_text_ = node.notes.fx_node;
    FxNode fx;
    if (!ParseFxCall(last_text_, fx.call)) return AddPlain(node, i);
    fx.first = i;
    fx.count = 1;
    fx.notes = &node;
    last_notes_ = &node;
    graph_.by_name.emplace(fx.call.name, static_cast<int>(graph_.nodes.size()));
    graph_.nodes.push_back(std::move(fx));
  }

  void AddPlain(const onnx::Node& node, int i) {
    FxNode fx;
    fx.noted = false;
    fx.first = i;
    fx.count = 1;
    fx.notes = last_notes_;
    const ValueId first = node.outputs.empty() ? kNoValue : node.outputs[0];
    fx.call.target = node.op_type;
    fx.call.name = first == kNoValue ? node.name : NameOfValue(first);
    if (first != kNoValue && node.op_type == "Split" && !SplitName(NameOfValue(first)).empty()) {
      fx.call.name = SplitName(NameOfValue(first));
    }
    graph_.by_name.emplace(fx.call.name, static_cast<int>(graph_.nodes.size()));
    graph_.nodes.push_back(std::move(fx));
  }

  void FindResults(FxNode& fx) {
    if (!fx.noted) return TakeAll(fx, At(fx.first));
    for (int i = fx.first; i < fx.first + fx.count; ++i) {
      for (size_t k = 0; k < At(i).outputs.size(); ++k) Consider(fx, At(i), k);
    }
    if (fx.results.empty()) TakeLast(fx);
    for (const ValueId v : fx.results) {
      if (v != kNoValue) graph_.is_result[static_cast<size_t>(v)] = true;
    }
  }

  // The result itself, or items taken from a tuple of results.
  void Consider(FxNode& fx, const onnx::Node& node, size_t k) {
    const ValueId v = node.outputs[k];
    if (v == kNoValue) return;
    const absl::string_view name = NameOfValue(v);
    if (name == fx.call.name) return Put(fx, 0, v);
    if (FxBaseName(name) != "getitem" && SplitName(name) != fx.call.name) return;
    // Operators of ONNX with several outputs list them as PyTorch does; single outputs come in order.
    const bool listed =
        node.outputs.size() > 1 && node.op_type != "LSTM" && node.op_type != "GRU" && node.op_type != "RNN";
    Put(fx, listed ? k : node.op_type == "ArgMax" || node.op_type == "ArgMin" ? 1 : fx.results.size(), v);
  }

  static void Put(FxNode& fx, size_t position, ValueId v) {
    if (fx.results.size() <= position) fx.results.resize(position + 1, kNoValue);
    fx.results[position] = v;
  }

  void TakeLast(FxNode& fx) {
    const onnx::Node& last = At(fx.first + fx.count - 1);
    for (size_t k = 0; k < last.outputs.size(); ++k) {
      if (last.outputs[k] != kNoValue) Put(fx, k, last.outputs[k]);
    }
  }

  void TakeAll(FxNode& fx, const onnx::Node& node) {
    for (const ValueId v : node.outputs) {
      fx.results.push_back(v);
      if (v != kNoValue) graph_.is_result[static_cast<size_t>(v)] = true;
    }
  }

  const onnx::Model& model_;
  FxGraph& graph_;
  absl::string_view last_text_;
  const onnx::Node* last_notes_ = nullptr;
};

}  // namespace

absl::InlinedVector<ValueId, 6> FxGraph::ExternalInputs(const FxNode& node) const {
  absl::InlinedVector<ValueId, 6> external;
  const int self = static_cast<int>(&node - nodes.data());
  for (int i = node.first; i < node.first + node.count; ++i) {
    for (const ValueId v : model->graph.nodes[static_cast<size_t>(i)].inputs) {
      if (v == kNoValue || owner[static_cast<size_t>(v)] == self) continue;
      if (std::find(external.begin(), external.end(), v) == external.end()) external.push_back(v);
    }
  }
  return external;
}

int NotedPerMille(const onnx::Model& model) {
  if (model.graph.nodes.empty()) return 0;
  const auto noted = std::count_if(model.graph.nodes.begin(), model.graph.nodes.end(),
                                   [](const onnx::Node& node) { return absl::StartsWith(node.notes.fx_node, "%"); });
  return static_cast<int>(noted * 1000 / static_cast<int64_t>(model.graph.nodes.size()));  // per mille
}

FxGraph BuildFxGraph(const onnx::Model& model) {
  FxGraph graph;
  Builder(model, graph).Run();
  return graph;
}

}  // namespace memcrest
