#include "src/onnx/inline_functions.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/onnx/decode.h"
#include "src/onnx/expand_call.h"
#include "src/onnx/fresh_names.h"
#include "src/onnx/sort.h"

namespace memcrest::onnx {
namespace {

template <typename Visit>
void ForEachSubGraph(const Graph& graph, const Visit& visit) {
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      for (const auto& body : attribute.graphs) visit(*body);
    }
  }
}

// Functions that the graph calls, its sub-graphs included, in order of first call.
void AddCallees(const Graph& graph, std::vector<int>* callees) {
  for (const Node& node : graph.nodes) {
    if (IsCall(node.function)) callees->push_back(CallMark(node.function));
  }
  ForEachSubGraph(graph, [&](const Graph& body) { AddCallees(body, callees); });
}
std::vector<int> CalleesOf(const Graph& graph) {
  std::vector<int> callees;
  AddCallees(graph, &callees);
  std::sort(callees.begin(), callees.end());
  callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
  return callees;
}

// Nodes of a graph once its calls are inlined, sub-graphs included. At least one for a call; at most kTooMany.
constexpr int64_t kTooMany = int64_t{1} << 40;
int64_t FlatNodes(const Graph& graph, const FunctionTable& functions) {
  int64_t nodes = 0;
  for (const Node& node : graph.nodes) {
    nodes += IsCall(node.function) ? std::max<int64_t>(functions.at(CallMark(node.function)).flat_nodes, 1) : 1;
  }
  ForEachSubGraph(graph, [&](const Graph& body) { nodes += FlatNodes(body, functions); });
  return std::min(nodes, kTooMany);
}

int DepthOf(const Graph& graph) {
  int inner = 0;
  ForEachSubGraph(graph, [&](const Graph& body) { inner = std::max(inner, 1 + DepthOf(body)); });
  return inner;
}

std::string NameOf(const Function& function) {
  return absl::StrCat(function.domain, function.domain.empty() ? "" : "::", function.name,
                      function.overload.empty() ? "" : ":", function.overload);
}

class Inliner {
 public:
  Inliner(Context& context, FunctionTable& functions, Model& model)
      : context_(context), functions_(functions), model_(model), names_(context) {}

  bool Run() {
    if (!OrderFunctions() || !CheckSize()) return false;
    names_.Avoid(model_.graph);
    for (const int function : order_) names_.Avoid(functions_.at(function).body);
    for (const int function : order_) {
      Function& f = functions_.at(function);
      if (!Flatten(f.body) || !CheckDepth(f.body)) return false;
      f.has_sub_graphs = DepthOf(f.body) > 0;
    }
    return Flatten(model_.graph) && CheckDepth(model_.graph) && !context_.has_problems();
  }

 private:
  enum class State : uint8_t { kUnseen, kOpen, kDone };
  struct Frame {
    int function;
    std::vector<int> callees;
    size_t next = 0;
  };

  // Decodes every function that is reached, and lists them callees first.
  bool OrderFunctions() {
    state_.assign(static_cast<size_t>(functions_.size()), State::kUnseen);
    stack_.push_back({-1, CalleesOf(model_.graph)});
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == top.callees.size()) {
        Close(top.function);
        stack_.pop_back();
        continue;
      }
      const int callee = top.callees[top.next++];
      State& state = state_[static_cast<size_t>(callee)];
      if (state == State::kOpen) return FailRecursion(callee);
      if (state == State::kDone) continue;
      state = State::kOpen;
      if (!DecodeFunction(functions_, context_, &functions_.at(callee))) return false;
      stack_.push_back({callee, CalleesOf(functions_.at(callee).body)});
    }
    return true;
  }

  void Close(int function) {
    if (function < 0) return;  // the model's own graph
    state_[static_cast<size_t>(function)] = State::kDone;
    order_.push_back(function);
    Function& f = functions_.at(function);
    f.flat_nodes = FlatNodes(f.body, functions_);
    f.origin = static_cast<int>(model_.inlined_from.size());
    model_.inlined_from.push_back(context_.Keep(NameOf(f)));
    MergeOpsets(f);
  }

  // Domains that only the function imports join the model's.
  void MergeOpsets(const Function& function) {
    if (versions_.empty()) versions_.insert(model_.opsets.begin(), model_.opsets.end());
    for (const auto& [domain, version] : function.opsets) {
      const auto [known, is_new] = versions_.emplace(domain, version);
      if (is_new) model_.opsets.emplace_back(domain, version);
      if (known->second != version) context_.AddNote(Note::kOpsetDiffers, function.name);
    }
  }

  // Refuses what would pass the budget before any of it is built.
  bool CheckSize() {
    context_.set_inlining();
    int64_t nodes = FlatNodes(model_.graph, functions_);
    for (const int function : order_) nodes = std::min(nodes + functions_.at(function).flat_nodes, kTooMany);
    const int64_t bytes = nodes * static_cast<int64_t>(sizeof(Node));
    return context_.Charge(bytes) && context_.Charge(-bytes);
  }

  bool FailRecursion(int function) {
    std::string chain;
    bool on_cycle = false;
    for (const Frame& frame : stack_) {
      on_cycle |= frame.function == function;
      if (on_cycle && chain.size() < 400) absl::StrAppend(&chain, NameOf(functions_.at(frame.function)), " -> ");
    }
    absl::StrAppend(&chain, NameOf(functions_.at(function)));
    return context_.Fail("E0213", "a function calls itself",
                         absl::StrCat("function ", Quoted(functions_.at(function).name)),
                         absl::StrCat("ONNX forbids recursion: ", Quoted(chain)), "export the model without it");
  }

  // Replaces the calls in a graph and its sub-graphs; every callee is flat already.
  bool Flatten(Graph& graph) {
    bool calls = false;
    for (const Node& node : graph.nodes) {
      calls |= IsCall(node.function);
      for (const Attribute& attribute : node.attributes) {
        for (const auto& body : attribute.graphs) {
          if (!Flatten(*body)) return false;
        }
      }
    }
    return !calls || ReplaceCalls(graph);
  }

  bool ReplaceCalls(Graph& graph) {
    std::vector<Node> before = std::move(graph.nodes);
    std::vector<Node> after;
    after.reserve(before.size());
    for (Node& node : before) {
      if (!IsCall(node.function)) {
        after.push_back(std::move(node));
      } else if (!ExpandCall(functions_.at(CallMark(node.function)), node, names_, context_, graph, &after)) {
        return false;
      }
    }
    graph.nodes = std::move(after);
    LinkDefinitions(graph);
    return true;
  }

  bool CheckDepth(const Graph& graph) {
    if (DepthOf(graph) <= kMaxGraphDepth) return true;
    return context_.Fail(
        "E0206", "sub-graphs are nested too deep", absl::StrCat("graph ", Quoted(graph.name)),
        absl::StrCat("more than ", kMaxGraphDepth, " bodies inside each other once functions are inlined"),
        "export the model with fewer nested control-flow operators");
  }

  Context& context_;
  FunctionTable& functions_;
  Model& model_;
  FreshNames names_;
  std::vector<State> state_;
  std::vector<Frame> stack_;
  std::vector<int> order_;
  absl::flat_hash_map<absl::string_view, int64_t> versions_;
};

}  // namespace

bool InlineFunctions(Context& context, FunctionTable* functions, Model* model) {
  return functions->empty() || Inliner(context, *functions, *model).Run();
}

}  // namespace memcrest::onnx
