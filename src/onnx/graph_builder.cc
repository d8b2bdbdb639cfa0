#include "src/onnx/graph_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace memcrest::onnx {
namespace {

constexpr int64_t kValueCost = sizeof(Value) + 48;  // with its entry in the name table
constexpr size_t kShownCycle = 6;

bool IsDefined(const Value& value) { return value.is_input || value.initializer >= 0 || value.node >= 0; }

void TakeType(Value& declared, Value& value) {
  if (value.dtype == DType::kUndefined) value.dtype = declared.dtype;
  if (value.has_shape || !declared.has_shape) return;
  value.has_shape = true;
  value.shape = std::move(declared.shape);
}

// A stored tensor's type is a fact, whatever is declared elsewhere.
void TakeType(const Literal& literal, Value& value) {
  value.dtype = literal.dtype;
  value.has_shape = true;
  value.shape.clear();
  value.shape.reserve(literal.dims.size());
  for (const int64_t dim : literal.dims) value.shape.push_back({dim, {}});
}

}  // namespace

std::string DescribeNode(const Graph& graph, int node) {
  const Node& n = graph.nodes[static_cast<size_t>(node)];
  return absl::StrCat("node ", node, n.name.empty() ? "" : " ", n.name.empty() ? "" : Quoted(n.name), " (",
                      absl::CHexEscape(n.op_type.substr(0, 64)), ")");
}

void GraphBuilder::Reserve(size_t inputs, size_t initializers, size_t nodes) {
  graph_.inputs.reserve(inputs);
  graph_.initializers.reserve(initializers);
  graph_.nodes.reserve(nodes);
  const size_t values = inputs + initializers + nodes + nodes / 8;
  graph_.values.reserve(values);
  ids_.reserve(values);
}

ValueId GraphBuilder::Intern(absl::string_view name) {
  const auto [entry, is_new] = ids_.try_emplace(name, static_cast<ValueId>(graph_.values.size()));
  if (is_new) {
    context_.Charge(kValueCost);  // a failure stays recorded: the next charge of the caller ends the reading
    graph_.values.emplace_back().name = name;
  }
  return entry->second;
}

void GraphBuilder::AddInput(Value declared) {
  ValueId id = static_cast<ValueId>(graph_.values.size());
  if (declared.name.empty()) {
    graph_.values.emplace_back();
  } else {
    id = Intern(declared.name);
  }
  if (IsDefined(at(id))) return ReportTwice(at(id), "as an input");
  at(id).is_input = true;
  TakeType(declared, at(id));
  graph_.inputs.push_back(id);
}

void GraphBuilder::AddInitializer(Literal literal) {
  if (literal.name.empty()) return context_.AddNote(Note::kNamelessInit, {});
  const ValueId id = Intern(literal.name);
  Value& value = at(id);
  if (value.initializer >= 0) return ReportTwice(value, "as an initializer");
  // In a body the control-flow operator always binds the inputs, so a default value is never used. Elsewhere an input
  // with an initializer is how IR versions before 4 list weights.
  if (value.is_input && captures_) return;
  TakeType(literal, value);
  value.is_input = false;
  value.initializer = static_cast<int>(graph_.initializers.size());
  graph_.initializers.push_back(std::move(literal));
}

void GraphBuilder::AddOutput(Value declared) {
  if (declared.name.empty()) {
    return context_.Report("E0208", "a graph output has no name", absl::StrCat("graph ", Quoted(graph_.name)),
                           "an output must name the value that it gives out", "export the model again");
  }
  const ValueId id = Intern(declared.name);
  TakeType(declared, at(id));
  graph_.outputs.push_back(id);
}

void GraphBuilder::Declare(Value declared) {
  const auto found = ids_.find(declared.name);
  if (found != ids_.end()) TakeType(declared, at(found->second));
}

ValueId GraphBuilder::Define(absl::string_view name, int node) {
  if (name.empty()) return kNoValue;
  const ValueId id = Intern(name);
  if (IsDefined(at(id))) {
    ReportTwice(at(id), absl::StrCat("by ", DescribeNode(graph_, node)));
  } else {
    at(id).node = node;
  }
  return id;
}

std::string GraphBuilder::MakerOf(const Value& value) const {
  if (value.node >= 0) return absl::StrCat("by ", DescribeNode(graph_, value.node));
  return value.initializer >= 0 ? "as an initializer" : "as an input";
}

void GraphBuilder::ReportTwice(const Value& value, absl::string_view again) {
  context_.Report("E0207", absl::StrCat("value ", Quoted(value.name), " is defined twice"),
                  absl::StrCat("graph ", Quoted(graph_.name)), absl::StrCat("first ", MakerOf(value), ", then ", again),
                  "rename one of the two; ONNX allows one definition per name");
}

std::vector<ValueId> GraphBuilder::UndefinedValues() const {
  std::vector<ValueId> undefined;
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    if (!IsDefined(graph_.values[id])) undefined.push_back(static_cast<ValueId>(id));
  }
  return undefined;
}

void GraphBuilder::ReportUndefined(const std::vector<ValueId>& values) {
  std::vector<int> user(graph_.values.size(), -1);
  for (size_t node = graph_.nodes.size(); node-- > 0;) {
    for (const ValueId input : graph_.nodes[node].inputs) {
      if (input != kNoValue) user[static_cast<size_t>(input)] = static_cast<int>(node);
    }
  }
  for (const HiddenUse& use : hidden_uses_) {
    if (user[static_cast<size_t>(use.second)] < 0) user[static_cast<size_t>(use.second)] = use.first;
  }
  for (const ValueId id : values) {
    const int node = user[static_cast<size_t>(id)];
    context_.Report("E0208", absl::StrCat("value ", Quoted(at(id).name), " is used but never defined"),
                    node >= 0 ? DescribeNode(graph_, node) : absl::StrCat("an output of graph ", Quoted(graph_.name)),
                    "no graph input, initializer or node makes it",
                    "export the model again; in a part cut out of a model, list it as an input");
  }
}

void GraphBuilder::ReportCycle(const std::vector<int>& nodes) {
  std::string names;
  for (size_t i = 0; i < std::min(nodes.size(), kShownCycle); ++i) {
    absl::StrAppend(&names, i > 0 ? " -> " : "", DescribeNode(graph_, nodes[i]));
  }
  if (nodes.size() > kShownCycle) absl::StrAppend(&names, " -> ", nodes.size() - kShownCycle, " more");
  context_.Report("E0209", "the graph has a cycle", names,
                  "each of these nodes needs a result of the one before it, in a circle",
                  "export the model again; loops must be Loop or Scan nodes");
}

bool GraphBuilder::Finish() {
  const std::vector<ValueId> undefined = UndefinedValues();
  if (captures_) {
    for (const ValueId id : undefined) graph_.captured.emplace_back(id, at(id).name);
  } else if (!undefined.empty()) {
    ReportUndefined(undefined);
  }
  graph_.inputs.erase(std::remove_if(graph_.inputs.begin(), graph_.inputs.end(),
                                     [&](ValueId id) { return !at(id).is_input; }),
                      graph_.inputs.end());
  if (context_.has_problems()) return false;
  const SortResult sorted = SortNodes(hidden_uses_, graph_);
  if (sorted.moved) context_.AddNote(Note::kSorted, graph_.name);
  if (!sorted.cycle.empty()) ReportCycle(sorted.cycle);
  return sorted.cycle.empty();
}

}  // namespace memcrest::onnx
