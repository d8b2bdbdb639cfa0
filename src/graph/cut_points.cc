#include "src/graph/cut_points.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <cstddef>

namespace memcrest {
namespace {

// Vertex 0 is where gradients end, 1 the outputs, n + 2 is node n.
using Flow = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using Vertex = boost::graph_traits<Flow>::vertex_descriptor;
constexpr Vertex kStart = 0, kEnd = 1, kFirst = 2;

class Builder {
 public:
  explicit Builder(const Network& net) : net_(net), flow_(net.nodes.size() + kFirst), carries_(net.tensors.size()) {}

  Flow Build() {
    for (size_t n = 0; n < net_.nodes.size(); ++n) Connect(n);
    for (const TensorId id : net_.outputs) {
      if (Carries(id)) boost::add_edge(DefinitionOf(id), kEnd, flow_);
    }
    return std::move(flow_);
  }

 private:
  const Tensor& At(TensorId id) const { return net_.tensors[static_cast<size_t>(id)]; }
  bool Carries(TensorId id) const { return id != kNone && carries_[static_cast<size_t>(id)]; }
  Vertex DefinitionOf(TensorId id) const { return static_cast<Vertex>(At(id).def) + kFirst; }
  bool IsWeight(TensorId id) const {
    return id != kNone && At(id).param != kNone && !net_.params[static_cast<size_t>(At(id).param)].buffer;
  }

  // The first operators that read a parameter, and nothing that a parameter went into, are where gradients end.
  void Connect(size_t n) {
    const Node& node = net_.nodes[n];
    bool reached = false;
    for (const TensorId id : node.in) {
      if (!Carries(id)) continue;
      boost::add_edge(DefinitionOf(id), n + kFirst, flow_);
      reached = true;
    }
    if (!reached && std::any_of(node.in.begin(), node.in.end(), [this](TensorId id) { return IsWeight(id); })) {
      boost::add_edge(kStart, n + kFirst, flow_);
      reached = true;
    }
    if (!reached) return;
    for (const TensorId id : node.out) {
      if (id == kNone) continue;
      carries_[static_cast<size_t>(id)] = At(id).exported == DType::kUndefined || IsFloating(At(id).exported);
    }
  }

  const Network& net_;
  Flow flow_;
  std::vector<bool> carries_;  // by TensorId: a gradient can pass
};

}  // namespace

std::vector<NodeId> CutPoints(const Network& network) {
  const Flow flow = Builder(network).Build();
  std::vector<Vertex> dominator(boost::num_vertices(flow), boost::graph_traits<Flow>::null_vertex());
  boost::lengauer_tarjan_dominator_tree(
      flow, kStart, boost::make_iterator_property_map(dominator.begin(), boost::get(boost::vertex_index, flow)));
  std::vector<NodeId> cuts;
  for (Vertex v = dominator[kEnd]; v != boost::graph_traits<Flow>::null_vertex() && v != kStart; v = dominator[v]) {
    cuts.push_back(static_cast<NodeId>(v - kFirst));
  }
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace memcrest
