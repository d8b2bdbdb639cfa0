// FSDP2 (fully_shard): every parameter is cut along dimension 0, gathered per unit before its forward and backward, its gradient
// reduce-scattered after. Order of allocations and frees as in torch/distributed/fsdp/_fully_shard/*; names are its own.
//
// Per unit: sharded parameters (padded) stay; an all-gather output (copy-in stream) and one storage per unsharded parameter come
// and go. In forward the all-gather output lives until the next unit has been copied out, in backward it dies at once. The
// input of a reduce-scatter lives until the next unit's post-backward; its output is the sharded gradient of the whole unit.
#include <map>

#include "absl/strings/str_cat.h"
#include "src/shard/partition.h"
#include "src/step/engines/module_hooks.h"

namespace memcrest {
namespace {

constexpr StreamId kCopyIn = 1, kReduceScatter = 2, kAllReduce = 3;

enum class State { kIdle, kForward, kPreBackward, kPostBackward };

struct ShardedParam {
  ParamId id = kNone;
  Leaf* leaf = nullptr;   // the unsharded parameter as autograd sees it; null: frozen
  Value unsharded;        // storage of 0 bytes while sharded
  Value shard;            // padded
  Value post_forward;     // shard over the smaller mesh that reshard_after_forward=int keeps
  Value accumulated;      // unsharded gradient in the reduce type, between micro-batches that are not synchronised
  std::unique_ptr<Leaf> sharded = std::make_unique<Leaf>();  // what the optimizer steps
  RowShard rows;
};

struct Group {
  std::vector<ShardedParam*> params;
  size_t modules = 1;
  State state = State::kIdle;
  bool reshards = true;       // after forward
  int64_t post_ranks = 0;     // of the smaller mesh; 0: none
  bool unsharded = false, on_post_mesh = false;
  bool gather_pending = false;
  Value gathered;             // all-gather output waiting for its copy-out
  Value all_reduce_input;
  std::vector<size_t> post_forward_indices;
  std::vector<size_t> forward_targets, backward_targets;  // explicit prefetch
  size_t left = 0;            // modules of the group that have not run in this pass
};

class Fsdp2 final : public ModuleHooks {
 public:
  explicit Fsdp2(const EngineContext& context)
      : ModuleHooks(context), ranks_(parallel().data), low_(parallel().param_dtype), reduce_(parallel().reduce_dtype) {}

  Value MakeParameter(ParamId id, Leaf* leaf, DType type) override;
  void Wrap() override;
  std::vector<Leaf*> Optimized() override;
  void BeginForward(bool last) override;
  void Enter(CallId call, ValueTable& table) override;
  void Leave(CallId call, ValueTable& table) override;
  Value EndForward(Value out) override;
  void EndBackward(bool last) override;
  bool Step() override;

 private:
  void PreBackward(size_t unit) override;
  void PostBackward(size_t unit) override;
  void PreForward(Group& g);
  void PostForward(Group& g);
  void Unshard(Group& g);
  void CastShards(Group& g, std::vector<Value>& inputs);
  void WaitForUnshard(Group& g);
  void Reshard(Group& g);
  void ToSharded(Group& g);
  std::vector<Value> TakeGradients(Group& g, std::vector<ShardedParam*>& with_gradient);
  void KeepUnreduced(Group& g);
  void Reduce(Group& g, std::vector<Value> gradients, const std::vector<ShardedParam*>& params);
  void SetPrefetches();
  void CastInputs();
  bool Casts(const ShardedParam& p) const { return low_ != DType::kUndefined && p.shard.dtype() != low_; }

  const int64_t ranks_;
  const DType low_, reduce_;
  std::vector<std::unique_ptr<ShardedParam>> params_;
  std::map<ParamId, ShardedParam*> by_id_;
  std::vector<Group> groups_;  // by unit; the root last
  std::vector<std::pair<size_t, Value>> plain_inputs_;
  std::vector<size_t> post_forward_order_;
  Value all_gather_state_;     // the output whose copy-out was last, in forward
  Value reduce_scatter_state_;
  bool last_ = true;
};

Value Fsdp2::MakeParameter(ParamId id, Leaf* leaf, DType type) {
  const Param& p = param(id);
  if (p.buffer) return ModuleHooks::MakeParameter(id, leaf, type);
  auto sharded = std::make_unique<ShardedParam>();
  sharded->id = id;
  sharded->leaf = leaf;
  sharded->rows = ShardRows(p.dims, ranks_, c_.rank % ranks_);
  {
    const OnHost host(rt_, parallel().offload);
    sharded->shard = Flat(sharded->rows.stored(), type, Category::kParameters, p.fqn);
  }
  Dims own(p.dims.begin(), p.dims.end());
  if (own.empty()) own.push_back(1);
  own[0] = sharded->rows.own_rows;
  sharded->sharded->param = id;
  sharded->sharded->value = rt_.View(sharded->shard, own, ContiguousStrides(own));
  const int64_t nothing[] = {0};
  const DType seen = low_ != DType::kUndefined && IsFloating(type) ? low_ : type;
  sharded->unsharded = rt_.MakeLeaf(leaf, nothing, seen, Category::kCommunication, leaf != nullptr);
  sharded->unsharded.impl()->meta = MakeMeta(p.dims, ContiguousStrides(p.dims), seen);
  by_id_[id] = sharded.get();
  params_.push_back(std::move(sharded));
  return params_.back()->unsharded;
}

void Fsdp2::Wrap() {
  const std::vector<Unit> units = *UnitsOf(network(), parallel());
  MakeHooks(units);
  const bool keep = IsSet(parallel().reshard) && !AsBool(parallel().reshard, true);
  for (size_t u = 0; u < units.size(); ++u) {
    Group& g = groups_.emplace_back();
    g.modules = units[u].modules.size();
    for (const ParamId id : units[u].params) g.params.push_back(by_id_.at(id));
    g.reshards = !keep;
    if (std::holds_alternative<int64_t>(parallel().reshard)) g.post_ranks = AsInt(parallel().reshard, 0);
  }
  groups_.back().post_ranks = 0;
  groups_.back().reshards = AsBool(parallel().root_reshard, false);  // the root is needed again at once
  SetPrefetches();
}

void Fsdp2::SetPrefetches() {
  const size_t ahead = static_cast<size_t>(AsInt(parallel().forward_prefetch, 0));
  const size_t back = static_cast<size_t>(AsInt(parallel().backward_prefetch, 0));
  for (size_t u = 0; u + 1 < groups_.size(); ++u) {
    for (size_t k = 1; k <= ahead && u + k + 1 < groups_.size(); ++k) groups_[u].forward_targets.push_back(u + k);
    for (size_t k = 1; k <= back && k <= u; ++k) groups_[u].backward_targets.push_back(u - k);
  }
}

std::vector<Leaf*> Fsdp2::Optimized() {
  if (parallel().offload) rt_.recorder().place = Place::kHost;
  std::vector<Leaf*> all;
  for (const auto& p : params_) {
    if (p->leaf != nullptr) all.push_back(p->sharded.get());
  }
  return all;
}

bool Fsdp2::Step() {
  if (parallel().offload) rt_.recorder().place = Place::kHost;
  return false;
}

// ---- gathering

// What the all-gather copies in: nothing new if the shards have the right type and place.
void Fsdp2::CastShards(Group& g, std::vector<Value>& inputs) {
  int64_t cast = 0;
  DType type = DType::kUndefined;
  for (ShardedParam* p : g.params) {
    const int64_t elements = g.on_post_mesh ? p->post_forward.elements() : p->rows.stored();
    if (parallel().offload) {
      Value moved = Flat(elements, p->shard.dtype(), Category::kCommunication);
      if (Casts(*p)) moved = Flat(elements, low_, Category::kCommunication);
      inputs.push_back(std::move(moved));
    } else if (Casts(*p)) {
      cast += elements;
      type = low_;
    }
  }
  if (cast > 0) inputs.push_back(Flat(cast, type, Category::kCommunication));
}

void Fsdp2::Unshard(Group& g) {
  if (g.gather_pending || g.unsharded || g.params.empty()) return;
  g.gather_pending = true;
  if (ranks_ == 1) return;
  const OnStream stream(rt_, kCopyIn);
  rt_.recorder().op = "all_gather_copy_in";
  std::vector<Value> inputs;
  CastShards(g, inputs);
  int64_t elements = 0;
  for (const ShardedParam* p : g.params) elements += p->rows.stored() * ranks_;
  g.gathered = Flat(elements, g.params[0]->unsharded.dtype(), Category::kCommunication, "all-gather output");
}

void Fsdp2::WaitForUnshard(Group& g) {
  if (!g.gather_pending) return;
  const bool forward = g.state == State::kForward;
  const Value before = forward ? std::exchange(all_gather_state_, Value()) : Value();  // a local name keeps it to the end
  rt_.recorder().op = "all_gather_copy_out";
  for (ShardedParam* p : g.params) {
    const Bytes bytes = p->rows.stored() * ranks_ * BitsOf(p->unsharded.dtype()) / 8;
    rt_.recorder().Resize(*p->unsharded.storage(), bytes);
    Name(p->unsharded, absl::StrCat(param(p->id).fqn, " (gathered)"));
  }
  for (ShardedParam* p : g.params) p->post_forward.reset();
  g.unsharded = true;
  g.on_post_mesh = false;
  if (forward && ranks_ > 1) all_gather_state_ = g.gathered;
  g.gathered.reset();
  g.gather_pending = false;
}

void Fsdp2::ToSharded(Group& g) {
  for (ShardedParam* p : g.params) {
    rt_.recorder().Resize(*p->unsharded.storage(), 0);
    p->post_forward.reset();
  }
  g.unsharded = g.on_post_mesh = false;
}

void Fsdp2::Reshard(Group& g) {
  if (g.state != State::kForward) return ToSharded(g);
  if (!g.reshards) return;
  if (g.post_ranks == 0 || g.post_ranks >= ranks_) return ToSharded(g);
  for (ShardedParam* p : g.params) {
    const int64_t elements = p->rows.stored() * ranks_ / g.post_ranks;
    p->post_forward = Flat(elements, p->unsharded.dtype(), Category::kCommunication, "shard kept after forward");
    rt_.recorder().Resize(*p->unsharded.storage(), 0);
  }
  g.unsharded = false;
  g.on_post_mesh = true;
}

// ---- forward

void Fsdp2::BeginForward(bool last) {
  rt_.recorder().place = Place::kDevice;
  last_ = last;
  groups_.back().state = State::kIdle;
  PreForward(groups_.back());
  CastInputs();
}

// cast_forward_inputs of the root: the script keeps the inputs, the casts live while the network runs.
void Fsdp2::CastInputs() {
  if (low_ == DType::kUndefined) return;
  for (const TensorId t : network().inputs) {
    Value& v = c_.resident[static_cast<size_t>(t)];
    if (!v || !IsFloating(v.dtype()) || v.dtype() == low_) continue;
    plain_inputs_.emplace_back(static_cast<size_t>(t), v);
    v = rt_.EmptyLike(v, low_);
  }
}

void Fsdp2::PreForward(Group& g) {
  g.state = State::kForward;
  Unshard(g);
  WaitForUnshard(g);
}

void Fsdp2::PostForward(Group& g) {
  Reshard(g);
  const size_t index = static_cast<size_t>(&g - groups_.data());
  if (!g.params.empty()) {
    g.post_forward_indices.push_back(post_forward_order_.size());
    post_forward_order_.push_back(index);
  }
  g.state = State::kIdle;
}

void Fsdp2::Enter(CallId call, ValueTable& table) {
  Group& g = groups_[UnitOf(call)];
  const bool first = g.left == 0;
  if (first) g.left = g.modules;
  const bool entering = g.state != State::kForward;
  PreForward(g);
  PassInputs(call, table, low_, entering && !g.params.empty());
  if (!first) return;
  for (const size_t target : g.forward_targets) Unshard(groups_[target]);
}

void Fsdp2::Leave(CallId call, ValueTable& table) {
  Group& g = groups_[UnitOf(call)];
  RestoreInputs(call, table);
  if (--g.left > 0) return;
  PostForward(g);
  for (const TensorId t : Edges(call).out) HookOutput(UnitOf(call), table[static_cast<size_t>(t)]);
}

Value Fsdp2::EndForward(Value out) {
  PostForward(groups_.back());
  HookOutput(root(), out);
  all_gather_state_.reset();
  for (auto& [t, v] : plain_inputs_) c_.resident[t] = std::move(v);
  plain_inputs_.clear();
  if (!rt_.grad_enabled()) EndBackward(true);
  const DType type = parallel().output_dtype;
  return type != DType::kUndefined && out && IsFloating(out.dtype()) && out.dtype() != type ? rt_.Call("to", {out}, {{Key::kDtype, type}}) : out;
}

// ---- backward

void Fsdp2::PreBackward(size_t unit) {
  Group& g = groups_[unit];
  if (g.state != State::kPreBackward) {
    g.state = State::kPreBackward;
    Unshard(g);
    WaitForUnshard(g);
    if (g.backward_targets.empty() && !g.post_forward_indices.empty()) {
      const size_t at = g.post_forward_indices.back();
      g.post_forward_indices.pop_back();
      if (at > 0) Unshard(groups_[post_forward_order_[at - 1]]);
    }
  }
  for (const size_t target : g.backward_targets) Unshard(groups_[target]);
}

std::vector<Value> Fsdp2::TakeGradients(Group& g, std::vector<ShardedParam*>& with_gradient) {
  std::vector<Value> gradients;
  for (ShardedParam* p : g.params) {
    if (p->leaf == nullptr) continue;
    Value& from = p->accumulated ? p->accumulated : p->leaf->grad;
    if (!from) continue;
    gradients.push_back(std::exchange(from, Value()));
    with_gradient.push_back(p);
  }
  return gradients;
}

// Without synchronisation gradients stay whole, in the reduce type.
void Fsdp2::KeepUnreduced(Group& g) {
  if (parallel().reshard_after_backward) Reshard(g);
  rt_.recorder().op = "to_accumulated_grad";
  for (ShardedParam* p : g.params) {
    if (p->leaf == nullptr || !p->leaf->grad || reduce_ == DType::kUndefined || p->leaf->grad.dtype() == reduce_) continue;
    const Value gradient = std::exchange(p->leaf->grad, Value());
    p->accumulated = rt_.EmptyLike(gradient, reduce_);
    rt_.Retag(p->accumulated, Category::kGradients);
  }
}

void Fsdp2::PostBackward(size_t unit) {
  Group& g = groups_[unit];
  if (g.params.empty()) return;
  g.state = State::kPostBackward;
  for (ShardedParam* p : g.params) {
    if (p->accumulated) p->leaf->grad.reset();  // added in place
  }
  if (!last_ && !parallel().sync) return KeepUnreduced(g);
  std::vector<ShardedParam*> params;
  std::vector<Value> gradients = TakeGradients(g, params);
  if (last_ || parallel().reshard_after_backward) Reshard(g);
  reduce_scatter_state_.reset();
  if (gradients.empty()) return;
  g.all_reduce_input.reset();
  Reduce(g, std::move(gradients), params);
}

void Fsdp2::Reduce(Group& g, std::vector<Value> gradients, const std::vector<ShardedParam*>& params) {
  int64_t elements = 0;
  for (const ShardedParam* p : params) elements += p->rows.stored();
  const DType type = reduce_ != DType::kUndefined ? reduce_ : gradients[0].dtype();
  rt_.recorder().op = "reduce_scatter_copy_in";
  reduce_scatter_state_ = Flat(elements * ranks_, type, Category::kCommunication, "reduce-scatter input");
  gradients.clear();
  rt_.recorder().op = "reduce_scatter";
  Value output;
  {
    const OnStream stream(rt_, kReduceScatter);
    output = Flat(elements, type, Category::kGradients, "sharded gradients of a unit");
  }
  const bool replicated = parallel().replicate > 1;
  if (replicated) g.all_reduce_input = output;
  if (const DType stored = params[0]->shard.dtype(); stored != type) {
    const OnStream stream(rt_, replicated ? kAllReduce : kReduceScatter);
    output = Flat(elements, stored, Category::kGradients, "sharded gradients of a unit");
  }
  for (ShardedParam* p : params) {
    Value shard = rt_.View(output, p->sharded->value.sizes(), p->sharded->value.strides());
    if (parallel().offload) {
      const OnHost host(rt_, true);
      shard = rt_.EmptyLike(shard);
    }
    if (!p->sharded->grad) p->sharded->grad = std::move(shard);
  }
}

// The root's final callback: what has not run post-backward runs it now, the root first; then everything in flight is let go.
void Fsdp2::EndBackward(bool) {
  for (size_t i = 0; i < groups_.size(); ++i) {
    const size_t unit = i == 0 ? root() : i - 1;
    Group& g = groups_[unit];
    if (rt_.grad_enabled() && g.state != State::kPostBackward) PostBackward(unit);
    g.state = State::kIdle;
    g.all_reduce_input.reset();
    g.gathered.reset();
    g.gather_pending = false;
    g.post_forward_indices.clear();
    g.left = 0;
  }
  post_forward_order_.clear();
  reduce_scatter_state_.reset();
  ClearHooks();
}

// Ranks whose own rows of every parameter are the same are equal; only rows that do not divide differ.
std::vector<std::vector<int64_t>> Signatures(const Network& network, const Job& job) {
  const int64_t ranks = job.parallel.data;
  std::vector<std::vector<int64_t>> signatures(static_cast<size_t>(job.parallel.world()));
  for (const Param& p : network.params) {
    if (p.buffer || (!p.dims.empty() && p.dims[0] % ranks == 0)) continue;
    for (size_t r = 0; r < signatures.size(); ++r) {
      signatures[r].push_back(ShardRows(p.dims, ranks, static_cast<int64_t>(r) % ranks).own_rows);
    }
  }
  return signatures;
}

std::vector<Division> Divisions(const Job&) {
  return {{Category::kParameters, "data ranks, rows rounded up"},
          {Category::kGradients, "data ranks once reduced; a unit's are whole until then"},
          {Category::kOptimizerState, "data ranks"},
          {Category::kCommunication, "nothing: whole units, gathered or being reduced"},
          kOwnBatch};
}

std::unique_ptr<ParallelEngine> Make(const EngineContext& context) { return std::make_unique<Fsdp2>(context); }

}  // namespace

void RegisterFsdp2(EngineRegistry& registry) {
  EngineEntry e;
  e.name = "fsdp2";
  e.make = Make;
  e.signatures = Signatures;
  e.check = CheckUnits;
  e.divisions = Divisions;
  e.doc = "fully_shard: parameters, gradients and state sharded row by row, gathered unit by unit";
  registry.Add(e);
}

}  // namespace memcrest
