// FSDP1 (FullyShardedDataParallel): the parameters of a unit are one flat parameter, cut into equal ranges. Order of allocations
// as in torch/distributed/fsdp/_runtime_utils.py and _flat_param.py; names are theirs.
//
// The flat parameter is gathered into its final storage; what the network reads are views of it, so that autograd concatenates
// the parameters' gradients into one flat gradient, which is cast to the reduce type, padded and reduce-scattered. The flat
// gradient and the casts die at once; the sharded one stays. use_orig_params: the optimizer is given the rank's ranges of the
// original parameters, and zero_grad frees nothing before the next forward.
#include <algorithm>
#include <deque>

#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/shard/partition.h"
#include "src/step/engines/module_hooks.h"

namespace memcrest {
namespace {

constexpr StreamId kPreUnshard = 1, kUnshard = 2, kPostBackward = 3;
constexpr int64_t kAlignment = 16;  // bytes, of each original parameter in a flat one (_get_aligned_numel)

void ViewsForward(Eager& rt, OpCall& call) {
  for (size_t i = 0; call.Hint(i) != nullptr; ++i) call.Out(i) = rt.View(call.in[0], *call.Hint(i), ContiguousStrides(*call.Hint(i)));
}

// torch.split and views: one concatenation, on the stream of the forward; parameters without gradient take part as zeros.
void ViewsBackward(Eager& rt, GradCall& grad) {
  const OnStream stream(rt, kUnshard);
  std::vector<Value> pieces;
  const DType type = grad.In(0).dtype;
  for (size_t i = 0; i < grad.node.out.size(); ++i) {
    pieces.push_back(grad.HasGrad(i) ? rt.Contiguous(grad.Take(i)) : rt.Zeros(grad.Out(i).sizes, type));
  }
  const Dims sizes = {grad.In(0).elements};
  grad.Set(0, rt.Empty(sizes, type));
}

const OpEntry& FlatViews() {
  static const OpEntry entry = {"flat_param_views", ViewsForward, ViewsBackward, Autocast::kPlain, false, true, false, "saves nothing"};
  return entry;
}

struct Handle {
  std::vector<ParamId> params;
  std::vector<Dims> dims;
  std::vector<const Dims*> hints;
  std::vector<Range> ranges;          // of each parameter in the flat one
  std::vector<bool> trains;
  DType stored = DType::kUndefined, seen = DType::kUndefined;
  int64_t elements = 0, shard = 0;    // unpadded; of a rank
  Value local_shard, flat;            // flat: 0 bytes while sharded
  Leaf leaf;                          // the unsharded flat parameter, as autograd sees it
  std::deque<Leaf> sharded;           // what the optimizer steps: one, or the rank's original parameters
  std::vector<Range> own;             // of the original parameters, in the rank's shard
  Value flat_grad;                    // use_orig_params
  bool unsharded = false, prefetched = false, needs_forward = false, needs_backward = false, ran_pre_backward = false;
  size_t index = 0;                   // in post-forward order
};

class Fsdp1 final : public ModuleHooks {
 public:
  explicit Fsdp1(const EngineContext& context)
      : ModuleHooks(context), ranks_(parallel().data), shards_(parallel().strategy != "NO_SHARD"),
        reshards_(parallel().strategy == "FULL_SHARD" || parallel().strategy == "HYBRID_SHARD"), orig_(parallel().use_orig_params) {}

  Value MakeParameter(ParamId id, Leaf* leaf, DType type) override;
  void Wrap() override;
  std::vector<Leaf*> Optimized() override;
  void BeginForward(bool last) override;
  void Enter(CallId call, ValueTable& table) override;
  void Leave(CallId call, ValueTable& table) override;
  Value EndForward(Value out) override;
  void GradReady(Leaf& leaf) override;
  void EndBackward(bool last) override;
  bool Step() override;
  void ZeroGrad() override;

 private:
  void PreBackward(size_t unit) override;
  void PostBackward(size_t) override {}
  void LayOut(Handle& h);
  void MakeStorage(Handle& h, bool root);
  void MakeOptimized(Handle& h);
  void Unshard(Handle& h);
  void Reshard(Handle& h, bool free);
  void UseViews(Handle& h);
  void PreForward(size_t unit);
  void PostForward(size_t unit);
  void PrefetchBackward(const Handle& h);
  bool FreesInBackward() const { return shards_ && (sync_ || reshards_); }
  void Reduce(Handle& h);
  void KeepSharded(Handle& h, Value gradient);
  std::string Mode() const { return AsText(parallel().backward_prefetch, "BACKWARD_PRE"); }

  const int64_t ranks_;
  const bool shards_, reshards_, orig_;
  std::vector<std::pair<ParamId, DType>> given_;
  std::vector<bool> trains_;             // by ParamId
  std::deque<Handle> handles_;           // by unit; the root last
  std::vector<size_t> forward_order_, post_order_;
  std::vector<std::pair<size_t, Value>> plain_inputs_;
  std::vector<std::vector<TensorId>> tensors_;  // by ParamId: what reads it
  bool sync_ = true, seen_forward_ = false;
};

Value Fsdp1::MakeParameter(ParamId id, Leaf* leaf, DType type) {
  const DType low = parallel().param_dtype;
  if (param(id).buffer) return ModuleHooks::MakeParameter(id, leaf, low != DType::kUndefined && IsFloating(type) ? low : type);
  given_.emplace_back(id, type);
  trains_.resize(network().params.size());
  trains_[static_cast<size_t>(id)] = leaf != nullptr;
  const int64_t nothing[] = {0};
  return rt_.MakeResident(nothing, type, Category::kParameters);  // replaced by a view in every forward
}

// Offsets of the parameters in the flat one, and its size over the ranks.
void Fsdp1::LayOut(Handle& h) {
  const int64_t align = orig_ ? std::max<int64_t>(kAlignment / BytesOf(h.stored), 1) : 1;
  for (const ParamId id : h.params) {
    const Dims& dims = param(id).dims;
    h.dims.push_back(dims);
    h.elements = CeilDiv(h.elements, align) * align;
    h.ranges.push_back({h.elements, h.elements + NumElements(dims)});
    h.elements = h.ranges.back().end;
  }
  if (orig_) h.elements = CeilDiv(h.elements, ranks_) * ranks_;
  for (const Dims& d : h.dims) h.hints.push_back(&d);
  h.hints.push_back(nullptr);
  h.shard = shards_ ? CeilDiv(h.elements, ranks_) : h.elements;
}

void Fsdp1::MakeStorage(Handle& h, bool root) {
  const DType low = parallel().param_dtype;
  h.seen = low != DType::kUndefined && IsFloating(h.stored) ? low : h.stored;
  const std::string name = absl::StrCat("flat parameter of ", root ? "the root" : param(h.params[0]).fqn);
  {
    const OnHost host(rt_, parallel().offload);
    h.local_shard = Flat(h.shard, h.stored, Category::kParameters, name);
  }
  const bool trains = std::any_of(h.trains.begin(), h.trains.end(), [](bool t) { return t; });
  const int64_t nothing[] = {0};
  h.flat = rt_.MakeLeaf(trains ? &h.leaf : nullptr, nothing, h.seen, Category::kCommunication, trains);
  const Dims sizes = {h.elements};
  h.flat.impl()->meta = MakeMeta(sizes, ContiguousStrides(sizes), h.seen);
  if (!shards_ && h.seen == h.stored) h.flat.impl()->storage = h.local_shard.impl()->storage;
  h.leaf.param = h.params[0];
  h.leaf.value = h.flat;
}

void Fsdp1::MakeOptimized(Handle& h) {
  if (!h.flat.requires_grad()) return;
  const auto add = [&](ParamId id, Range own) {
    const Dims sizes = {own.size()};
    h.sharded.emplace_back();
    h.sharded.back().param = id;
    h.sharded.back().value = rt_.View(h.local_shard, sizes, ContiguousStrides(sizes));
    h.own.push_back(own);
  };
  if (!orig_) return add(h.params[0], {0, h.shard});
  const int64_t first = shards_ ? c_.rank % ranks_ * h.shard : 0;
  for (size_t i = 0; i < h.params.size(); ++i) {
    const Range own = Intersection(h.ranges[i], {first, first + h.shard});
    if (own.size() > 0 && h.trains[i]) add(h.params[i], own);
  }
}

void Fsdp1::Wrap() {
  const std::vector<Unit> units = *UnitsOf(network(), parallel());
  MakeHooks(units);
  tensors_.resize(network().params.size());
  for (size_t t = 0; t < network().tensors.size(); ++t) {
    const Tensor& tensor = network().tensors[t];
    if (tensor.role == Role::kParam) tensors_[static_cast<size_t>(tensor.param)].push_back(static_cast<TensorId>(t));
  }
  for (size_t u = 0; u < units.size(); ++u) {
    Handle& h = handles_.emplace_back();
    h.params = units[u].params;
    if (h.params.empty()) continue;
    for (const ParamId id : h.params) {
      h.trains.push_back(trains_[static_cast<size_t>(id)]);
      for (const auto& [given, type] : given_) {
        if (given == id) h.stored = type;
      }
    }
    LayOut(h);
    MakeStorage(h, u + 1 == units.size());
    MakeOptimized(h);
  }
}

std::vector<Leaf*> Fsdp1::Optimized() {
  if (parallel().offload) rt_.recorder().place = Place::kHost;
  std::vector<Leaf*> all;
  for (size_t i = 0; i < handles_.size(); ++i) {
    for (Leaf& leaf : handles_[i == 0 ? root() : i - 1].sharded) all.push_back(&leaf);
  }
  return all;
}

bool Fsdp1::Step() {
  if (parallel().offload) rt_.recorder().place = Place::kHost;
  return false;
}

void Fsdp1::ZeroGrad() {
  for (Handle& h : handles_) {
    for (Leaf& leaf : h.sharded) leaf.grad.reset();
    if (!shards_) h.leaf.grad.reset();
  }
}

// ---- gathering

void Fsdp1::Unshard(Handle& h) {
  if (h.params.empty() || h.unsharded) return;
  h.unsharded = true;
  if (!shards_ && h.seen == h.stored) return;
  Value low, moved;
  {
    const OnStream stream(rt_, kPreUnshard);
    rt_.recorder().op = "pre_unshard";
    if (parallel().offload) moved = Flat(h.shard, h.stored, Category::kCommunication);
    if (h.seen != h.stored && shards_) low = Flat(h.shard, h.seen, Category::kCommunication);
  }
  const OnStream stream(rt_, kUnshard);
  rt_.recorder().op = "all_gather";
  rt_.recorder().Resize(*h.flat.storage(), (shards_ ? h.shard * ranks_ : h.elements) * BitsOf(h.seen) / 8);
  Name(h.flat, absl::StrCat(param(h.params[0]).fqn, " ... (gathered flat parameter)"));
}

void Fsdp1::Reshard(Handle& h, bool free) {
  h.prefetched = false;
  if (h.params.empty() || (!shards_ && h.seen == h.stored)) return;
  if (!free && shards_) return;
  rt_.recorder().Resize(*h.flat.storage(), 0);
  h.unsharded = false;
}

// What the network reads: views of the flat parameter, on the tape.
void Fsdp1::UseViews(Handle& h) {
  static const Attrs none;
  const Values views = rt_.Run(FlatViews(), {h.flat}, none, h.hints);
  for (size_t i = 0; i < h.params.size(); ++i) {
    for (const TensorId t : tensors_[static_cast<size_t>(h.params[i])]) c_.resident[static_cast<size_t>(t)] = views[i];
  }
}

// ---- forward

void Fsdp1::PreForward(size_t unit) {
  Handle& h = handles_[unit];
  if (h.params.empty()) return;
  if (!h.prefetched) Unshard(h);
  UseViews(h);
  h.needs_forward = false;
  if (!seen_forward_) return forward_order_.push_back(unit);
  if (!AsBool(parallel().forward_prefetch, false)) return;
  const auto at = std::find(forward_order_.begin(), forward_order_.end(), unit);
  if (at == forward_order_.end() || at + 1 == forward_order_.end()) return;
  Handle& next = handles_[*(at + 1)];
  if (!next.needs_forward || next.prefetched) return;
  Unshard(next);
  next.prefetched = true;
}

void Fsdp1::PostForward(size_t unit) {
  Handle& h = handles_[unit];
  if (h.params.empty()) return;
  h.index = post_order_.size();
  post_order_.push_back(unit);
  Reshard(h, unit != root() && reshards_);
  h.needs_backward = rt_.grad_enabled();
}

void Fsdp1::BeginForward(bool last) {
  rt_.recorder().place = Place::kDevice;
  sync_ = last || parallel().sync;
  post_order_.clear();
  for (Handle& h : handles_) {
    h.needs_forward = true;
    // The root's pre-forward drops a flat gradient whose original parameters have none any more.
    if (std::none_of(h.sharded.begin(), h.sharded.end(), [](const Leaf& l) { return static_cast<bool>(l.grad); })) h.flat_grad.reset();
  }
  PreForward(root());
  const DType low = parallel().param_dtype;
  for (const TensorId t : network().inputs) {
    Value& v = c_.resident[static_cast<size_t>(t)];
    if (low == DType::kUndefined || !v || !IsFloating(v.dtype()) || v.dtype() == low) continue;
    plain_inputs_.emplace_back(static_cast<size_t>(t), v);
    v = rt_.EmptyLike(v, low);
  }
}

void Fsdp1::Enter(CallId call, ValueTable& table) {
  PreForward(UnitOf(call));
  PassInputs(call, table, parallel().param_dtype, false);
}

void Fsdp1::Leave(CallId call, ValueTable& table) {
  RestoreInputs(call, table);
  PostForward(UnitOf(call));
  for (const TensorId t : Edges(call).out) HookOutput(UnitOf(call), table[static_cast<size_t>(t)]);
}

Value Fsdp1::EndForward(Value out) {
  PostForward(root());
  HookOutput(root(), out);
  for (auto& [t, v] : plain_inputs_) c_.resident[t] = std::move(v);
  plain_inputs_.clear();
  seen_forward_ = true;
  if (!rt_.grad_enabled()) EndBackward(true);
  return out;
}

// ---- backward

void Fsdp1::PreBackward(size_t unit) {
  Handle& h = handles_[unit];
  if (h.params.empty() || h.ran_pre_backward) return;
  if (h.needs_backward && !h.prefetched) Unshard(h);
  h.needs_backward = false;
  if (Mode() == "BACKWARD_PRE") PrefetchBackward(h);
  h.ran_pre_backward = true;
}

void Fsdp1::PrefetchBackward(const Handle& h) {
  if (h.index == 0 || h.index > post_order_.size()) return;
  Handle& next = handles_[post_order_[h.index - 1]];
  if (!next.needs_backward || next.prefetched) return;
  Unshard(next);
  next.prefetched = true;
}

void Fsdp1::GradReady(Leaf& leaf) {
  for (Handle& h : handles_) {
    if (&h.leaf != &leaf) continue;
    Reshard(h, FreesInBackward());
    if (Mode() == "BACKWARD_POST") PrefetchBackward(h);
    if (sync_) Reduce(h);
    return;
  }
}

void Fsdp1::Reduce(Handle& h) {
  const OnStream stream(rt_, kPostBackward);
  rt_.recorder().op = "reduce_grad";
  const DType type = parallel().reduce_dtype != DType::kUndefined ? parallel().reduce_dtype : h.seen;
  const Value computed = std::exchange(h.leaf.grad, Value());
  const Value cast = computed.dtype() == type ? computed : rt_.EmptyLike(computed, type);
  if (!shards_) return KeepSharded(h, cast);
  const Value padded = h.shard * ranks_ == h.elements ? cast : Flat(h.shard * ranks_, type, Category::kCommunication);
  KeepSharded(h, Flat(h.shard, type, Category::kGradients, "sharded gradient of a unit"));
}

// The reduced gradient in the parameter's own type; one that is there already is added to.
void Fsdp1::KeepSharded(Handle& h, Value gradient) {
  if (gradient.dtype() != h.stored) {
    const Value wide = Flat(h.shard, h.stored, Category::kGradients, "sharded gradient of a unit");
    gradient = wide;
  }
  if (parallel().offload) {
    const OnHost host(rt_, true);
    gradient = rt_.EmptyLike(gradient);
  }
  const bool there = std::any_of(h.sharded.begin(), h.sharded.end(), [](const Leaf& l) { return static_cast<bool>(l.grad); });
  if (there) return;
  if (orig_) h.flat_grad = gradient;
  for (Leaf& leaf : h.sharded) leaf.grad = rt_.View(gradient, leaf.value.sizes(), leaf.value.strides());
}

void Fsdp1::EndBackward(bool) {
  for (Handle& h : handles_) {
    if (h.unsharded) Reshard(h, FreesInBackward());
    h.ran_pre_backward = h.needs_backward = h.prefetched = false;
  }
  ClearHooks();
}

// With flat parameters all ranks are equal; original parameters fall into ranges of different sizes.
std::vector<std::vector<int64_t>> Signatures(const Network& network, const Job& job) {
  const Parallel& p = job.parallel;
  std::vector<std::vector<int64_t>> signatures(static_cast<size_t>(p.world()));
  if (!p.use_orig_params || p.strategy == "NO_SHARD") return signatures;
  const absl::StatusOr<std::vector<Unit>> units = UnitsOf(network, p);
  if (!units.ok()) return signatures;
  const int64_t align = std::max<int64_t>(kAlignment / BytesOf(ParameterType(job.precision)), 1);
  for (const Unit& unit : *units) {
    std::vector<Range> ranges;
    int64_t elements = 0;
    for (const ParamId id : unit.params) {
      elements = CeilDiv(elements, align) * align;
      ranges.push_back({elements, elements + NumElements(network.params[static_cast<size_t>(id)].dims)});
      elements = ranges.back().end;
    }
    const int64_t shard = CeilDiv(elements, p.data);
    for (size_t r = 0; r < signatures.size(); ++r) {
      const int64_t first = static_cast<int64_t>(r) % p.data * shard;
      for (const Range& range : ranges) {
        const int64_t own = Intersection(range, {first, first + shard}).size();
        if (own > 0) signatures[r].push_back(own);
      }
      signatures[r].push_back(-1);
    }
  }
  return signatures;
}

std::vector<Division> Divisions(const Job& job) {
  if (job.parallel.strategy == "NO_SHARD") {
    return {{Category::kParameters, "nothing: whole on every rank"},
            {Category::kGradients, "nothing: whole on every rank"},
            {Category::kOptimizerState, "nothing: whole on every rank"},
            kOwnBatch};
  }
  return {{Category::kParameters, "data ranks, rounded up"},
          {Category::kGradients, "data ranks once reduced; a unit's are whole until then"},
          {Category::kOptimizerState, "data ranks"},
          {Category::kCommunication, "nothing: whole units, gathered or being reduced"},
          kOwnBatch};
}

std::unique_ptr<ParallelEngine> Make(const EngineContext& context) { return std::make_unique<Fsdp1>(context); }

}  // namespace

void RegisterFsdp1(EngineRegistry& registry) {
  EngineEntry e;
  e.name = "fsdp1";
  e.make = Make;
  e.signatures = Signatures;
  e.check = CheckUnits;
  e.divisions = Divisions;
  e.doc = "FullyShardedDataParallel: flat parameters per unit, sharded, gathered and reduced";
  registry.Add(e);
}

}  // namespace memcrest
