#include "src/onnx/expand_control.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/onnx/context.h"
#include "src/onnx/expand_call.h"
#include "src/onnx/fresh_names.h"

namespace memcrest::onnx {
namespace {

bool IsControl(const Node& node) {
  return node.domain.empty() && (node.op_type == "If" || node.op_type == "Loop" || node.op_type == "Scan");
}

bool HasSubGraphs(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return std::any_of(node.attributes.begin(), node.attributes.end(),
                       [](const Attribute& a) { return !a.graphs.empty(); });
  });
}

// A body as a function: what it captures becomes further inputs, its initializers become Constant nodes.
Function AsFunction(const Graph& body, absl::string_view name) {
  Function f;
  f.name = name;
  f.body = body;
  f.has_sub_graphs = HasSubGraphs(body);
  for (const auto& [id, outer] : body.captured) f.body.inputs.push_back(id);
  f.body.captured.clear();
  std::vector<Node> constants;
  for (size_t v = 0; v < body.values.size(); ++v) {
    if (body.values[v].initializer < 0 || body.values[v].is_input) continue;
    Node& node = constants.emplace_back();
    node.op_type = "Constant";
    node.outputs = {static_cast<ValueId>(v)};
    Attribute& value = node.attributes.emplace_back();
    value.name = "value";
    value.kind = Attribute::Kind::kTensor;
    value.tensors = {body.initializers[static_cast<size_t>(body.values[v].initializer)]};
    f.body.values[v].initializer = -1;
  }
  f.body.nodes.insert(f.body.nodes.begin(), constants.begin(), constants.end());
  return f;
}

class ControlExpander {
 public:
  ControlExpander(const Model& model, const ReadOptions& options)
      : model_(model), context_("", model.producer_name, options), names_(context_), opset_(model.Opset()) {
    names_.Avoid(model_.graph);
    for (size_t v = 0; v < model_.graph.values.size(); ++v) {
      by_name_.emplace(model_.graph.values[v].name, static_cast<ValueId>(v));
    }
  }

  absl::StatusOr<Model> Expand(absl::Span<const ControlChoice> choices) {
    const std::vector<Node> nodes = std::move(graph().nodes);
    const ControlChoice* next = choices.data();
    for (size_t n = 0; n < nodes.size(); ++n) {
      if (next != choices.data() + choices.size() && next->node == static_cast<int>(n)) {
        if (!ExpandNode(nodes[n], (next++)->count)) return ToStatus(context_.TakeProblems());
      } else {
        out_.push_back(nodes[n]);
      }
    }
    graph().nodes = std::move(out_);
    PlaceValues();
    model_.backing.push_back(context_.strings());
    return std::move(model_);
  }

 private:
  Graph& graph() { return model_.graph; }

  bool ExpandNode(const Node& node, int64_t count) {
    node_ = &node;
    prefix_ = names_.PrefixOf(node);
    const bool branch = node.op_type == "If";
    const Attribute* a = node.Find(!branch ? "body" : count != 0 ? "then_branch" : "else_branch");
    if (a == nullptr || a->graphs.empty()) return Keep();
    const Graph& body = *a->graphs[0];
    const Function function = AsFunction(body, node.op_type);
    captured_.clear();
    for (const auto& [id, name] : body.captured) {
      const auto found = by_name_.find(name);
      captured_.push_back(found == by_name_.end() ? kNoValue : found->second);
    }
    if (branch) return Call(function, {}, node.outputs);
    return node.op_type == "Loop" ? ExpandLoop(function, count) : ExpandScan(function, count);
  }
  bool Keep() {
    out_.push_back(*node_);
    return true;
  }

  bool ExpandLoop(const Function& function, int64_t trips) {
    const size_t carried = node_->inputs.size() < 2 ? 0 : node_->inputs.size() - 2;
    if (node_->inputs.size() < 2 || (trips == 0 && node_->outputs.size() > carried)) return Keep();
    const ValueId condition = Number(1, DType::kBool);
    states_.assign(node_->inputs.begin() + 2, node_->inputs.end());
    for (int64_t trip = 0; trip < trips; ++trip) {
      std::vector<ValueId> in = {Number(trip, DType::kInt64), condition};
      in.insert(in.end(), states_.begin(), states_.end());
      if (!Trip(function, std::move(in), 1, trip + 1 == trips)) return false;
    }
    return PassOn(trips) && Stack([](size_t) { return 0; });
  }

  bool ExpandScan(const Function& function, int64_t trips) {
    const size_t scanned = static_cast<size_t>(node_->Int("num_scan_inputs", 0));
    if (opset_ < 9 || scanned == 0 || scanned > node_->inputs.size() || trips == 0) return Keep();
    const size_t carried = node_->inputs.size() - scanned;
    states_.assign(node_->inputs.begin(), node_->inputs.begin() + static_cast<int64_t>(carried));
    for (int64_t trip = 0; trip < trips; ++trip) {
      std::vector<ValueId> in = states_;
      for (size_t i = 0; i < scanned; ++i) in.push_back(Cut(node_->inputs[carried + i], trip, AxisOf("scan_input_axes", i)));
      if (!Trip(function, std::move(in), 0, trip + 1 == trips)) return false;
    }
    return Stack([this](size_t i) { return AxisOf("scan_output_axes", i); });
  }

  // One run of the body. `skipped`: outputs before the states (a Loop's condition).
  bool Trip(const Function& function, std::vector<ValueId> in, size_t skipped, bool last) {
    std::vector<ValueId> out(skipped, kNoValue);
    for (size_t i = 0; i < states_.size(); ++i) {
      const bool to_node = last && i < node_->outputs.size() && node_->outputs[i] != kNoValue;
      states_[i] = to_node ? node_->outputs[i] : Fresh("carried");
      out.push_back(states_[i]);
    }
    stacked_.resize(node_->outputs.size() > states_.size() ? node_->outputs.size() - states_.size() : 0);
    for (size_t k = 0; k < stacked_.size(); ++k) {
      const bool wanted = node_->outputs[states_.size() + k] != kNoValue;
      out.push_back(wanted ? Fresh("each") : kNoValue);
      if (wanted) stacked_[k].push_back(out.back());
    }
    return Call(function, std::move(in), out);
  }

  bool Call(const Function& function, std::vector<ValueId> in, const std::vector<ValueId>& out) {
    Node call;
    call.op_type = node_->op_type;
    call.name = prefix_;
    call.notes = node_->notes;
    call.inputs = std::move(in);
    call.inputs.insert(call.inputs.end(), captured_.begin(), captured_.end());
    call.outputs = out;
    const size_t first = out_.size();
    if (!ExpandCall(function, call, names_, context_, graph(), &out_)) return false;
    for (size_t i = 0; i < function.body.nodes.size() && first + i < out_.size(); ++i) {
      if (absl::StartsWith(function.body.nodes[i].name, "/")) out_[first + i].name = function.body.nodes[i].name;
    }
    return true;
  }

  // A Loop that makes no trip gives what it was given.
  bool PassOn(int64_t trips) {
    for (size_t i = 0; trips == 0 && i < states_.size() && i < node_->outputs.size(); ++i) {
      if (node_->outputs[i] != kNoValue) Emit("Identity", {states_[i]}, node_->outputs[i]);
    }
    return true;
  }

  template <typename AxisOfOutput>
  bool Stack(AxisOfOutput axis_of) {
    for (size_t k = 0; k < stacked_.size(); ++k) {
      if (stacked_[k].empty()) continue;
      const int64_t axis = axis_of(k);
      std::vector<ValueId> parts;
      for (const ValueId one : stacked_[k]) parts.push_back(Unsqueeze(one, axis));
      Emit("Concat", std::move(parts), node_->outputs[states_.size() + k]).push_back(Ints("axis", axis));
    }
    stacked_.clear();
    return true;
  }

  ValueId Unsqueeze(ValueId v, int64_t axis) {
    const ValueId made = Fresh("unsqueezed");
    if (opset_ >= 13) {
      Emit("Unsqueeze", {v, Number(axis, DType::kInt64, {1})}, made);
    } else {
      Attribute axes = Ints("axes", axis);
      axes.kind = Attribute::Kind::kInts;
      axes.ints = {axis};
      Emit("Unsqueeze", {v}, made).push_back(axes);
    }
    return made;
  }
  ValueId Cut(ValueId v, int64_t index, int64_t axis) {
    const ValueId made = Fresh("cut"), at = Number(index, DType::kInt64);
    Emit("Gather", {v, at}, made).push_back(Ints("axis", axis));
    return made;
  }
  int64_t AxisOf(absl::string_view name, size_t i) const {
    const std::vector<int64_t>* axes = node_->Ints(name);
    return axes != nullptr && i < axes->size() ? (*axes)[i] : 0;
  }

  static Attribute Ints(absl::string_view name, int64_t value) {
    Attribute a;
    a.name = name;
    a.kind = Attribute::Kind::kInt;
    a.i = value;
    return a;
  }
  std::vector<Attribute>& Emit(absl::string_view op, std::vector<ValueId> in, ValueId out) {
    Node& node = out_.emplace_back();
    node.op_type = op;
    node.name = node_->name;
    node.notes = node_->notes;
    node.inputs = std::move(in);
    node.outputs = {out};
    return node.attributes;
  }
  ValueId Number(int64_t number, DType dtype, Dims dims = {}) {
    const ValueId v = Fresh("number");
    Attribute value;
    value.name = "value";
    value.kind = Attribute::Kind::kTensor;
    Literal& literal = value.tensors.emplace_back();
    literal.dtype = dtype;
    literal.dims = std::move(dims);
    literal.has_data = true;
    literal.ints = {number};
    Emit("Constant", {}, v).push_back(std::move(value));
    return v;
  }
  ValueId Fresh(absl::string_view what) {
    context_.Charge(static_cast<int64_t>(sizeof(Value) + sizeof(Node)));
    Value value;
    value.name = names_.Make(prefix_, what);
    graph().values.push_back(value);
    return static_cast<ValueId>(graph().values.size() - 1);
  }

  void PlaceValues() {
    for (Value& value : graph().values) value.node = -1;
    for (size_t n = 0; n < graph().nodes.size(); ++n) {
      for (const ValueId id : graph().nodes[n].outputs) {
        if (id != kNoValue) graph().values[static_cast<size_t>(id)].node = static_cast<int>(n);
      }
    }
  }

  Model model_;
  Context context_;
  FreshNames names_;
  int64_t opset_;
  absl::flat_hash_map<absl::string_view, ValueId> by_name_;
  std::vector<Node> out_;
  // Of the node being expanded.
  const Node* node_ = nullptr;
  absl::string_view prefix_;
  std::vector<ValueId> captured_, states_;
  std::vector<std::vector<ValueId>> stacked_;  // per stacked output, its trips
};

}  // namespace

bool HasControl(const Model& model) {
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), IsControl);
}

absl::StatusOr<Model> ExpandControl(const Model& model, absl::Span<const ControlChoice> choices,
                                    const ReadOptions& options) {
  return ControlExpander(model, options).Expand(choices);
}

}  // namespace memcrest::onnx
