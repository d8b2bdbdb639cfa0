#include "src/step/engines/ddp.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/shard/partition.h"

namespace memcrest {
namespace {

constexpr Bytes kFirstBucket = Bytes{1} << 20;   // dist._DEFAULT_FIRST_BUCKET_BYTES
constexpr double kDefaultCap = 25;               // MiB, bucket_cap_mb
constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();

// A cap of the user's own is the first bucket's too.
std::vector<Bytes> Limits(const Parallel& p) {
  const Bytes cap = static_cast<Bytes>(p.bucket_cap_mb * static_cast<double>(kFirstBucket));
  if (p.bucket_cap_mb != kDefaultCap) return {cap};
  return {kFirstBucket, cap};
}

}  // namespace

size_t Ddp::IndexOf(const Leaf& leaf) const { return index_of_[static_cast<size_t>(leaf.param)]; }

void Ddp::Wrap() {
  std::vector<Leaf*> order;
  index_of_.assign(network().params.size(), 0);
  for (const auto& leaf : c_.leaves) {
    index_of_[static_cast<size_t>(leaf->param)] = order.size();
    order.push_back(leaf.get());
  }
  const Bytes none[] = {kNoLimit};
  const bool fixed = parallel().find_unused_parameters && !parallel().static_graph;
  const std::vector<Bytes> limits = Limits(parallel());
  MakeBuckets(order, fixed ? absl::MakeConstSpan(limits) : absl::MakeConstSpan(none), true);
  rebuilt_ = fixed;
}

// One set of buckets per element type; `reversed`: the constructor's assignment, used from its end.
void Ddp::MakeBuckets(const std::vector<Leaf*>& order, absl::Span<const Bytes> limits, bool reversed) {
  buckets_.clear();
  places_.assign(c_.leaves.size(), Place{});
  std::map<DType, std::vector<Leaf*>> by_type;
  for (Leaf* leaf : order) by_type[leaf->value.dtype()].push_back(leaf);
  for (const auto& [dtype, leaves] : by_type) {
    std::vector<Bytes> sizes;
    for (const Leaf* leaf : leaves) sizes.push_back(leaf->value.bytes());
    std::vector<std::vector<size_t>> assigned = Buckets(sizes, limits);
    if (reversed) std::reverse(assigned.begin(), assigned.end());
    for (const std::vector<size_t>& members : assigned) {
      int64_t elements = 0;
      for (const size_t m : members) {
        places_[IndexOf(*leaves[m])] = {buckets_.size(), elements};
        elements += leaves[m]->value.elements();
      }
      const std::string name = absl::StrCat("DDP bucket ", buckets_.size());
      buckets_.push_back({Flat(elements, dtype, Category::kCommunication, name), members.size(), 0});
    }
  }
}

// _sync_module_states of every synced forward: rank 0's buffers, coalesced into one flat tensor per type.
void Ddp::SyncBuffers() {
  std::map<DType, std::pair<int64_t, int>> coalesced;
  for (const Param& p : network().params) {
    if (!p.buffer) continue;
    coalesced[p.stored].first += NumElements(p.dims);
    ++coalesced[p.stored].second;
  }
  for (const auto& [dtype, total] : coalesced) {
    if (total.second > 1) Flat(total.first, dtype, Category::kCommunication);
  }
}

void Ddp::BeginForward(bool last) {
  const bool synced_before = syncs_;
  syncs_ = last || parallel().sync;
  if (!rebuilt_ && synced_before && arrival_.size() == c_.leaves.size() && !arrival_.empty() && syncs_) {
    rebuilt_ = true;
    MakeBuckets(arrival_, Limits(parallel()), false);
  }
  for (Bucket& b : buckets_) b.arrived = 0;
  if (syncs_) SyncBuffers();
}

// With unused parameters outputs pass through _DDPSink, whose gradient starts the search for them; it clones what it is given.
Value Ddp::EndForward(Value out) {
  const bool sink = parallel().find_unused_parameters && !parallel().static_graph && syncs_ && rt_.grad_enabled();
  return sink && out ? rt_.Call("clone", {out}) : out;
}

void Ddp::GradReady(Leaf& leaf) {
  if (!syncs_ || !leaf.grad) return;
  if (!rebuilt_ && arrival_.size() < c_.leaves.size()) arrival_.push_back(&leaf);
  const Place& place = places_[IndexOf(leaf)];
  Bucket& bucket = buckets_[place.bucket];
  if (parallel().gradient_as_bucket_view) {
    leaf.grad = rt_.View(bucket.flat, leaf.value.sizes(), leaf.value.strides());
  }
  if (++bucket.arrived == bucket.tensors) Reduce(bucket);
}

// Without a hook the bucket is reduced in place; a compression hook sends a half-precision copy (default_hooks.py).
void Ddp::Reduce(Bucket& bucket) {
  const std::string hook = AsText(parallel().hook, "");
  if (hook.empty()) return;
  Flat(bucket.flat.elements(), hook == "fp16" ? DType::kFloat16 : DType::kBFloat16, Category::kCommunication);
}

namespace {

std::vector<Division> Divisions(const Job&) {
  return {{Category::kParameters, "nothing: every rank holds the whole model"},
          {Category::kGradients, "nothing: whole on every rank"},
          {Category::kOptimizerState, "nothing: whole on every rank"},
          {Category::kCommunication, "nothing: buckets hold every gradient once more"},
          kOwnBatch};
}

std::unique_ptr<ParallelEngine> Make(const EngineContext& context) { return std::make_unique<Ddp>(context); }

}  // namespace

void RegisterDdp(EngineRegistry& registry) {
  EngineEntry e;
  e.name = "ddp";
  e.make = Make;
  e.divisions = Divisions;
  e.doc = "DistributedDataParallel: whole model on every rank, gradients reduced in buckets";
  registry.Add(e);
}

}  // namespace memcrest
