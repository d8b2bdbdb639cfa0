#include "src/step/forward.h"

#include <utility>

namespace memcrest {
namespace {

// What a region keeps: the tensors that entered it, as the checkpoint's saved arguments do.
struct RegionState {
  std::vector<std::pair<TensorId, Value>> inputs;
};

void ReleaseState(void* state) { delete static_cast<RegionState*>(state); }

bool Resident(const Tensor& t) { return t.role != Role::kActivation; }

}  // namespace

Forward::Forward(Eager& rt, const Program& program, const Job& job, std::vector<bool> region_calls, std::vector<Value>& resident)
    : rt_(rt), program_(program), job_(job), resident_(resident), region_at_(program.network->nodes.size() + 1, kNone) {
  for (size_t c = region_calls.size(); c-- > 0;) {  // parents come first: an outer region wins at the same node
    const Call& call = program.network->calls[c];
    if (region_calls[c] && call.end > call.begin) region_at_[static_cast<size_t>(call.begin)] = static_cast<CallId>(c);
  }
}

Value Forward::Lookup(const std::vector<Value>& table, TensorId t) const {
  if (t == kNone) return Value();
  const size_t i = static_cast<size_t>(t);
  return Resident(program_.network->tensors[i]) ? resident_[i] : table[i];
}

Value Forward::Run(bool evaluation) {
  std::vector<Value> table(program_.network->tensors.size());
  const NodeId nodes = static_cast<NodeId>(program_.network->nodes.size());
  RunRange(0, nodes, table, !evaluation);
  if (program_.network->outputs.empty()) return Value();
  return Lookup(table, program_.network->outputs[0]);
}

void Forward::RunRange(NodeId begin, NodeId end, std::vector<Value>& table, bool regions) {
  for (NodeId n = begin; n < end && !rt_.stopped(); ++n) {
    if (regions) EnterRegions(n, table);
    RunNode(n, table);
    if (regions) LeaveRegions(n + 1);
  }
}

void Forward::EnterRegions(NodeId n, std::vector<Value>& table) {
  const CallId c = region_at_[static_cast<size_t>(n)];
  if (c == kNone || !open_.empty() || !rt_.grad_enabled()) return;
  const Network& net = *program_.network;
  Region* region = new Region;
  open_.emplace_back(region);
  region->call = c;
  auto* state = new RegionState;
  region->state = state;
  region->release = ReleaseState;
  const Call& call = net.calls[static_cast<size_t>(c)];
  std::vector<bool> seen(net.tensors.size());
  for (NodeId k = call.begin; k < call.end; ++k) {
    for (const TensorId t : net.nodes[static_cast<size_t>(k)].in) {
      if (t == kNone) continue;
      const size_t i = static_cast<size_t>(t);
      if (Resident(net.tensors[i]) || net.tensors[i].def >= call.begin || seen[i]) continue;
      seen[i] = true;
      if (table[i]) state->inputs.emplace_back(t, table[i]);
    }
  }
  rt_.set_region(region);
}

void Forward::LeaveRegions(NodeId n) {
  while (!open_.empty() && program_.network->calls[static_cast<size_t>(open_.back()->call)].end == n) {
    open_.pop_back();
    rt_.set_region(open_.empty() ? nullptr : open_.back().get());
  }
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

void Forward::Recompute(Region& region) {
  Recorder& r = rt_.recorder();
  const NodeId node = std::exchange(r.node, kNone);
  const CallId call_now = r.call;
  const Pass pass = std::exchange(r.pass, Pass::kRecompute);
  Region* const outer = rt_.region();
  const bool grad = rt_.grad_enabled();
  region.slots.resize(region.saved);
  region.dead.resize(region.saved);
  region.recomputing = true;
  region.filled = 0;
  rt_.set_region(&region);
  rt_.set_grad_enabled(true);
  if (IsAmp(job_.precision)) rt_.EnterAutocast(ComputeType(job_.precision), job_.autocast_cache);
  {
    std::vector<Value> table(program_.network->tensors.size());
    for (const auto& [t, v] : static_cast<RegionState*>(region.state)->inputs) table[static_cast<size_t>(t)] = v;
    const Call& call = program_.network->calls[static_cast<size_t>(region.call)];
    if (region.saved > 0) RunRange(call.begin, call.end, table, false);
  }
  rt_.set_stopped(false);
  if (IsAmp(job_.precision)) rt_.ExitAutocast();
  rt_.set_grad_enabled(grad);
  rt_.set_region(outer);
  region.recomputing = false;
  r.pass = pass;
  r.node = node;
  r.call = call_now;
}

}  // namespace memcrest
