#include "src/shape/unroll.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/onnx/expand_control.h"

namespace memcrest {
namespace {

constexpr absl::string_view kTrips = ".trips";
constexpr int kRounds = 64;  // If, Loop, Scan inside each other: as deep as the reader lets bodies nest

using Trips = std::map<std::string, int64_t>;

Trips TakeTrips(Binding* binding) {
  Trips trips;
  for (auto it = binding->symbols.begin(); it != binding->symbols.end();) {
    if (absl::EndsWith(it->first, kTrips)) {
      trips.emplace(it->first.substr(0, it->first.size() - kTrips.size()), it->second);
      it = binding->symbols.erase(it);
    } else {
      ++it;
    }
  }
  return trips;
}

std::string NameOf(const onnx::Node& node, int index) {
  return node.name.empty() ? absl::StrCat(node.op_type, "_", index) : std::string(node.name);
}

// Puts the user's counts in place of unknown ones, and asks for those that are missing.
std::vector<Problem> Settle(const onnx::Model& model, const Trips& trips, std::vector<onnx::ControlChoice>& choices,
                            std::vector<Assumption>* assumptions) {
  std::vector<Problem> problems;
  for (onnx::ControlChoice& choice : choices) {
    if (choice.known) continue;
    const onnx::Node& node = model.graph.nodes[static_cast<size_t>(choice.node)];
    const std::string name = NameOf(node, choice.node);
    if (const auto given = trips.find(name); given != trips.end() && given->second >= 0) {
      choice.count = given->second;
    } else if (choice.count == kUnknownTrips) {
      problems.push_back({"E0408", absl::StrCat("how often Loop \"", name, "\" runs depends on data"),
                          absl::StrCat("node \"", name, "\""), "its condition and count are computed by the network",
                          absl::StrCat("say how often: --bind ", name, ".trips=N")});
    } else {
      const bool branch = node.op_type == "If";
      assumptions->push_back(
          {"A0407", branch ? absl::StrCat("which branch of \"", name, "\" runs depends on data: the larger one is taken")
                           : absl::StrCat("how often \"", name, "\" runs depends on data: the most, ", choice.count,
                                          ", is taken; --bind ", name, ".trips=N says otherwise"),
           0});
    }
  }
  return problems;
}

// Nothing was expanded: what is left runs no trip and stacks its outputs, and stays an operator.
bool SameNodes(const onnx::Graph& a, const onnx::Graph& b) {
  return a.nodes.size() == b.nodes.size() &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(),
                    [](const onnx::Node& x, const onnx::Node& y) { return x.outputs == y.outputs && x.op_type == y.op_type; });
}

}  // namespace

absl::StatusOr<onnx::Model> Unroll(onnx::Model model, Binding* binding, std::vector<Assumption>* assumptions) {
  const Trips trips = TakeTrips(binding);
  for (int round = 0; round < kRounds && onnx::HasControl(model); ++round) {
    MEMCREST_ASSIGN_OR_RETURN(BoundShapes shapes, BindShapes(model, *binding));
    const std::vector<Problem> problems = Settle(model, trips, shapes.control, assumptions);
    if (!problems.empty()) return ToStatus(problems);
    MEMCREST_ASSIGN_OR_RETURN(onnx::Model expanded, onnx::ExpandControl(model, shapes.control));
    const bool stuck = SameNodes(model.graph, expanded.graph);
    model = std::move(expanded);
    if (stuck) break;
  }
  return model;
}

}  // namespace memcrest
