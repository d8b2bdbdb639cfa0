#include "src/onnx/sort.h"

#include <algorithm>
#include <cstdint>

namespace memcrest::onnx {
namespace {

class Sorter {
 public:
  Sorter(absl::Span<const HiddenUse> hidden_uses, const Graph& graph) : graph_(graph), hidden_(hidden_uses) {
    hidden_begin_.assign(graph.nodes.size() + 1, 0);
    for (const HiddenUse& use : hidden_) ++hidden_begin_[static_cast<size_t>(use.first) + 1];
    for (size_t i = 1; i < hidden_begin_.size(); ++i) hidden_begin_[i] += hidden_begin_[i - 1];
  }

  bool InOrder() const {
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      for (size_t k = 0; k < NeedsOf(node); ++k) {
        if (Need(node, k) >= static_cast<int>(node)) return false;
      }
    }
    return true;
  }

  // Depth first with an explicit stack; false if there is a cycle, which is then in cycle().
  bool Sort() {
    state_.assign(graph_.nodes.size(), State::kUnseen);
    order_.reserve(graph_.nodes.size());
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      if (state_[node] == State::kUnseen && !Place(node)) return false;
    }
    return true;
  }

  const std::vector<size_t>& order() const { return order_; }
  std::vector<int> cycle() const { return cycle_; }

 private:
  enum class State : uint8_t { kUnseen, kOpen, kPlaced };
  struct Frame {
    size_t node;
    size_t next = 0;  // need to look at next
  };

  size_t NeedsOf(size_t node) const {
    return graph_.nodes[node].inputs.size() + hidden_begin_[node + 1] - hidden_begin_[node];
  }
  // The node that makes the k-th value which `node` needs; -1 if none does.
  int Need(size_t node, size_t k) const {
    const std::vector<ValueId>& inputs = graph_.nodes[node].inputs;
    const ValueId value = k < inputs.size() ? inputs[k] : hidden_[hidden_begin_[node] + k - inputs.size()].second;
    return value == kNoValue ? -1 : graph_.values[static_cast<size_t>(value)].node;
  }

  bool Place(size_t root) {
    Open(root);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == NeedsOf(top.node)) {
        state_[top.node] = State::kPlaced;
        order_.push_back(top.node);
        stack_.pop_back();
        continue;
      }
      const int need = Need(top.node, top.next++);
      if (need < 0 || state_[static_cast<size_t>(need)] == State::kPlaced) continue;
      if (state_[static_cast<size_t>(need)] == State::kOpen) return FindCycle(static_cast<size_t>(need));
      Open(static_cast<size_t>(need));
    }
    return true;
  }
  void Open(size_t node) {
    state_[node] = State::kOpen;
    stack_.push_back({node});
  }
  bool FindCycle(size_t closing) {
    auto frame = std::find_if(stack_.begin(), stack_.end(), [&](const Frame& f) { return f.node == closing; });
    for (; frame != stack_.end(); ++frame) cycle_.push_back(static_cast<int>(frame->node));
    std::reverse(cycle_.begin(), cycle_.end());  // makers before users
    return false;
  }

  const Graph& graph_;
  absl::Span<const HiddenUse> hidden_;
  std::vector<size_t> hidden_begin_;
  std::vector<State> state_;
  std::vector<Frame> stack_;
  std::vector<size_t> order_;
  std::vector<int> cycle_;
};

}  // namespace

SortResult SortNodes(absl::Span<const HiddenUse> hidden_uses, Graph& graph) {
  Sorter sorter(hidden_uses, graph);
  if (sorter.InOrder()) return {};
  if (!sorter.Sort()) return {false, sorter.cycle()};
  std::vector<Node> sorted;
  sorted.reserve(graph.nodes.size());
  for (const size_t node : sorter.order()) sorted.push_back(std::move(graph.nodes[node]));
  graph.nodes = std::move(sorted);
  LinkDefinitions(graph);
  return {true, {}};
}

void LinkDefinitions(Graph& graph) {
  for (Value& value : graph.values) value.node = -1;
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const ValueId output : graph.nodes[node].outputs) {
      if (output != kNoValue) graph.values[static_cast<size_t>(output)].node = static_cast<int>(node);
    }
  }
}

}  // namespace memcrest::onnx
