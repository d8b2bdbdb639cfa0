#include "src/step/engines/module_hooks.h"

#include <utility>

#include "src/base/problem.h"
#include "src/eager/op.h"

namespace memcrest {
namespace {

// An autograd function that hands tensors on and runs a hook of the engine in backward; the unit stands in the attributes.
void HandOn(Eager& rt, OpCall& call) {
  for (size_t i = 0; i < call.in.size(); ++i) call.Out(i) = rt.Alias(call.in[i]);
}

void HandBack(Eager& rt, GradCall& grad) {
  if (rt.function_backward != nullptr) rt.function_backward(rt.hook_owner, grad.attrs().Int(Key::kAxis, 0));
  for (size_t i = 0; i < grad.inputs(); ++i) {
    if (grad.HasGrad(i)) grad.Set(i, grad.Take(i));
  }
}

const OpEntry& PostBackwardFunction() {
  static const OpEntry entry = {"post_backward_hook", HandOn, HandBack, Autocast::kPlain, false, true, false, "saves nothing"};
  return entry;
}

}  // namespace

void ModuleHooks::MakeHooks(const std::vector<Unit>& units) {
  units_ = units.size();
  for (size_t u = 0; u < units_; ++u) tags_.push_back(Attrs{{Key::kAxis, static_cast<int64_t>(u)}});
  const Network& net = network();
  std::vector<int32_t> of_module(net.modules.size(), kNone);
  for (size_t u = 0; u + 1 < units.size(); ++u) {
    for (const ModuleId m : units[u].modules) of_module[static_cast<size_t>(m)] = static_cast<int32_t>(u);
  }
  unit_of_.assign(net.calls.size(), kNone);
  for (size_t c = 0; c < net.calls.size(); ++c) {
    const Call& call = net.calls[c];
    if (call.module == kNone || call.begin == call.end) continue;
    unit_of_[c] = of_module[static_cast<size_t>(call.module)];
    if (unit_of_[c] != kNone) edges_.emplace(static_cast<CallId>(c), EdgesOf(net, static_cast<CallId>(c)));
  }
}

std::vector<bool> ModuleHooks::WatchedCalls() const {
  std::vector<bool> watched(unit_of_.size());
  for (size_t c = 0; c < watched.size(); ++c) watched[c] = unit_of_[c] != kNone;
  return watched;
}

bool ModuleHooks::PassInputs(CallId call, ValueTable& table, DType cast, bool hook) {
  const Network& net = network();
  const NodeId end = net.calls[static_cast<size_t>(call)].end;
  std::vector<TensorId> hooked;
  Values inputs;
  for (const TensorId t : Edges(call).in) {
    Value& v = table[static_cast<size_t>(t)];
    if (!v) continue;
    const bool casts = cast != DType::kUndefined && IsFloating(v.dtype()) && v.dtype() != cast;
    const bool hooks = hook && rt_.grad_enabled() && v.requires_grad();
    if (!casts && !hooks) continue;
    const NodeId released = net.tensors[static_cast<size_t>(t)].released_after;
    if (released == kNone || released >= end) kept_.push_back({call, t, v});
    if (casts) v = rt_.Call("to", {v}, {{Key::kDtype, cast}});
    if (!hooks) continue;
    hooked.push_back(t);
    inputs.push_back(v);
  }
  if (inputs.empty()) return false;
  const Values passed = rt_.Run(PostBackwardFunction(), inputs, tags_[UnitOf(call)]);
  for (size_t i = 0; i < hooked.size(); ++i) table[static_cast<size_t>(hooked[i])] = passed[i];
  return true;
}

void ModuleHooks::RestoreInputs(CallId call, ValueTable& table) {
  while (!kept_.empty() && kept_.back().call == call) {
    Value& v = table[static_cast<size_t>(kept_.back().tensor)];
    if (v) v = std::move(kept_.back().value);
    kept_.pop_back();
  }
}

void ModuleHooks::HookOutput(size_t unit, const Value& out) {
  if (!rt_.grad_enabled() || !out || !out.requires_grad() || !out.impl()->grad_fn) return;
  TapeNode* node = out.impl()->grad_fn.get();
  node->hooked = true;
  hooks_[node].push_back(unit);
}

void ModuleHooks::BeforeNode(TapeNode& node) {
  const auto found = hooks_.find(&node);
  if (found == hooks_.end()) return;
  for (const size_t unit : found->second) PreBackward(unit);
}

absl::StatusOr<std::vector<Unit>> UnitsOf(const Network& network, const Parallel& parallel) {
  if (!parallel.wrap.has_value()) return MakeUnits(network, RepeatedBlocks(network), parallel.group_every);
  MEMCREST_ASSIGN_OR_RETURN(const std::vector<ModuleId> chosen, ChosenModules(network, *parallel.wrap));
  return MakeUnits(network, chosen, parallel.group_every);
}

absl::Status CheckUnits(const Network& network, const Job& job) { return UnitsOf(network, job.parallel).status(); }

}  // namespace memcrest
