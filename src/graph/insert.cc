#include "src/graph/insert.h"

#include <algorithm>
#include <utility>

namespace memcrest {
namespace {

bool Inside(const Network& net, CallId inner, CallId outer) {
  while (inner != kNone && inner != outer) inner = net.calls[static_cast<size_t>(inner)].parent;
  return inner == outer;
}

class Inserter {
 public:
  Inserter(Network& network, std::vector<Insertion> insertions) : net_(network), insertions_(std::move(insertions)) {
    const auto earlier = [](const Insertion& a, const Insertion& b) { return a.before < b.before; };
    std::stable_sort(insertions_.begin(), insertions_.end(), earlier);
    shift_.assign(net_.nodes.size() + 1, 0);
    for (const Insertion& insertion : insertions_) ++shift_[static_cast<size_t>(insertion.before)];
    for (size_t i = 1; i < shift_.size(); ++i) shift_[i] += shift_[i - 1];
  }

  void Run() {
    MoveCalls();
    for (Tensor& tensor : net_.tensors) {
      if (tensor.def != kNone) tensor.def = Moved(tensor.def);
      if (tensor.released_after != kNone) tensor.released_after = Moved(tensor.released_after);
    }
    Merge();
    Relink();
  }

 private:
  NodeId Moved(NodeId old) const { return old + shift_[static_cast<size_t>(old)]; }

  // An end of a range lies before or behind the nodes inserted there: inside if they run inside the call.
  void MoveCalls() {
    for (size_t i = 0; i < net_.calls.size(); ++i) {
      Call& call = net_.calls[i];
      const NodeId begin = call.begin, end = call.end;
      call.begin = begin > 0 ? begin + shift_[static_cast<size_t>(begin) - 1] : 0;
      call.end = end > 0 ? end + shift_[static_cast<size_t>(end) - 1] : 0;
      for (const Insertion& insertion : At(begin))
        call.begin += Inside(net_, insertion.node.call, static_cast<CallId>(i)) ? 0 : 1;
      for (const Insertion& insertion : At(end))
        call.end += Inside(net_, insertion.node.call, static_cast<CallId>(i)) ? 1 : 0;
    }
  }

  absl::Span<const Insertion> At(NodeId place) const {
    const size_t first = place > 0 ? static_cast<size_t>(shift_[static_cast<size_t>(place) - 1]) : 0;
    return absl::MakeConstSpan(insertions_)
        .subspan(first, static_cast<size_t>(shift_[static_cast<size_t>(place)]) - first);
  }

  void Merge() {
    std::vector<Node> nodes;
    nodes.reserve(net_.nodes.size() + insertions_.size());
    size_t next = 0;
    for (size_t n = 0; n <= net_.nodes.size(); ++n) {
      for (; next < insertions_.size() && insertions_[next].before == static_cast<NodeId>(n); ++next) {
        nodes.push_back(std::move(insertions_[next].node));
      }
      if (n < net_.nodes.size()) nodes.push_back(std::move(net_.nodes[n]));
    }
    net_.nodes = std::move(nodes);
  }

  void Relink() {
    for (Tensor& tensor : net_.tensors) tensor.last_use = kNone;
    for (size_t n = 0; n < net_.nodes.size(); ++n) {
      const NodeId here = static_cast<NodeId>(n);
      for (const TensorId id : net_.nodes[n].in) {
        if (id == kNone) continue;
        Tensor& tensor = net_.tensors[static_cast<size_t>(id)];
        tensor.last_use = here;
        if (tensor.released_after != kNone) tensor.released_after = std::max(tensor.released_after, here);
      }
      for (const TensorId id : net_.nodes[n].out) {
        if (id == kNone) continue;
        Tensor& tensor = net_.tensors[static_cast<size_t>(id)];
        tensor.def = here;
        if (tensor.released_after != kNone) tensor.released_after = std::max(tensor.released_after, here);
      }
    }
  }

  Network& net_;
  std::vector<Insertion> insertions_;
  std::vector<int32_t> shift_;  // by old node id: nodes inserted at or before it
};

}  // namespace

void InsertNodes(Network& network, std::vector<Insertion> insertions) {
  if (!insertions.empty()) Inserter(network, std::move(insertions)).Run();
}

}  // namespace memcrest
