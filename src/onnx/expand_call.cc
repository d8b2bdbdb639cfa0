#include "src/onnx/expand_call.h"

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace memcrest::onnx {
namespace {

constexpr ValueId kUnbound = -2;
// Temporaries of one call; charged like lasting memory, since they bound the time that many calls take.
constexpr size_t kCallCost = 128, kValueCost = 8, kRenameCost = 48, kArgumentCost = 48;
// Old name to new name of the values around a sub-graph; "" for an optional input that the call leaves out.
using Renames = absl::flat_hash_map<absl::string_view, absl::string_view>;

int64_t CostOf(const Literal& literal) {
  return static_cast<int64_t>(sizeof literal + (literal.ints.size() + literal.floats.size()) * 8);
}
int64_t CostOf(const Attribute& attribute) {
  int64_t cost = static_cast<int64_t>(sizeof attribute + (attribute.ints.size() + attribute.floats.size()) * 8 +
                                      attribute.strings.size() * sizeof(absl::string_view));
  for (const Literal& tensor : attribute.tensors) cost += CostOf(tensor);
  return cost;
}
int64_t CostOf(const Value& value) {
  return static_cast<int64_t>(sizeof value + value.shape.size() * sizeof(SymDim));
}
int64_t CostOf(const Node& node) {
  return static_cast<int64_t>(sizeof node + 64 + (node.inputs.size() + node.outputs.size()) * sizeof(ValueId));
}

Attribute WithoutGraphs(const Attribute& from) {
  Attribute copy;
  copy.name = from.name;
  copy.kind = from.kind;
  copy.i = from.i;
  copy.f = from.f;
  copy.s = from.s;
  copy.ints = from.ints;
  copy.floats = from.floats;
  copy.strings = from.strings;
  copy.tensors = from.tensors;
  copy.ref_attr = from.ref_attr;
  return copy;
}

class CallExpander {
 public:
  CallExpander(const Function& function, const Node& call, FreshNames& names, Context& context, Graph& caller,
               std::vector<Node>& out)
      : function_(function),
        body_(function.body),
        call_(call),
        names_(names),
        context_(context),
        caller_(caller),
        out_(out) {}

  bool Expand() {
    const size_t cost = kCallCost + body_.values.size() * (kValueCost + (function_.has_sub_graphs ? kRenameCost : 0)) +
                        call_.attributes.size() * kArgumentCost;
    if (!context_.Charge(static_cast<int64_t>(cost)) || !CheckArity()) return false;
    prefix_ = names_.PrefixOf(call_);
    for (const Attribute& attribute : call_.attributes) arguments_.emplace(attribute.name, &attribute);
    BindInputs();
    BindOutputs();
    return MakeInnerValues() && CopyNodes() && CopyPassedOn();
  }

 private:
  bool CheckArity() {
    if (call_.inputs.size() <= body_.inputs.size() && call_.outputs.size() <= body_.outputs.size()) return true;
    return Fail(absl::StrCat("the call has ", call_.inputs.size(), " inputs and ", call_.outputs.size(),
                             " outputs; the function has ", body_.inputs.size(), " and ", body_.outputs.size()));
  }
  bool Fail(absl::string_view why) {
    return context_.Fail("E0214", absl::StrCat("a call does not fit function ", Quoted(function_.name)),
                         absl::StrCat("node ", Quoted(call_.name)), why, "export the model again, without functions");
  }

  ValueId& BoundTo(ValueId body_id) { return ids_[static_cast<size_t>(body_id)]; }
  ValueId Mapped(ValueId body_id) { return body_id == kNoValue ? kNoValue : BoundTo(body_id); }

  void BindInputs() {
    ids_.assign(body_.values.size(), kUnbound);
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      BoundTo(body_.inputs[i]) = i < call_.inputs.size() ? call_.inputs[i] : kNoValue;
    }
  }

  // A value that is an output twice, or an input as well, keeps its first binding; the others are copied by
  // CopyPassedOn().
  void BindOutputs() {
    for (size_t i = 0; i < call_.outputs.size(); ++i) {
      const ValueId inner = body_.outputs[i], outer = call_.outputs[i];
      if (outer == kNoValue) continue;
      if (BoundTo(inner) != kUnbound) {
        passed_on_.emplace_back(inner, outer);
        continue;
      }
      BoundTo(inner) = outer;
      TakeType(body_.values[static_cast<size_t>(inner)], caller_.values[static_cast<size_t>(outer)]);
    }
  }
  static void TakeType(const Value& from, Value& to) {
    if (to.dtype == DType::kUndefined) to.dtype = from.dtype;
    if (to.has_shape || !from.has_shape) return;
    to.has_shape = true;
    to.shape = from.shape;
  }

  bool MakeInnerValues() {
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] != kUnbound) continue;
      const Value& inner = body_.values[i];
      if (!context_.Charge(CostOf(inner))) return false;
      ids_[i] = static_cast<ValueId>(caller_.values.size());
      Value& value = caller_.values.emplace_back(inner);
      value.name = names_.Make(prefix_, inner.name);
      value.node = -1;
    }
    if (!function_.has_sub_graphs) return true;
    for (size_t i = 0; i < ids_.size(); ++i) {
      const absl::string_view outer = ids_[i] == kNoValue ? "" : caller_.values[static_cast<size_t>(ids_[i])].name;
      renames_.emplace(body_.values[i].name, outer);
    }
    return true;
  }

  bool CopyNodes() {
    for (const Node& node : body_.nodes) {
      if (!CopyNode(node, renames_, &out_.emplace_back())) return false;
      for (ValueId& input : out_.back().inputs) input = Mapped(input);
      for (ValueId& output : out_.back().outputs) output = Mapped(output);
    }
    return true;
  }

  bool CopyPassedOn() {
    for (const auto& [inner, outer] : passed_on_) {
      if (BoundTo(inner) == kNoValue) return Fail("an output passes on an input that the call leaves out");
      Node& copy = out_.emplace_back();
      if (!context_.Charge(CostOf(copy))) return false;
      copy.op_type = "Identity";
      copy.name = context_.Keep(absl::StrCat(prefix_, "/Identity"));
      copy.inputs = {BoundTo(inner)};
      copy.outputs = {outer};
      copy.notes = call_.notes;
      copy.function = function_.origin;
    }
    return true;
  }

  // Everything but the ids, which stay the body's.
  bool CopyNode(const Node& from, const Renames& around, Node* to) {
    if (!context_.Charge(CostOf(from) + static_cast<int64_t>(prefix_.size()))) return false;
    to->op_type = from.op_type;
    to->domain = from.domain;
    if (!from.name.empty()) to->name = context_.Keep(absl::StrCat(prefix_, "/", from.name));
    to->inputs = from.inputs;
    to->outputs = from.outputs;
    // A body without notes of its own is what the call's notes describe.
    to->notes = from.notes.fx_node.empty() && from.notes.name_scopes.empty() ? call_.notes : from.notes;
    to->function = from.function >= 0 ? from.function : function_.origin;
    to->attributes.reserve(from.attributes.size());
    for (const Attribute& attribute : from.attributes) {
      if (!CopyAttribute(attribute, around, &to->attributes)) return false;
    }
    return true;
  }

  bool CopyAttribute(const Attribute& from, const Renames& around, std::vector<Attribute>* to) {
    if (!from.ref_attr.empty()) return ResolveReference(from, to);
    if (!context_.Charge(CostOf(from))) return false;
    to->push_back(WithoutGraphs(from));
    for (const auto& graph : from.graphs) {
      if (!context_.Charge(sizeof(Graph) + 64)) return false;
      const auto copy = std::make_shared<Graph>();
      to->back().graphs.push_back(copy);
      if (!CopyGraph(*graph, around, copy.get())) return false;
    }
    return true;
  }

  const Attribute* FindArgument(absl::string_view parameter) const {
    const auto given = arguments_.find(parameter);
    if (given != arguments_.end()) return given->second;
    const auto standard = function_.defaults.find(parameter);
    return standard == function_.defaults.end() ? nullptr : &standard->second;
  }

  // The call's argument, else the function's default, else nothing: then the operator's own default holds.
  bool ResolveReference(const Attribute& from, std::vector<Attribute>* to) {
    const Attribute* const argument = FindArgument(from.ref_attr);
    if (argument == nullptr) return true;
    const Attribute& bound = *argument;
    // Sub-graphs as arguments would multiply without bound, and would see the caller's values from inside the body.
    if (!bound.graphs.empty())
      return Fail(absl::StrCat("attribute ", Quoted(from.ref_attr), " passes a sub-graph to it"));
    if (!context_.Charge(CostOf(bound))) return false;
    to->push_back(WithoutGraphs(bound));
    to->back().name = from.name;
    return true;
  }

  // A sub-graph with new names for all its values: `around` for captured ones, fresh ones for its own.
  bool CopyGraph(const Graph& from, const Renames& around, Graph* to) {
    to->name = from.name;
    to->values = from.values;
    to->inputs = from.inputs;
    to->outputs = from.outputs;
    to->initializers = from.initializers;
    for (const Literal& literal : from.initializers) {
      if (!context_.Charge(CostOf(literal))) return false;
    }
    std::vector<bool> absent(from.values.size(), false);
    CopyCaptures(from, around, to, &absent);
    Renames inner;
    if (!RenameValues(from, absent, to, &inner)) return false;
    for (const ValueId output : to->outputs) {
      if (absent[static_cast<size_t>(output)]) return Fail("a sub-graph gives out an input that the call leaves out");
    }
    to->nodes.reserve(from.nodes.size());
    for (const Node& node : from.nodes) {
      if (!CopyNode(node, inner, &to->nodes.emplace_back())) return false;
      for (ValueId& input : to->nodes.back().inputs) {
        if (input != kNoValue && absent[static_cast<size_t>(input)]) input = kNoValue;
      }
    }
    return true;
  }

  static void CopyCaptures(const Graph& from, const Renames& around, Graph* to, std::vector<bool>* absent) {
    for (const auto& [id, name] : from.captured) {
      const auto renamed = around.find(name);
      const absl::string_view outer = renamed == around.end() ? "" : renamed->second;
      to->values[static_cast<size_t>(id)].name = outer;
      if (outer.empty()) {
        (*absent)[static_cast<size_t>(id)] = true;
      } else {
        to->captured.emplace_back(id, outer);
      }
    }
  }

  bool RenameValues(const Graph& from, const std::vector<bool>& absent, Graph* to, Renames* renames) {
    std::vector<bool> captured = absent;
    for (const auto& [id, name] : to->captured) captured[static_cast<size_t>(id)] = true;
    for (size_t i = 0; i < to->values.size(); ++i) {
      Value& value = to->values[i];
      if (!context_.Charge(CostOf(value))) return false;
      if (!captured[i] && !value.name.empty()) value.name = names_.Make(prefix_, value.name);
      if (value.initializer >= 0) to->initializers[static_cast<size_t>(value.initializer)].name = value.name;
      renames->emplace(from.values[i].name, value.name);
    }
    return true;
  }

  const Function& function_;
  const Graph& body_;
  const Node& call_;
  FreshNames& names_;
  Context& context_;
  Graph& caller_;
  std::vector<Node>& out_;
  absl::string_view prefix_;
  absl::flat_hash_map<absl::string_view, const Attribute*> arguments_;  // of the call
  std::vector<ValueId> ids_;  // the body's to the caller's
  std::vector<std::pair<ValueId, ValueId>> passed_on_;
  Renames renames_;
};

}  // namespace

bool ExpandCall(const Function& function, const Node& call, FreshNames& names, Context& context, Graph& caller,
                std::vector<Node>* out) {
  return CallExpander(function, call, names, context, caller, *out).Expand();
}

}  // namespace memcrest::onnx
