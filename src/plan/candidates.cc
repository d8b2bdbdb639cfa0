#include "src/plan/candidates.h"

#include <algorithm>

namespace memcrest {
namespace {

struct Range {
  NodeId begin, end;
};

std::vector<Range> CallsOf(const Network& net, ModuleId module) {
  std::vector<Range> ranges;
  for (const Call& c : net.calls) {
    if (c.module == module && c.end > c.begin) ranges.push_back({c.begin, c.end});
  }
  return ranges;
}

// Does the call write into what it was given? Run again, it would find its own result there.
bool WritesItsInput(const Network& net, const Range& r) {
  for (NodeId n = r.begin; n < r.end; ++n) {
    const Node& node = net.nodes[static_cast<size_t>(n)];
    if (!node.attrs.Bool(Key::kInplace) || node.in.empty() || node.in[0] == kNone) continue;
    const Tensor& t = net.tensors[static_cast<size_t>(node.in[0])];
    if (t.role == Role::kActivation && t.def < r.begin) return true;
  }
  return false;
}

int NearestIn(const Network& net, const std::vector<int>& candidate_of, ModuleId module) {
  for (ModuleId m = net.modules[static_cast<size_t>(module)].parent; m != kNone; m = net.modules[static_cast<size_t>(m)].parent) {
    if (candidate_of[static_cast<size_t>(m)] != kNone) return candidate_of[static_cast<size_t>(m)];
  }
  return kNone;
}

// Modules that are called, are not the whole network, and are not their only child under another name.
std::vector<Candidate> CalledModules(const Network& net, std::vector<std::vector<Range>>& ranges) {
  std::vector<Candidate> items;
  std::vector<int> candidate_of(net.modules.size(), kNone);
  const NodeId nodes = static_cast<NodeId>(net.nodes.size());
  for (size_t m = 1; m < net.modules.size(); ++m) {
    const std::vector<Range> calls = CallsOf(net, static_cast<ModuleId>(m));
    if (calls.empty()) continue;
    NodeId covered = 0;
    bool writes = false;
    for (const Range& r : calls) {
      covered += r.end - r.begin;
      writes = writes || WritesItsInput(net, r);
    }
    if (writes || covered < 2 || covered * 10 > nodes * 9) continue;
    const int parent = NearestIn(net, candidate_of, static_cast<ModuleId>(m));
    if (parent != kNone && ranges[static_cast<size_t>(parent)].size() == calls.size() &&
        std::equal(calls.begin(), calls.end(), ranges[static_cast<size_t>(parent)].begin(),
                   [](const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; })) {
      continue;
    }
    candidate_of[m] = static_cast<int>(items.size());
    items.push_back({static_cast<ModuleId>(m), net.modules[m].path, parent, calls[0].begin, 0, {}});
    ranges.push_back(calls);
  }
  return items;
}

// Effects of modules that were checkpointed together, told apart.
class Separation {
 public:
  Separation(size_t nodes, const StepProfile& base, const StepProfile& with) : nodes_(nodes), base_(base), with_(with) {}

  // What all of them dropped up to and including forward node `n`.
  Bytes Dropped(NodeId n) const {
    return n < 0 ? 0 : base_.end[static_cast<size_t>(n)] - with_.end[static_cast<size_t>(n)];
  }

  void Fill(const std::vector<Range>& calls, Candidate& c) const {
    c.change.assign(2 * nodes_ + 1, 0);
    for (const Range& r : calls) {
      const Bytes before = Dropped(r.begin - 1), saved = Dropped(r.end - 1) - before;
      for (size_t n = static_cast<size_t>(r.begin); n < static_cast<size_t>(r.end); ++n) {
        for (const size_t segment : {n, nodes_ + n}) {
          if (base_.peak[segment] == 0 || with_.peak[segment] == 0) continue;
          c.change[segment] += with_.peak[segment] - base_.peak[segment] + before;
        }
        c.cost += with_.recompute_seconds[n];
      }
      for (size_t n = static_cast<size_t>(r.end); n < nodes_; ++n) {
        c.change[n] -= saved;
        c.change[nodes_ + n] -= saved;
      }
    }
  }

 private:
  size_t nodes_;
  const StepProfile &base_, &with_;
};

int Depth(const std::vector<Candidate>& items, int c) {
  int depth = 0;
  for (int p = items[static_cast<size_t>(c)].parent; p != kNone; p = items[static_cast<size_t>(p)].parent) ++depth;
  return depth;
}

// Segments between which no candidate begins or ends are one: the search is as many times faster.
void Compress(CandidateSet& set, const std::vector<std::vector<Range>>& ranges, size_t nodes) {
  std::vector<bool> cut(nodes + 1);
  for (const auto& calls : ranges) {
    for (const Range& r : calls) cut[static_cast<size_t>(r.begin)] = cut[static_cast<size_t>(r.end)] = true;
  }
  std::vector<size_t> group(2 * nodes + 1);
  size_t groups = 0;
  for (size_t i = 0; i < 2 * nodes + 1; ++i) {
    if (i > 0 && (i % nodes == 0 || cut[i % nodes])) ++groups;
    group[i] = groups;
  }
  ++groups;
  const std::vector<Bytes> base = std::move(set.base);
  set.base.assign(groups, 0);
  for (size_t i = 0; i < base.size(); ++i) set.base[group[i]] = std::max(set.base[group[i]], base[i]);
  for (Candidate& c : set.items) {
    std::vector<Bytes> peak(groups);
    for (size_t i = 0; i < base.size(); ++i) {
      if (base[i] > 0) peak[group[i]] = std::max(peak[group[i]], base[i] + c.change[i]);
    }
    for (size_t g = 0; g < groups; ++g) peak[g] -= set.base[g];
    c.change = std::move(peak);
  }
}

}  // namespace

std::vector<bool> RegionsOf(const Network& network, const CandidateSet& set, const std::vector<bool>& chosen) {
  std::vector<bool> module(network.modules.size()), regions(network.calls.size());
  for (size_t i = 0; i < set.items.size(); ++i) {
    if (chosen[i]) module[static_cast<size_t>(set.items[i].module)] = true;
  }
  for (size_t c = 0; c < regions.size(); ++c) {
    regions[c] = network.calls[c].module != kNone && module[static_cast<size_t>(network.calls[c].module)];
  }
  return regions;
}

CandidateSet FindCandidates(const PlanEvaluator& evaluator) {
  const Network& net = evaluator.network();
  const size_t nodes = net.nodes.size();
  CandidateSet set;
  std::vector<std::vector<Range>> ranges;
  set.items = CalledModules(net, ranges);
  const StepProfile base = evaluator.Profile(std::vector<bool>(net.calls.size()));
  set.base = base.peak;
  set.seconds = base.seconds;
  std::vector<int> depth(set.items.size());
  int deepest = -1;
  for (size_t i = 0; i < depth.size(); ++i) deepest = std::max(deepest, depth[i] = Depth(set.items, static_cast<int>(i)));
  for (int level = 0; level <= deepest; ++level) {
    std::vector<bool> chosen(set.items.size());
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = depth[i] == level;
    const StepProfile with = evaluator.Profile(RegionsOf(net, set, chosen));
    const Separation separation(nodes, base, with);
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i]) separation.Fill(ranges[i], set.items[i]);
    }
  }
  Compress(set, ranges, nodes);
  return set;
}

}  // namespace memcrest
