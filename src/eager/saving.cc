// What saving a tensor for backward means: kept, recomputed, or copied to the host (torch/csrc/autograd/saved_variable.cpp).
#include <utility>

#include "src/eager/eager.h"
#include "src/eager/region.h"

namespace memcrest {

Saved Eager::Pack(const Value& value) {
  Region* region = region_;
  if (region != nullptr && region->discard) return Saved();
  if (region != nullptr && !region->recomputing) return Recompute{Ref<Region>(region), region->saved++};
  if (region == nullptr && offload_saved_) {
    // torch.empty(size) on the host, filled by copy_: a tensor that is not contiguous is copied on the device first.
    const HiddenBlock contiguous = Hidden(IsContiguous(value) ? 0 : value.bytes());
    if (observer != nullptr) observer->HostCopy(value.bytes());
    Ref<Storage> host = recorder_.Alloc(value.bytes(), Category::kActivations, Seen::kBoth, Place::kHost);
    const MetaRef packed = MakeMeta(value.sizes(), ContiguousStrides(value.sizes()), value.dtype());
    return Offloaded{NewTensor(std::move(host), packed, false), packed};
  }
  // Parameters are kept as they are; anything else without its history: a node that owned its own result would never die.
  Value kept = value.impl()->leaf != nullptr ? value : NewTensor(value.impl()->storage, value.meta_ref(), true);
  if (region == nullptr) return kept;
  if (region->filled < region->saved && !region->dead[region->filled]) region->slots[region->filled] = std::move(kept);
  if (++region->filled >= region->saved) stopped_ = true;
  return Saved();
}

Value Eager::Unpack(Saved& saved) {
  if (const Value* v = std::get_if<Value>(&saved)) return *v;
  if (const Offloaded* away = std::get_if<Offloaded>(&saved)) {
    recorder_.op = "_to_copy";
    if (observer != nullptr) observer->HostCopy(away->host.bytes());
    return Empty(away->device_meta->sizes, away->device_meta->dtype);
  }
  const Recompute* again = std::get_if<Recompute>(&saved);
  if (again == nullptr) return Value();
  Region& region = *again->region;
  if (!region.recomputed && recompute != nullptr) {
    recompute(hook_owner, region);
    region.recomputed = true;
  }
  return again->slot < region.slots.size() ? region.slots[again->slot] : Value();
}

void Eager::Release(Saved& saved) {
  if (const Recompute* again = std::get_if<Recompute>(&saved)) {
    Region& region = *again->region;
    if (region.dead.size() < region.saved) region.dead.resize(region.saved);
    if (again->slot < region.slots.size()) region.slots[again->slot].reset();
    region.dead[again->slot] = true;
  }
  saved = std::monostate();
}

void Eager::RecordFunction(const OpEntry& op, absl::Span<const Value> inputs, absl::Span<Value> results) {
  static const Attrs kNoAttrs;
  OpCall call(op, kNoAttrs, inputs, {});
  call.need.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    call.need[i] = inputs[i] && inputs[i].requires_grad();
    call.recorded = call.recorded || call.need[i];
  }
  if (!call.recorded || !grad_enabled_) return;
  for (size_t i = 0; i < inputs.size(); ++i) call.Save(*this, i, inputs[i]);
  call.out.assign(results.begin(), results.end());
  Record(call, kNoAttrs, nullptr);
}

Value Eager::Detached(const Value& v, Leaf* leaf) {
  Value detached = NewTensor(v.impl()->storage, v.meta_ref(), false);  // not a view to autograd, nor to autocast's cache
  if (leaf == nullptr) return detached;
  detached.impl()->requires_grad = true;
  detached.impl()->leaf = leaf;
  leaf->value = detached;
  return detached;
}

}  // namespace memcrest
