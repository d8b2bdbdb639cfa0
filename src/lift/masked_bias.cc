#include "src/lift/masked_bias.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "src/eager/op.h"
#include "src/graph/insert.h"

namespace memcrest {
namespace {

constexpr size_t kMaskOperand = 3;
constexpr double kLowestHalf = -65504;  // finfo(float16).min, the largest of the three types' lowest numbers

class Restorer {
 public:
  explicit Restorer(Network& network) : net_(network) {}

  void Run() {
    for (NodeId n = 0; n < static_cast<NodeId>(net_.nodes.size()); ++n) {
      if (Is(n, "scaled_dot_product_attention") && At(n).in.size() > kMaskOperand) Restore(n);
    }
    if (!insertions_.empty()) InsertNodes(net_, std::move(insertions_));
  }

 private:
  Node& At(NodeId n) { return net_.nodes[static_cast<size_t>(n)]; }
  NodeId Definition(TensorId id) const { return id == kNone ? kNone : net_.tensors[static_cast<size_t>(id)].def; }
  bool Is(NodeId n, absl::string_view op) { return n != kNone && op == At(n).op->name; }

  bool MasksABias(NodeId n) {
    if (!Is(n, "where") || At(n).in.size() < 2 || Definition(At(n).in[1]) == kNone) return false;
    const double fill = At(n).attrs.Float(Key::kScalar);
    return std::isfinite(fill) && fill <= kLowestHalf;
  }

  void Restore(NodeId attention) {
    TensorId mask = At(attention).in[kMaskOperand];
    NodeId reader = attention;
    if (const NodeId copy = Definition(mask); Is(copy, "contiguous") || Is(copy, "clone")) {
      reader = copy;
      mask = At(copy).in[0];
    }
    const NodeId where = Definition(mask);
    if (!MasksABias(where)) return;
    const bool first = masked_.insert(where).second;
    if (!first) mask = Add(At(where), mask, reader);
    if (reader == attention) {
      Node copy;
      copy.op = &Op("contiguous");
      copy.in = {mask};
      mask = Add(copy, mask, attention);
    }
    std::vector<TensorId>& in = At(reader).in;
    (reader == attention ? in[kMaskOperand] : in[0]) = mask;
  }

  // `like` once more just before `reader`; gives its result, a tensor like `result`.
  TensorId Add(const Node& like, TensorId result, NodeId reader) {
    Tensor tensor = net_.tensors[static_cast<size_t>(result)];
    tensor.def = tensor.last_use = kNone;
    tensor.released_after = reader;
    const TensorId id = static_cast<TensorId>(net_.tensors.size());
    net_.tensors.push_back(std::move(tensor));
    Insertion insertion;
    insertion.before = reader;
    insertion.node = like;
    insertion.node.out = {id};
    insertion.node.call = At(reader).call;
    insertion.node.origin = At(reader).origin;
    insertion.node.origin.evidence = Evidence::kPattern;
    insertions_.push_back(std::move(insertion));
    return id;
  }

  Network& net_;
  absl::flat_hash_set<NodeId> masked_;  // `where` nodes that a call has already taken for its own
  std::vector<Insertion> insertions_;
};

}  // namespace

void RestoreMaskedBiases(Network& network) { Restorer(network).Run(); }

}  // namespace memcrest
