#include "src/lift/dropouts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/graph/insert.h"
#include "src/job/pattern.h"

namespace memcrest {
namespace {

using Where = DropoutSite::Where;

class Restorer {
 public:
  explicit Restorer(Network& network) : net_(network) {}

  void Add(CallId c, Where where, double p) {
    if (where == Where::kAttention) return Attend(c, p);
    const Call& call = net_.calls[static_cast<size_t>(c)];
    if (call.parent == kNone || call.begin == call.end) return;
    const TensorId x = where == Where::kAfter ? ResultOf(call) : ArgumentOf(call);
    if (x == kNone || std::find(net_.outputs.begin(), net_.outputs.end(), x) != net_.outputs.end()) return;
    Insert(x, where == Where::kAfter ? call.end : call.begin, call.parent, p);
  }

  bool HasAttention(CallId c) const {
    const Call& call = net_.calls[static_cast<size_t>(c)];
    for (NodeId n = call.begin; n < call.end; ++n) {
      if (IsAttentionOf(n, c)) return true;
    }
    return false;
  }

  int Finish() {
    InsertNodes(net_, std::move(insertions_));
    return added_;
  }

 private:
  Node& At(NodeId n) { return net_.nodes[static_cast<size_t>(n)]; }
  bool IsAttentionOf(NodeId n, CallId c) const {
    const Node& node = net_.nodes[static_cast<size_t>(n)];
    return node.call == c && absl::string_view(node.op->name) == "scaled_dot_product_attention";
  }

  // The kernel's own dropout, or, in attention written out, one on the softmax.
  void Attend(CallId c, double p) {
    const Call call = net_.calls[static_cast<size_t>(c)];
    const bool kernel = HasAttention(c);
    for (NodeId n = call.begin; n < call.end; ++n) {
      if (kernel && IsAttentionOf(n, c)) {
        At(n).attrs.Set(Key::kP, p);
        ++added_;
      } else if (!kernel && At(n).call == c && absl::string_view(At(n).op->name) == "softmax") {
        Insert(At(n).out[0], n + 1, c, p);
      }
    }
  }

  // What is made inside the call and read after it.
  TensorId ResultOf(const Call& call) {
    for (NodeId n = call.end; n-- > call.begin;) {
      for (const TensorId id : At(n).out) {
        if (id != kNone && net_.tensors[static_cast<size_t>(id)].last_use >= call.end) return id;
      }
    }
    return kNone;
  }

  // What the call reads first of what was made before it.
  TensorId ArgumentOf(const Call& call) {
    for (NodeId n = call.begin; n < call.end; ++n) {
      for (const TensorId id : At(n).in) {
        if (id == kNone) continue;
        const Tensor& tensor = net_.tensors[static_cast<size_t>(id)];
        if (tensor.role == Role::kActivation && tensor.def < call.begin) return id;
      }
    }
    return kNone;
  }

  // Everything from node `before` on reads the dropped-out tensor in place of `x`.
  void Insert(TensorId x, NodeId before, CallId in, double p) {
    const TensorId id = static_cast<TensorId>(net_.tensors.size());
    Tensor result = net_.tensors[static_cast<size_t>(x)];
    result.name = absl::StrCat(result.name, ".dropout");
    result.def = kNone;
    net_.tensors.push_back(std::move(result));
    for (NodeId n = before; n < static_cast<NodeId>(net_.nodes.size()); ++n) {
      std::replace(At(n).in.begin(), At(n).in.end(), x, id);
    }
    for (Insertion& other : insertions_) {
      if (other.before >= before) std::replace(other.node.in.begin(), other.node.in.end(), x, id);
    }
    net_.tensors[static_cast<size_t>(x)].released_after = std::max(before - 1, 0);
    Insertion insertion;
    insertion.before = before;
    insertion.node.op = &Op("dropout");
    insertion.node.attrs = {{Key::kP, p}, {Key::kTraining, true}};
    insertion.node.in = {x};
    insertion.node.out = {id};
    insertion.node.call = in;
    insertion.node.origin.evidence = Evidence::kPattern;
    insertions_.push_back(std::move(insertion));
    ++added_;
  }

  Network& net_;
  std::vector<Insertion> insertions_;
  int added_ = 0;
};

bool HasDropout(const Network& net) {
  return std::any_of(net.nodes.begin(), net.nodes.end(), [](const Node& node) {
    const absl::string_view op = node.op->name;
    if (op == "scaled_dot_product_attention") return node.attrs.Float(Key::kP) > 0;
    return op == "dropout" || op == "feature_dropout" || op == "alpha_dropout" || op == "bernoulli";
  });
}

bool Fits(const Network& net, const DropoutFamily& family) {
  return std::all_of(family.needs.begin(), family.needs.end(), [&](const char* needed) {
    return std::any_of(net.modules.begin(), net.modules.end(),
                       [&](const Module& m) { return PathEndsWith(m.path, needed); });
  });
}

// A network of one's own may use the same names; where classes are told, they must be the library's.
bool FromLibrary(const Network& net) {
  bool told = false;
  for (const Module& module : net.modules) {
    if (absl::StartsWith(module.cls, "transformers.")) return true;
    told = told || !module.cls.empty();
  }
  return !told;
}

int AddFamily(const Network& net, const DropoutFamily& family, Restorer& restorer) {
  // By place in the execution, so that insertions of one place keep the order of the table.
  for (const DropoutSite& site : family.sites) {
    for (size_t c = 0; c < net.calls.size(); ++c) {
      if (PathEndsWith(net.modules[static_cast<size_t>(net.calls[c].module)].path, site.module)) {
        restorer.Add(static_cast<CallId>(c), site.where, site.p);
      }
    }
  }
  return restorer.Finish();
}

int AddNamed(const Network& net, const LiftOptions& options, Restorer& restorer) {
  for (const auto& [pattern, p] : options.dropout) {
    for (size_t c = 0; c < net.calls.size(); ++c) {
      if (!MatchesPattern(net.modules[static_cast<size_t>(net.calls[c].module)].path, pattern)) continue;
      const CallId id = static_cast<CallId>(c);
      restorer.Add(id, restorer.HasAttention(id) ? Where::kAttention : Where::kAfter, p);
    }
  }
  return restorer.Finish();
}

}  // namespace

bool PathEndsWith(absl::string_view path, absl::string_view suffix) {
  while (true) {
    const size_t a = path.rfind('.'), b = suffix.rfind('.');
    const absl::string_view segment = a == absl::string_view::npos ? path : path.substr(a + 1);
    const absl::string_view wanted = b == absl::string_view::npos ? suffix : suffix.substr(b + 1);
    if (!MatchesSegment(segment, wanted)) return false;
    if (b == absl::string_view::npos) return true;
    if (a == absl::string_view::npos) return false;
    path = path.substr(0, a);
    suffix = suffix.substr(0, b);
  }
}

void RestoreDropouts(const LiftOptions& options, Network& network) {
  Restorer restorer(network);
  if (!options.dropout.empty()) {
    AddNamed(network, options, restorer);
    return;
  }
  if (!options.restore_dropout || HasDropout(network) || !FromLibrary(network)) return;
  for (const DropoutFamily& family : DropoutFamilies()) {
    if (!Fits(network, family)) continue;
    const int added = AddFamily(network, family, restorer);
    network.assumptions.push_back(
        {"A0307",
         absl::StrCat("the export was made in evaluation mode: ", added, " dropouts (p = 0.1) are restored where ",
                      family.name, " has them; --restore none leaves them out, --dropout PATTERN=P sets others"),
         0});
    return;
  }
}

}  // namespace memcrest
