// How an operator runs: autocast first, then autograd, then its kernel; PyTorch's dispatch order.
#include <utility>

#include "src/eager/eager.h"
#include "src/eager/region.h"

namespace memcrest {
namespace {

bool Eligible(const Value& v) { return v && IsFloating(v.dtype()) && v.dtype() != DType::kFloat64; }

DType Widest(absl::Span<const Value> inputs, DType low) {
  DType widest = low;
  for (const Value& v : inputs) {
    if (Eligible(v)) widest = Promote(widest, v.dtype());
  }
  return widest;
}

// Restores a flag at the end of scope.
template <typename T>
class Restore {
 public:
  Restore(T& place, T value) : place_(place), old_(std::exchange(place, std::move(value))) {}
  ~Restore() { place_ = std::move(old_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T old_;
};

}  // namespace

void Eager::ExitAutocast() {
  autocast_copies_.clear();
  autocast_on_ = false;
}

// A cast as autocast makes it: copies of trainable leaves are kept for the next user until autocast is left.
Value Eager::CachedCast(const Value& v, DType to) {
  const bool cacheable = autocast_cache_ && to == autocast_ && v.dtype() == DType::kFloat32 && v.impl()->leaf != nullptr && !v.impl()->is_view;
  if (cacheable) {
    if (const auto found = autocast_copies_.find(v.impl()); found != autocast_copies_.end()) return found->second.second;
  }
  const OpEntry& to_op = Named("to");
  Attrs attrs{{Key::kDtype, to}};
  auto own = std::make_shared<const Attrs>(std::move(attrs));
  const Value copy = Dispatch(to_op, absl::MakeConstSpan(&v, 1), *own, {}, own)[0];
  if (cacheable) autocast_copies_.emplace(v.impl(), std::make_pair(v, copy));
  return copy;
}

absl::InlinedVector<Value, 4> Eager::CastInputs(const OpEntry& op, absl::Span<const Value> inputs) {
  absl::InlinedVector<Value, 4> cast(inputs.begin(), inputs.end());
  const DType to = op.autocast == Autocast::kLower ? autocast_ : op.autocast == Autocast::kFloat32 ? DType::kFloat32 : Widest(inputs, autocast_);
  const auto cast_one = [&](Value& v) {
    if (Eligible(v) && v.dtype() != to) v = CachedCast(v, to);
  };
  // The casts are arguments of one C++ call, which the compiler evaluates last to first; lists of tensors are cast in their order.
  const absl::string_view name = op.name;
  if (name == "cat" || name == "stack") {
    for (Value& v : cast) cast_one(v);
  } else {
    for (size_t i = cast.size(); i-- > 0;) cast_one(cast[i]);
  }
  return cast;
}

Values Eager::Run(const OpEntry& op, absl::Span<const Value> inputs, const Attrs& attrs, absl::Span<const Dims* const> hints) {
  return Dispatch(op, inputs, attrs, hints, nullptr);
}

Values Eager::CallAll(absl::string_view op, absl::Span<const Value> inputs, Attrs attrs, absl::Span<const Dims* const> hints) {
  auto own = std::make_shared<const Attrs>(std::move(attrs));
  return Dispatch(Named(op), inputs, *own, hints, own);
}

Value Eager::Call(absl::string_view op, absl::Span<const Value> inputs, Attrs attrs, const Dims* hint) {
  return std::move(CallAll(op, inputs, std::move(attrs), absl::MakeConstSpan(&hint, 1))[0]);
}

Values Eager::Dispatch(const OpEntry& op, absl::Span<const Value> inputs, const Attrs& attrs, absl::Span<const Dims* const> hints,
                       std::shared_ptr<const Attrs> own) {
  if (own == nullptr && outer_attrs_.get() == &attrs) own = outer_attrs_;
  const Restore<std::shared_ptr<const Attrs>> outer(outer_attrs_, own);
  if (autocast_on_ && op.autocast != Autocast::kPlain) {
    const Restore<bool> off(autocast_on_, false);  // what runs below a listed operator is not cast again
    if (op.autocast == Autocast::kSetDtype) {
      if (inputs.empty() || !Eligible(inputs[0]) || attrs.Has(Key::kDtype)) return Dispatch(op, inputs, attrs, hints, std::move(own));
      Attrs typed = attrs;
      typed.Set(Key::kDtype, DType::kFloat32);
      auto kept = std::make_shared<const Attrs>(std::move(typed));
      return Dispatch(op, inputs, *kept, hints, kept);
    }
    const absl::InlinedVector<Value, 4> cast = CastInputs(op, inputs);
    return Dispatch(op, cast, attrs, hints, std::move(own));
  }
  const Restore<const char*> named(recorder_.op, op.name);
  OpCall call(op, attrs, inputs, hints);
  if (!op.composite && op.differentiable && grad_enabled_) {
    call.need.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      call.need[i] = inputs[i] && inputs[i].requires_grad();
      call.recorded = call.recorded || call.need[i];
    }
    if (!call.recorded) call.need.clear();
  }
  RunKernel(call);
  if (call.recorded) Record(call, attrs, std::move(own));
  Values out(call.out.begin(), call.out.end());
  return out;
}

// The kernel itself. Inside a region with a save policy the results of some operators are kept, and taken the second time.
void Eager::RunKernel(OpCall& call) {
  Region* const region = call.op.composite ? nullptr : region_;
  const bool kept = region != nullptr && region->keep != nullptr && !stopped_ && region->keep->Keeps(call);
  if (kept && region->recomputing) return TakeKept(call, *region);
  call.op.forward(*this, call);
  if (kept) {
    std::vector<Value>& results = region->kept.emplace_back();
    for (const Value& v : call.out) results.push_back(v ? NewTensor(v.impl()->storage, v.meta_ref(), true) : Value());
  }
  if (observer == nullptr || call.op.composite || recorder_.muted) return;
  // After an early stop nothing has bytes any more; an operator that stopped at its own result has run.
  if (!stopped_ || (!call.out.empty() && call.out[0] && call.out[0].storage()->bytes > 0)) observer->Forward(call);
}

// The operator is not run again: what it saves is saved, and its results are the kept ones.
void Eager::TakeKept(OpCall& call, Region& region) {
  const uint32_t filled = region.filled;
  {
    const Restore<bool> muted(recorder_.muted, true);
    call.op.forward(*this, call);
  }
  if (region.taken >= region.kept.size()) return;
  std::vector<Value>& results = region.kept[region.taken++];
  for (size_t i = 0; i < call.out.size() && i < results.size(); ++i) {
    if (!call.out[i] || !results[i]) continue;
    Ref<Storage> empty = std::exchange(call.out[i].impl()->storage, results[i].impl()->storage);
    for (size_t slot = filled; slot < region.filled && slot < region.slots.size(); ++slot) {
      Value& v = region.slots[slot];
      if (v && v.impl()->storage == empty) v.impl()->storage = results[i].impl()->storage;
    }
  }
  results.clear();
}

void OpCall::Save(Eager& rt, size_t slot, const Value& value) {
  if (!recorded || !value || rt.stopped_) return;
  if (saved.size() <= slot) saved.resize(slot + 1);
  saved[slot] = rt.Pack(value);
}

void Eager::Record(OpCall& call, const Attrs& attrs, std::shared_ptr<const Attrs> own) {
  if (stopped_) return;
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (!call.out[i] || (i < 32 && (call.non_differentiable >> i & 1u) != 0) || !IsDifferentiable(call.out[i].dtype())) continue;
    call.out[i].impl()->requires_grad = true;
  }
  if (region_ != nullptr && (region_->recomputing || region_->discard)) return;  // the throw-away graph of a recomputation
  TapeNode* node = new TapeNode;
  const Ref<TapeNode> ref(node);
  node->seq = next_seq_++;
  node->op = &call.op;
  node->attrs = &attrs;
  node->own_attrs = std::move(own);
  node->node = recorder_.node;
  node->call = recorder_.call;
  node->saved = std::move(call.saved);
  node->next.resize(call.in.size());
  node->in.resize(call.in.size());
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!call.in[i]) continue;
    TensorImpl* impl = call.in[i].impl();
    node->in[i] = impl->meta;
    if (!call.need[i]) continue;
    if (impl->grad_fn) {
      node->next[i] = Edge{impl->grad_fn, impl->output_nr};
    } else if (impl->leaf != nullptr) {
      if (impl->leaf->accumulate == nullptr) {
        TapeNode* accumulate = new TapeNode;
        accumulate->leaf = impl->leaf;
        accumulate->seq = UINT64_MAX;  // runs as soon as it is ready
        accumulate->out.push_back(impl->meta);
        if (impl->leaf->activation) accumulate->saved.push_back(call.in[i]);  // AccumulateGrad::variable
        impl->leaf->accumulate = accumulate;
      }
      node->next[i] = Edge{Ref<TapeNode>(impl->leaf->accumulate), 0};
    }
  }
  for (size_t i = 0; i < call.out.size(); ++i) {
    node->out.push_back(call.out[i] ? call.out[i].meta_ref() : MetaRef());
    if (!call.out[i] || !call.out[i].requires_grad()) continue;
    call.out[i].impl()->grad_fn = ref;
    call.out[i].impl()->output_nr = static_cast<uint16_t>(i);
  }
}

}  // namespace memcrest
