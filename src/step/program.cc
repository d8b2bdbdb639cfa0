#include "src/step/program.h"

#include "src/step/adapt.h"

namespace memcrest {
namespace {

void FillSizes(const BoundShapes& shapes, Program& p) {
  const Network& net = *p.network;
  p.sizes.resize(net.tensors.size());
  p.known.resize(net.tensors.size());
  p.dtypes.resize(net.tensors.size());
  for (size_t i = 0; i < net.tensors.size(); ++i) {
    const Tensor& t = net.tensors[i];
    p.dtypes[i] = t.exported;
    if (t.role == Role::kParam) {
      p.sizes[i] = net.params[static_cast<size_t>(t.param)].dims;
      p.known[i] = true;
    } else if (t.source != kNone && shapes.values[static_cast<size_t>(t.source)].known) {
      const BoundValue& v = shapes.values[static_cast<size_t>(t.source)];
      p.sizes[i] = v.sizes;
      p.known[i] = true;
      if (p.dtypes[i] == DType::kUndefined) p.dtypes[i] = v.dtype;
    } else if (t.role == Role::kConstant) {
      p.sizes[i] = t.dims;
      p.known[i] = true;
    }
  }
}

void FillHints(Program& p) {
  p.hint_begin.push_back(0);
  for (const Node& n : p.network->nodes) {
    for (const TensorId t : n.out) {
      const size_t i = static_cast<size_t>(t);
      p.hints.push_back(t != kNone && p.known[i] ? &p.sizes[i] : nullptr);
    }
    p.hint_begin.push_back(static_cast<int32_t>(p.hints.size()));
  }
}

void FillReleases(Program& p) {
  const Network& net = *p.network;
  p.released_begin.assign(net.nodes.size() + 1, 0);
  const auto node_of = [&](const Tensor& t) {
    return t.role == Role::kParam || t.role == Role::kInput || t.role == Role::kConstant ? kNone : t.released_after;
  };
  for (const Tensor& t : net.tensors) {
    if (const NodeId n = node_of(t); n != kNone) ++p.released_begin[static_cast<size_t>(n) + 1];
  }
  for (size_t i = 1; i < p.released_begin.size(); ++i) p.released_begin[i] += p.released_begin[i - 1];
  p.released.resize(static_cast<size_t>(p.released_begin.back()));
  std::vector<int32_t> next(p.released_begin.begin(), p.released_begin.end() - 1);
  for (size_t i = 0; i < net.tensors.size(); ++i) {
    const NodeId n = node_of(net.tensors[i]);
    if (n != kNone) p.released[static_cast<size_t>(next[static_cast<size_t>(n)]++)] = static_cast<TensorId>(i);
  }
}

}  // namespace

Program MakeProgram(const Network& network, const BoundShapes& shapes, const Job& job, Mode mode) {
  Program p;
  p.network = &network;
  AdaptNodes(network, job, mode == Mode::kEvaluation, p);
  FillSizes(shapes, p);
  FillHints(p);
  FillReleases(p);
  return p;
}

}  // namespace memcrest
