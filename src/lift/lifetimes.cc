#include "src/lift/lifetimes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/lift/frames.h"
#include "src/lift/modules.h"

namespace memcrest {
namespace {

using Tensors = absl::InlinedVector<TensorId, 2>;

// A running Python function.
struct Frame {
  PlacedFrame placed;
  Statement statement;                 // being executed
  NodeId since = 0;                    // first node of this execution of the statement
  int children = 0;                    // module calls made by it so far
  std::vector<std::pair<absl::string_view, Tensors>> names;
};

class NameWalk {
 public:
  NameWalk(const FxGraph& graph, const std::vector<int>& fx_of_node, Network& network)
      : graph_(graph), fx_of_node_(fx_of_node), net_(network) {}

  void Run() {
    const NodeId nodes = static_cast<NodeId>(net_.nodes.size());
    for (NodeId n = 0; n < nodes; ++n) {
      const PlacedFrames now = FramesOf(n);
      if (now.empty()) continue;
      NoteLine(n, now.back().source);
      Follow(now, n);
      depth_at_last_ = now.size();
    }
    while (!stack_.empty()) Return(nodes - 1);
  }

 private:
  PlacedFrames FramesOf(NodeId n) const {
    const Node& node = net_.nodes[static_cast<size_t>(n)];
    const FxNode& fx = graph_.nodes[static_cast<size_t>(fx_of_node_[static_cast<size_t>(n)])];
    if (fx.notes == nullptr || fx.notes->notes.stack_trace.empty()) return {};
    int drop = 0;  // restored operators and those without notes ran further out than the node that tells of them
    if (!fx.noted || node.origin.evidence == Evidence::kPattern) {
      int depth = 0;
      for (CallId c = node.call; c != kNone && c != 0; c = net_.calls[static_cast<size_t>(c)].parent) ++depth;
      drop = std::max(0, static_cast<int>(ParseScopes(fx.notes->notes).size()) - depth);
    }
    return PlaceFrames(net_, node.call, fx.notes->notes.stack_trace, drop);
  }

  void NoteLine(NodeId n, const SourceFrame& source) {
    const std::string line = absl::StrCat(source.file, ":", source.line, ": ", source.code);
    const auto [found, added] = lines_.emplace(line, static_cast<int32_t>(net_.source_lines.size()));
    if (added) net_.source_lines.push_back(line);
    Node& node = net_.nodes[static_cast<size_t>(n)];
    node.origin.source_line = found->second;
    const std::string method = absl::StrCat(node.op->name, "_(");
    const bool spelled =
        absl::StrContains(source.code, absl::StrCat(".", method)) || absl::StrContains(source.code, "inplace=True");
    if (spelled && CanBeInplace(node)) node.attrs.Set(Key::kInplace, true);
  }

  // Pointwise operators of one tensor, and arithmetic: what has an in-place form.
  static bool CanBeInplace(const Node& node) {
    for (const absl::string_view op :
         {"relu", "hardtanh",  "leaky_relu",  "elu",       "selu",      "celu",      "silu",
          "mish", "hardswish", "hardsigmoid", "sigmoid",   "tanh",      "dropout",   "add",
          "sub",  "mul",       "div",         "clamp",     "clamp_min", "clamp_max", "exp",
          "sqrt", "rsqrt",     "masked_fill", "threshold", "softplus"}) {
      if (op == node.op->name) return true;
    }
    return false;
  }

  // Moves from the frames of the node before to those of node n.
  void Follow(const PlacedFrames& now, NodeId n) {
    const size_t kept = Kept(now);
    const bool child_returned = stack_.size() > kept;
    while (stack_.size() > kept) Return(n - 1);
    for (size_t i = 0; i < kept; ++i) {
      const bool top = i + 1 == kept;
      const bool enters = top && now.size() > kept;
      const bool moved =
          stack_[i].placed.source.line != now[i].source.line || stack_[i].placed.source.code != now[i].source.code;
      const bool again = enters && child_returned && stack_[i].children >= std::max(1, stack_[i].statement.calls);
      if (moved || again) {
        Complete(i, n - 1);
        Begin(stack_[i], now[i], n);
      }
    }
    for (size_t i = kept; i < now.size(); ++i) {
      if (i > 0) ++stack_[i - 1].children;
      stack_.emplace_back();
      Begin(stack_.back(), now[i], n);
    }
  }

  size_t Kept(const PlacedFrames& now) const {
    size_t kept = 0;
    while (kept < stack_.size() && kept < now.size()) {
      const PlacedFrame& before = stack_[kept].placed;
      const PlacedFrame& here = now[kept];
      if (before.call != here.call || before.source.function != here.source.function ||
          before.source.file != here.source.file)
        break;
      // A helper's frame is the same only if it was reached through the same line.
      if (here.call == kNone && kept > 0 && stack_[kept - 1].placed.source.line != now[kept - 1].source.line) break;
      ++kept;
    }
    return kept;
  }

  static void Begin(Frame& frame, const PlacedFrame& placed, NodeId n) {
    frame.placed = placed;
    frame.statement = ParseStatement(placed.source.code);
    frame.since = n;
    frame.children = 0;
  }

  // The statement of stack_[i] has run; its last node is `end`.
  void Complete(size_t i, NodeId end) {
    Frame& frame = stack_[i];
    const Statement& statement = frame.statement;
    if (statement.augmented != '\0' && i + 1 == depth_at_last_) MarkAugmented(statement.augmented, end);
    if (absl::StrContains(frame.placed.source.code, ".pop(")) ForgetPopped(frame);
    if (statement.targets.empty() || end < frame.since) return;
    const Tensors values = LiveAfter(frame.since, end);
    const bool one_each = statement.targets.size() == values.size();
    const size_t targets = one_each ? statement.targets.size() : statement.first_targets;
    for (size_t k = 0; k < targets; ++k) {
      if (statement.targets[k] == "[]") continue;
      const Tensors held = one_each ? Tensors{values[k]} : values;
      // Of several statements on a line each assigns when its own value is there.
      const bool own_time = one_each && statement.statements > 1;
      const NodeId at = own_time ? net_.tensors[static_cast<size_t>(values[k])].def : end;
      Bind(frame, statement.targets[k], held, at, statement.appends);
    }
  }

  // What is taken out of a list dies at its last use.
  static void ForgetPopped(Frame& frame) {
    for (auto& [name, held] : frame.names) {
      if (absl::StrContains(frame.placed.source.code, absl::StrCat(name, ".pop("))) held.clear();
    }
  }

  // Results of nodes [begin, end] that are read later, and the last node's results.
  Tensors LiveAfter(NodeId begin, NodeId end) const {
    Tensors values;
    for (NodeId n = begin; n <= end; ++n) {
      for (const TensorId id : net_.nodes[static_cast<size_t>(n)].out) {
        if (id == kNone) continue;
        const Tensor& tensor = net_.tensors[static_cast<size_t>(id)];
        if (n == end || tensor.last_use > end || tensor.released_after == kNone) values.push_back(id);
      }
    }
    return values;
  }

  void Bind(Frame& frame, absl::string_view name, const Tensors& values, NodeId at, bool keep) {
    for (auto& [known, held] : frame.names) {
      if (known != name) continue;
      if (keep) {
        held.insert(held.end(), values.begin(), values.end());
        return;
      }
      Hold(held, at);
      held = values;
      return;
    }
    frame.names.emplace_back(name, values);
  }

  void Return(NodeId end) {
    Complete(stack_.size() - 1, end);
    for (const auto& [name, held] : stack_.back().names) Hold(held, end);
    stack_.pop_back();
  }

  void Hold(const Tensors& held, NodeId until) {
    for (const TensorId id : held) {
      NodeId& released = net_.tensors[static_cast<size_t>(id)].released_after;
      if (released != kNone) released = std::max(released, until);
    }
  }

  // "h += s" is the in-place form of the operator that computes it last.
  void MarkAugmented(char sign, NodeId end) {
    Node& node = net_.nodes[static_cast<size_t>(end)];
    const absl::string_view op = node.op->name;
    if ((sign == '+' && op == "add") || (sign == '-' && op == "sub") || (sign == '*' && op == "mul") ||
        (sign == '/' && op == "div")) {
      node.attrs.Set(Key::kInplace, true);
    }
  }

  const FxGraph& graph_;
  const std::vector<int>& fx_of_node_;
  Network& net_;
  std::vector<Frame> stack_;
  size_t depth_at_last_ = 0;  // frames of the node before
  absl::flat_hash_map<std::string, int32_t> lines_;
};

}  // namespace

void HoldArguments(Network& network) {
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const Node& node = network.nodes[n];
    for (const TensorId id : node.in) {
      if (id == kNone) continue;
      Tensor& tensor = network.tensors[static_cast<size_t>(id)];
      if (tensor.released_after == kNone || tensor.role != Role::kActivation) continue;
      for (CallId c = node.call; c != kNone; c = network.calls[static_cast<size_t>(c)].parent) {
        const Call& call = network.calls[static_cast<size_t>(c)];
        if (call.begin <= tensor.def) break;
        tensor.released_after = std::max(tensor.released_after, call.end - 1);
      }
    }
  }
}

void ComputeLifetimes(const FxGraph& graph, const std::vector<int>& fx_of_node, Network& network) {
  ComputeLastUses(network);
  HoldArguments(network);
  NameWalk(graph, fx_of_node, network).Run();
}

}  // namespace memcrest
