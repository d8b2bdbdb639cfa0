#include "src/lift/onnx_lift.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/lift/call_merge.h"
#include "src/lift/lifetimes.h"
#include "src/lift/pattern.h"
#include "src/lift/plain_ops.h"
#include "src/lift/plain_recurrent.h"
#include "src/lift/plain_state.h"
#include "src/lift/position_tables.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

class PlainLift {
 public:
  PlainLift(const onnx::Model& model, const LiftOptions& options, Network& network)
      : state_(model, options, network), covered_(RecurrentWeightNodes(state_.view)), match_at_(model.graph.nodes.size(), -1) {}

  void Run() {
    FindMatches();
    Network& net = state_.net;
    for (const ValueId v : state_.view.graph().inputs) net.inputs.push_back(state_.Operand(v));
    const int nodes = static_cast<int>(state_.view.graph().nodes.size());
    for (int n = 0; n < nodes; ++n) {
      state_.current = n;
      if (match_at_[static_cast<size_t>(n)] >= 0) {
        EmitMatch(matches_[static_cast<size_t>(match_at_[static_cast<size_t>(n)])]);
      } else if (!covered_[static_cast<size_t>(n)] && !state_.host.NodeIsHost(n)) {
        state_.evidence = Evidence::kMapping;
        LiftOne(state_);
      }
    }
    state_.calls.Finish();
    MergeSplitCalls(net);
    for (const ValueId v : state_.view.graph().outputs) {
      const TensorId t = state_.Operand(v);
      if (t != kNone) net.outputs.push_back(t);
    }
    NameFolded();
    ComputeLastUses(net);
    HoldArguments(net);
    state_.calls.OwnParams();
    TellAssumptions();
  }

 private:
  // Larger patterns first; a node belongs to one match.
  void FindMatches() {
    std::vector<bool> taken = covered_;
    const int nodes = static_cast<int>(state_.view.graph().nodes.size());
    for (const Pattern& p : Patterns().All()) {
      for (int n = 0; n < nodes; ++n) {
        if (state_.view.node(n).op_type != p.anchor || taken[static_cast<size_t>(n)] || state_.host.NodeIsHost(n)) continue;
        std::optional<Match> m = p.match(state_.view, n);
        if (!m.has_value() || !Fits(*m, n, taken)) continue;
        for (const int k : m->nodes) taken[static_cast<size_t>(k)] = covered_[static_cast<size_t>(k)] = true;
        match_at_[static_cast<size_t>(n)] = static_cast<int>(matches_.size());
        matches_.push_back(std::move(*m));
      }
    }
    CoverAbsorbed();
  }

  // What several matches share and none of them takes (the mask of all layers as numbers) was no operator either, if
  // nothing else reads it.
  void CoverAbsorbed() {
    std::vector<bool> read(state_.view.graph().values.size());
    for (const Match& m : matches_) {
      for (const ValueId v : m.in) {
        if (v != kNoValue) read[static_cast<size_t>(state_.view.Through(v))] = true;
      }
    }
    const auto absorbed = [&](ValueId v) {
      if (v == kNoValue) return true;
      const absl::Span<const int> users = state_.view.Users(v);
      return !read[static_cast<size_t>(v)] && !state_.view.IsOutput(v) && !users.empty() &&
             std::all_of(users.begin(), users.end(), [&](int user) { return covered_[static_cast<size_t>(user)]; });
    };
    for (size_t n = covered_.size(); n-- > 0;) {
      const std::vector<ValueId>& outputs = state_.view.node(static_cast<int>(n)).outputs;
      covered_[n] = covered_[n] || std::all_of(outputs.begin(), outputs.end(), absorbed);
    }
  }

  // No inner result is read from outside (a shared transpose stays where it is), no node is taken twice.
  bool Fits(Match& m, int anchor, const std::vector<bool>& taken) const {
    const auto inside = [&](int user) { return std::find(m.nodes.begin(), m.nodes.end(), user) != m.nodes.end(); };
    for (const int k : m.nodes) {
      if (taken[static_cast<size_t>(k)]) return false;
      if (k == anchor) continue;
      for (const ValueId v : state_.view.node(k).outputs) {
        if (v == kNoValue) continue;
        if (state_.view.IsOutput(v)) return false;
        for (const int user : state_.view.Users(v)) {
          if (!inside(user) && !state_.host.NodeIsHost(user)) return false;
        }
      }
    }
    return true;
  }

  void EmitMatch(const Match& m) {
    state_.evidence = Evidence::kPattern;
    std::vector<TensorId> in;
    for (size_t i = 0; i < m.in.size(); ++i) {
      if (const FoldedView* const view = FoldedAt(m, i)) {
        in.push_back(EmitFolded(*view, m.in[i]));
        continue;
      }
      const bool flipped = std::find(m.transposed_weights.begin(), m.transposed_weights.end(), i) != m.transposed_weights.end();
      const TensorId bias = RestorePositionTable(state_, m.in[i]);
      in.push_back(bias != kNone ? bias : flipped ? state_.TransposedWeight(m.in[i]) : state_.Operand(m.in[i]));
    }
    for (const auto& [operand, perm] : m.permuted) in[operand] = state_.EmitInner("permute", {in[operand]}, {{Key::kPerm, perm}});
    state_.Emit(m.op, std::move(in), m.attrs, {m.out});
  }

  static const FoldedView* FoldedAt(const Match& m, size_t operand) {
    for (const FoldedView& view : m.folded) {
      if (view.operand == operand) return &view;
    }
    return nullptr;
  }

  TensorId EmitFolded(const FoldedView& view, ValueId stored) {
    const onnx::Literal& literal = *state_.view.LiteralOf(stored);
    TensorId t = state_.NewParam(view.leaf, view.own, literal.dtype);
    // Any number other than 1: only that a product is made counts.
    if (view.scaled) t = state_.EmitInner("mul", {t}, {{Key::kScalar, 1.5}});
    return state_.EmitInner("view", {t}, {{Key::kSizes, literal.dims}});
  }

  // A weight that the exporter folded lost its name; it belongs to the module that reads it first, where patterns for
  // freezing look for it.
  void NameFolded() {
    Network& net = state_.net;
    for (const Node& node : net.nodes) {
      for (size_t i = 0; i < node.in.size(); ++i) {
        const TensorId t = node.in[i];
        if (t == kNone || net.tensors[static_cast<size_t>(t)].role != Role::kParam) continue;
        Param& p = net.params[static_cast<size_t>(net.tensors[static_cast<size_t>(t)].param)];
        if (!absl::StrContains(p.fqn, "::")) continue;
        const std::string& path = ModulePath(net, node.call);
        const bool bias = absl::string_view(node.op->name) == "add" || i == 2;
        if (!path.empty()) p.fqn = state_.FreeName(absl::StrCat(path, bias ? ".bias" : ".weight"));
      }
    }
  }

  void TellAssumptions() {
    Network& net = state_.net;
    int64_t folded = 0;
    for (const Param& p : net.params) folded += absl::string_view(p.fqn).find("batch_norm.weight") != absl::string_view::npos ? 1 : 0;
    if (state_.tied_bytes > 0) {
      net.assumptions.push_back({"A0304", "a head of the token table's sizes is taken to be the table itself (tied weights): the file holds a "
                                          "folded copy; --untie NAME counts it as a parameter of its own", state_.tied_bytes});
    }
    if (folded > 0) {
      net.assumptions.push_back({"A0303", absl::StrCat(folded, " batch norms that the export folded into convolutions are restored "
                                                       "(nameless convolution weights); --restore none leaves them out"), 0});
    }
  }

  PlainState state_;
  std::vector<bool> covered_;
  std::vector<int> match_at_;
  std::vector<Match> matches_;
};

}  // namespace

absl::StatusOr<Network> LiftPlain(const onnx::Model& model, const LiftOptions& options) {
  Network network;
  PlainLift(model, options, network).Run();
  return network;
}

}  // namespace memcrest
