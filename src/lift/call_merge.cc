#include "src/lift/call_merge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace memcrest {
namespace {

using Reads = std::vector<std::pair<const OpEntry*, ParamId>>;

class Merger {
 public:
  explicit Merger(Network& network) : net_(network), children_(network.calls.size()), target_(network.calls.size()) {
    for (size_t c = 0; c < net_.calls.size(); ++c) {
      target_[c] = static_cast<CallId>(c);
      if (net_.calls[c].parent != kNone)
        children_[static_cast<size_t>(net_.calls[c].parent)].push_back(static_cast<CallId>(c));
    }
  }

  void Run() {
    std::vector<CallId> queue = {0};
    for (size_t i = 0; i < queue.size(); ++i) {
      MergeChildren(queue[i]);
      const std::vector<CallId>& kept = children_[static_cast<size_t>(queue[i])];
      queue.insert(queue.end(), kept.begin(), kept.end());
    }
    if (merged_) Renumber(queue);
  }

 private:
  void MergeChildren(CallId parent) {
    std::vector<CallId>& all = children_[static_cast<size_t>(parent)];
    std::stable_sort(all.begin(), all.end(), [&](CallId a, CallId b) { return At(a).begin < At(b).begin; });
    std::vector<CallId> kept;
    for (size_t i = 0; i < all.size();) {
      size_t end = i + 1;
      while (end < all.size() && At(all[end]).module == At(all[i]).module && At(all[end - 1]).end == At(all[end]).begin)
        ++end;
      const bool inside = LoopsInside(absl::MakeConstSpan(all).subspan(i, end - i));
      const size_t first = kept.size();
      for (; i < end; ++i) {
        if (kept.size() > first && (inside || !Same(kept.back(), all[i]))) Absorb(kept.back(), all[i]);
        else kept.push_back(all[i]);
      }
    }
    all = std::move(kept);
  }

  // Executions that each call one module and differ in what they do around it: the loop runs inside of one execution.
  // The last one may go on after the loop.
  bool LoopsInside(absl::Span<const CallId> run) const {
    const auto one_child = [&](CallId c) { return children_[static_cast<size_t>(c)].size() == 1; };
    if (run.size() < 2 || !std::all_of(run.begin(), run.end() - 1, one_child)) return false;
    return std::any_of(run.begin() + 1, run.end(), [&](CallId c) { return OpsOf(c) != OpsOf(run[0]); });
  }

  std::vector<const OpEntry*> OpsOf(CallId c) const {
    std::vector<const OpEntry*> ops;
    const Call& call = net_.calls[static_cast<size_t>(c)];
    for (NodeId n = call.begin; n < call.end; ++n) ops.push_back(net_.nodes[static_cast<size_t>(n)].op);
    return ops;
  }

  bool Same(CallId a, CallId b) const { return ReadsOf(a) == ReadsOf(b); }

  Reads ReadsOf(CallId c) const {
    Reads reads;
    for (NodeId n = net_.calls[static_cast<size_t>(c)].begin; n < net_.calls[static_cast<size_t>(c)].end; ++n) {
      const Node& node = net_.nodes[static_cast<size_t>(n)];
      for (const TensorId t : node.in) {
        if (t == kNone || net_.tensors[static_cast<size_t>(t)].role != Role::kParam) continue;
        reads.emplace_back(node.op, net_.tensors[static_cast<size_t>(t)].param);
        break;
      }
    }
    return reads;
  }

  void Absorb(CallId into, CallId c) {
    merged_ = true;
    target_[static_cast<size_t>(c)] = into;
    At(into).end = At(c).end;
    std::vector<CallId>& mine = children_[static_cast<size_t>(into)];
    for (const CallId child : children_[static_cast<size_t>(c)]) {
      At(child).parent = into;
      mine.push_back(child);
    }
    children_[static_cast<size_t>(c)].clear();
  }

  // `order`: the calls that are left, parents before children.
  void Renumber(const std::vector<CallId>& order) {
    std::vector<CallId> left = order;
    std::sort(left.begin(), left.end());
    std::vector<CallId> id(net_.calls.size(), kNone);
    for (size_t i = 0; i < left.size(); ++i) id[static_cast<size_t>(left[i])] = static_cast<CallId>(i);
    std::vector<Call> calls;
    std::vector<int> executions(net_.modules.size());
    for (const CallId c : left) {
      Call call = At(c);
      if (call.parent != kNone) call.parent = id[static_cast<size_t>(call.parent)];
      call.nth = executions[static_cast<size_t>(call.module)]++;
      calls.push_back(call);
    }
    for (Node& node : net_.nodes) node.call = id[static_cast<size_t>(target_[static_cast<size_t>(node.call)])];
    net_.calls = std::move(calls);
  }

  Call& At(CallId c) { return net_.calls[static_cast<size_t>(c)]; }

  Network& net_;
  std::vector<std::vector<CallId>> children_;
  std::vector<CallId> target_;
  bool merged_ = false;
};

}  // namespace

void MergeSplitCalls(Network& network) { Merger(network).Run(); }

}  // namespace memcrest
