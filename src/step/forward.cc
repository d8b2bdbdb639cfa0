#include "src/step/forward.h"

#include <algorithm>
#include <utility>

#include "src/step/save_policy.h"

namespace memcrest {
namespace {

// What a region keeps: the tensors that entered it, as the checkpoint's saved arguments do. They are saved the way anything is
// saved outside of the region: in an outer region's recomputation, or on the host.
struct RegionState {
  RegionState(Eager& runtime, const SavePolicy& policy) : rt(runtime), rule(policy) {}
  ~RegionState() {
    for (Input& input : inputs) rt.Release(input.packed);
  }
  RegionState(const RegionState&) = delete;
  RegionState& operator=(const RegionState&) = delete;

  Eager& rt;
  PolicyRule rule;
  struct Input {
    TensorId tensor;
    Saved packed;
    bool requires_grad;
  };
  std::vector<Input> inputs;
};

void ReleaseState(void* state) { delete static_cast<RegionState*>(state); }

// torch.utils.checkpoint.CheckpointFunction: forward without history; backward runs the region again, with history, and then a
// backward of its own (Forward::Replay).
const OpEntry& CheckpointFunction() {
  static const OpEntry entry = {
      .name = "CheckpointFunction",
      .backward = [](Eager& rt, GradCall& grad) { rt.replay(rt.hook_owner, grad); },
  };
  return entry;
}

bool Resident(const Tensor& t) { return t.role != Role::kActivation; }

}  // namespace

Forward::Forward(Eager& rt, const Program& program, const Job& job, std::vector<bool> region_calls, std::vector<Value>& resident,
                 ParallelEngine* engine)
    : rt_(rt), program_(program), job_(job), resident_(resident), engine_(engine), region_at_(program.network->nodes.size() + 1, kNone),
      next_inside_(region_calls.size(), kNone) {
  for (size_t c = region_calls.size(); c-- > 0;) {  // parents come first: an outer region wins at the same node
    const Call& call = program.network->calls[c];
    if (!region_calls[c] || call.end <= call.begin) continue;
    next_inside_[c] = std::exchange(region_at_[static_cast<size_t>(call.begin)], static_cast<CallId>(c));
  }
}

void Forward::Watch(const std::vector<bool>& calls) {
  const Network& net = *program_.network;
  for (size_t c = 0; c < calls.size(); ++c) {
    if (calls[c] && net.calls[c].end > net.calls[c].begin) watched_.push_back(static_cast<CallId>(c));
  }
  std::stable_sort(watched_.begin(), watched_.end(), [&](CallId a, CallId b) {  // parents have lower ids
    return net.calls[static_cast<size_t>(a)].begin < net.calls[static_cast<size_t>(b)].begin;
  });
}

void Forward::TellEntered(NodeId n, std::vector<Value>& table) {
  while (next_watched_ < watched_.size() && program_.network->calls[static_cast<size_t>(watched_[next_watched_])].begin == n) {
    entered_.push_back(watched_[next_watched_++]);
    engine_->Enter(entered_.back(), table);
  }
}

// Where the next watched call begins, or the innermost that runs ends.
NodeId Forward::NextEdge(NodeId end) const {
  const std::vector<Call>& calls = program_.network->calls;
  if (next_watched_ < watched_.size()) end = std::min(end, calls[static_cast<size_t>(watched_[next_watched_])].begin);
  return entered_.empty() ? end : std::min(end, calls[static_cast<size_t>(entered_.back())].end);
}

void Forward::TellLeft(NodeId n, std::vector<Value>& table) {
  while (!entered_.empty() && program_.network->calls[static_cast<size_t>(entered_.back())].end == n) {
    const CallId call = entered_.back();
    entered_.pop_back();
    engine_->Leave(call, table);
  }
}

Value Forward::Lookup(const std::vector<Value>& table, TensorId t) const {
  if (t == kNone) return Value();
  const size_t i = static_cast<size_t>(t);
  return Resident(program_.network->tensors[i]) ? resident_[i] : table[i];
}

Value Forward::Run(const Options& options) {
  std::vector<Value> table(program_.network->tensors.size());
  const NodeId nodes = static_cast<NodeId>(program_.network->nodes.size());
  const NodeId end = options.end == kNone ? nodes : options.end;
  next_watched_ = 0;
  for (NodeId n = 0; n < end;) {
    TellEntered(n, table);
    const NodeId stop = NextEdge(end);
    RunRange(n, stop, table, !options.evaluation);
    TellLeft(stop, table);
    n = stop;
  }
  if (options.output != kNone) return Lookup(table, options.output);
  if (program_.network->outputs.empty()) return Value();
  return Lookup(table, program_.network->outputs[0]);
}

void Forward::RunRange(NodeId begin, NodeId end, std::vector<Value>& table, bool regions) {
  if (regions) return RunRegions(begin, end, table, region_at_[static_cast<size_t>(begin)]);
  for (NodeId n = begin; n < end && !rt_.stopped(); ++n) RunNode(n, table);
}

// `region`: the outermost one that begins at `begin`.
void Forward::RunRegions(NodeId begin, NodeId end, std::vector<Value>& table, CallId region) {
  for (NodeId n = begin; n < end && !rt_.stopped(); region = region_at_[static_cast<size_t>(n)]) {
    if (Begins(region) && job_.checkpoint.reentrant) {
      n = RunReentrant(region, table);
      continue;
    }
    for (; Begins(region); region = next_inside_[static_cast<size_t>(region)]) EnterRegion(region, table);
    RunNode(n++, table);
    LeaveRegions(n);
  }
}

// Is it a region here? Not without gradients, and inside another one only if the job nests them.
bool Forward::Begins(CallId region) const {
  return region != kNone && rt_.grad_enabled() && (open_.empty() || job_.checkpoint.nested);
}

const std::vector<TensorId>& Forward::RegionInputs(CallId c) {
  const auto [known, fresh] = region_inputs_.try_emplace(c);
  if (!fresh) return known->second;
  const Network& net = *program_.network;
  const Call& call = net.calls[static_cast<size_t>(c)];
  std::vector<bool> seen(net.tensors.size());
  for (NodeId k = call.begin; k < call.end; ++k) {
    if (program_.nodes[static_cast<size_t>(k)] == nullptr) continue;
    for (const TensorId t : program_.nodes[static_cast<size_t>(k)]->in) {
      if (t == kNone) continue;
      const size_t i = static_cast<size_t>(t);
      if (Resident(net.tensors[i]) || net.tensors[i].def >= call.begin || seen[i]) continue;
      seen[i] = true;
      known->second.push_back(t);
    }
  }
  return known->second;
}

void Forward::EnterRegion(CallId c, std::vector<Value>& table) {
  auto* state = new RegionState(rt_, job_.checkpoint.policy);
  for (const TensorId t : RegionInputs(c)) {
    if (const Value& v = table[static_cast<size_t>(t)]; v) state->inputs.push_back({t, rt_.Pack(v), v.requires_grad()});
  }
  Region* region = new Region;
  open_.emplace_back(region);
  region->call = c;
  region->state = state;
  region->release = ReleaseState;
  region->discard = rt_.region() != nullptr && (rt_.region()->recomputing || rt_.region()->discard);
  if (!job_.checkpoint.policy.empty() && !region->discard) region->keep = &state->rule;
  rt_.set_region(region);
}

void Forward::LeaveRegions(NodeId n) {
  while (open_.size() > recomputing_depth_ && program_.network->calls[static_cast<size_t>(open_.back()->call)].end == n) {
    open_.pop_back();
    rt_.set_region(open_.empty() ? nullptr : open_.back().get());
  }
}

NodeId Forward::RunReentrant(CallId c, std::vector<Value>& table) {
  const Network& net = *program_.network;
  const Call& call = net.calls[static_cast<size_t>(c)];
  std::vector<Value> inputs;
  for (const TensorId t : RegionInputs(c)) inputs.push_back(table[static_cast<size_t>(t)]);
  rt_.set_grad_enabled(false);
  RunRange(call.begin, call.end, table, true);
  rt_.set_grad_enabled(true);
  std::vector<Value> results;
  for (const TensorId t : RegionResults(c)) {
    Value& v = table[static_cast<size_t>(t)];
    if (v) v = rt_.Alias(v);  // autograd.Function gives its results a history of their own
    if (v) results.push_back(v);
  }
  rt_.recorder().call = c;
  rt_.RecordFunction(CheckpointFunction(), inputs, absl::MakeSpan(results));
  return call.end;
}

std::vector<TensorId> Forward::RegionResults(CallId c) const {
  const Network& net = *program_.network;
  const Call& call = net.calls[static_cast<size_t>(c)];
  std::vector<TensorId> results;
  for (NodeId k = call.begin; k < call.end; ++k) {
    for (const TensorId t : net.nodes[static_cast<size_t>(k)].out) {
      if (t == kNone) continue;
      const bool leaves = net.tensors[static_cast<size_t>(t)].last_use >= call.end ||
                          std::find(net.outputs.begin(), net.outputs.end(), t) != net.outputs.end();
      if (leaves) results.push_back(t);
    }
  }
  return results;
}

void Forward::RunNode(NodeId n, std::vector<Value>& table) {
  const Node* const adapted = program_.nodes[static_cast<size_t>(n)];
  if (adapted == nullptr) return;
  const Node& node = *adapted;
  rt_.recorder().node = n;
  rt_.recorder().call = node.call;
  absl::InlinedVector<Value, 4> in;
  in.reserve(node.in.size());
  for (const TensorId t : node.in) in.push_back(Lookup(table, t));
  Values out = rt_.Run(*node.op, in, node.attrs, program_.Hints(n));
  for (size_t i = 0; i < node.out.size() && i < out.size(); ++i) {
    if (node.out[i] != kNone) table[static_cast<size_t>(node.out[i])] = std::move(out[i]);
  }
  out.clear();
  in.clear();
  for (const TensorId t : program_.Released(n)) table[static_cast<size_t>(t)].reset();
}

// Runs `body` as the recomputation of a region does: with history, under the forward pass's autocast, in the autograd thread.
template <typename Body>
void Forward::Again(const Body& body) {
  Recorder& r = rt_.recorder();
  const NodeId node = std::exchange(r.node, kNone);
  const CallId call_now = r.call;
  const Pass pass = std::exchange(r.pass, Pass::kRecompute);
  const bool grad = rt_.grad_enabled(), autocast = rt_.autocast_on();
  rt_.set_grad_enabled(true);
  if (IsAmp(job_.precision) && !autocast) rt_.EnterAutocast(ComputeType(job_.precision), job_.autocast_cache);
  body();
  rt_.set_stopped(false);
  if (IsAmp(job_.precision) && !autocast) rt_.ExitAutocast();
  rt_.set_grad_enabled(grad);
  r.pass = pass;
  r.node = node;
  r.call = call_now;
}

// A region that is no range of the network's nodes.
void Forward::RerunOutside(Region& region) {
  Region* const outer = rt_.region();
  region.slots.resize(region.saved);
  region.dead.resize(region.saved);
  region.recomputing = true;
  region.filled = 0;
  rt_.set_region(&region);
  Again([&] {
    if (region.saved > 0) static_cast<OutsideRegion*>(region.state)->Run(rt_);
  });
  rt_.set_region(outer);
  region.recomputing = false;
}

void Forward::Recompute(Region& region) {
  if (region.call == kNone) return RerunOutside(region);
  auto& state = *static_cast<RegionState*>(region.state);
  std::vector<Value> table(program_.network->tensors.size());
  for (RegionState::Input& input : state.inputs) {
    const Value unpacked = rt_.Unpack(input.packed);
    if (!unpacked) continue;
    Value& v = table[static_cast<size_t>(input.tensor)];
    v = rt_.Detached(unpacked, nullptr);
    v.impl()->requires_grad = input.requires_grad;
  }
  Region* const outer = rt_.region();
  region.slots.resize(region.saved);
  region.dead.resize(region.saved);
  region.recomputing = true;
  region.filled = 0;
  state.rule.Restart();
  const size_t depth = std::exchange(recomputing_depth_, open_.size() + 1);
  open_.emplace_back(&region);
  rt_.set_region(&region);
  Again([&] {
    if (region.saved > 0) RunInside(region.call, table);
    std::vector<Value>().swap(table);
  });
  open_.resize(recomputing_depth_ - 1);
  recomputing_depth_ = depth;
  rt_.set_region(outer);
  region.recomputing = false;
}

// The nodes of a region: regions inside it are regions again if the job nests them.
void Forward::RunInside(CallId c, std::vector<Value>& table) {
  const Call& call = program_.network->calls[static_cast<size_t>(c)];
  if (!job_.checkpoint.nested) return RunRange(call.begin, call.end, table, false);
  RunRegions(call.begin, call.end, table, next_inside_[static_cast<size_t>(c)]);
}

void Forward::Replay(GradCall& grad) {
  const CallId c = grad.node.call;
  const std::vector<TensorId>& ids = RegionInputs(c);
  std::vector<Value> table(program_.network->tensors.size());
  std::vector<Leaf> leaves(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!grad.Saved(i)) continue;
    table[static_cast<size_t>(ids[i])] = rt_.Detached(grad.Saved(i), grad.Need(i) ? &leaves[i] : nullptr);
  }
  std::vector<Value> results, arrived;
  Again([&] {
    RunInside(c, table);
    size_t k = 0;
    for (const TensorId t : RegionResults(c)) {
      const Value& v = table[static_cast<size_t>(t)];
      if (!v) continue;
      if (v.requires_grad() && grad.HasGrad(k)) {
        results.push_back(v);
        arrived.push_back(grad.Grad(k));
      }
      ++k;
    }
    std::vector<Value>().swap(table);
  });
  rt_.set_grad_enabled(false);
  rt_.Backward(results, arrived);
  results.clear();
  for (size_t i = 0; i < ids.size(); ++i) {
    grad.Set(i, std::move(leaves[i].grad));
    leaves[i].value.reset();
  }
}

}  // namespace memcrest
