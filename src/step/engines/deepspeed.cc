// DeepSpeed ZeRO 1 and 2 (deepspeed/runtime/zero/stage_1_and_2.py, 0.19; names are its own): trainable parameters are views of
// one flat 16-bit buffer, cut into equal partitions; a rank keeps the fp32 copy and the optimizer's state of its own.
//
// Gradients go through the IPG bucket (reduce_bucket_size elements, whatever the network's size), which lives from the first
// gradient of a backward to its end: stage 2 (or overlap_comm) as they arrive, stage 1 all of them after backward. A bucket is
// reduced through flat copies of its parts by owner. Whole parameters that touch the own partition keep their gradient until
// the step, which takes a norm in fp64, then an fp32 gradient of the partition.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/shard/partition.h"
#include "src/step/engine.h"
#include "src/step/optimizer.h"

namespace memcrest {
namespace {

constexpr int64_t kStartAlignment = 2;  // elements: nccl_start_alignment_factor

// Where the parameters of a flat buffer lie and which part of it a rank owns.
struct FlatLayout {
  std::vector<Range> ranges;
  int64_t partition = 0;  // elements of a rank
};

FlatLayout LayOut(absl::Span<const int64_t> elements, int64_t ranks) {
  FlatLayout layout;
  int64_t at = 0;
  for (const int64_t n : elements) {
    layout.ranges.push_back({at, at + n});
    at += n;
  }
  layout.partition = CeilDiv(at, kStartAlignment * ranks) * kStartAlignment;
  return layout;
}

class DeepSpeed12 final : public ParallelEngine {
 public:
  explicit DeepSpeed12(const EngineContext& context)
      : ParallelEngine(context), ranks_(parallel().data), partitions_gradients_(parallel().zero == 2),
        overlap_(parallel().zero_optimization.overlap_comm.value_or(false)),
        offload_(parallel().zero_optimization.offload_optimizer.has_value() &&
                 parallel().zero_optimization.offload_optimizer->device != "none"),
        zero_(parallel().zero_optimization) {}

  Value MakeParameter(ParamId id, Leaf* leaf, DType type) override;
  void Wrap() override;
  std::vector<Leaf*> Optimized() override;
  void BeginForward(bool last) override;
  void GradReady(Leaf& leaf) override;
  void EndBackward(bool last) override;
  bool Step() override;
  void AfterStep() override { master_.grad.reset(); }
  void ZeroGrad() override {}

 private:
  void SetUpBuckets();
  void Collect(size_t param);
  void ReduceBucket();
  void ReduceParts();
  void ReduceWhole();
  void KeepInPartition(size_t param);
  void Release();
  bool Owns(size_t param) const { return Intersection(layout_.ranges[param], Own()).size() > 0; }
  Range Own() const { return {c_.rank % ranks_ * layout_.partition, (c_.rank % ranks_ + 1) * layout_.partition}; }

  const int64_t ranks_;
  const bool partitions_gradients_, overlap_, offload_;
  const ZeroOptimization& zero_;
  FlatLayout layout_;
  DType type_ = DType::kUndefined;
  Value flat_, gpu_staging_;
  Leaf master_;                       // the fp32 partition
  std::vector<Value> ipg_;            // one bucket buffer, two with overlap_comm
  size_t ipg_index_ = 0;
  int64_t ipg_elements_ = 0;
  std::vector<size_t> ipg_params_;
  bool ready_ = false, last_ = true;
  Value gradients_in_partition_;
  int64_t partition_offset_ = 0;
  std::vector<Value> own_gradients_;
  std::vector<size_t> index_of_;      // by ParamId
};

Value DeepSpeed12::MakeParameter(ParamId id, Leaf* leaf, DType type) {
  const DType seen = IsFloating(type) && parallel().dtype != DType::kUndefined ? parallel().dtype : type;
  if (leaf == nullptr) return ParallelEngine::MakeParameter(id, leaf, seen);
  const int64_t nothing[] = {0};  // Wrap() gives it its place in the flat buffer
  const Value v = rt_.MakeLeaf(leaf, nothing, seen, Category::kParameters, true);
  v.impl()->meta = MakeMeta(param(id).dims, ContiguousStrides(param(id).dims), seen);
  type_ = seen;
  return v;
}

void DeepSpeed12::Wrap() {
  std::vector<int64_t> elements;
  index_of_.assign(network().params.size(), 0);
  for (const auto& leaf : c_.leaves) {
    index_of_[static_cast<size_t>(leaf->param)] = elements.size();
    elements.push_back(leaf->value.elements());
  }
  layout_ = LayOut(elements, ranks_);
  flat_ = Flat(layout_.partition * ranks_, type_, Category::kParameters, "16-bit parameters, flat");
  for (const auto& leaf : c_.leaves) leaf->value.impl()->storage = flat_.impl()->storage;
  if (offload_) rt_.recorder().place = Place::kHost;
  const int64_t sizes[] = {layout_.partition};
  master_.value = rt_.MakeResident(sizes, DType::kFloat32, Category::kOptimizerState);
  Name(master_.value, "fp32 copy of the own partition");
  master_.param = c_.leaves.empty() ? 0 : c_.leaves[0]->param;
  if (!offload_) return;
  Flat(layout_.partition, type_, Category::kOptimizerState);
  rt_.recorder().place = Place::kDevice;
  const int64_t largest = elements.empty() ? 0 : *std::max_element(elements.begin(), elements.end());
  gpu_staging_ = Flat(largest, type_, Category::kCommunication, "staging buffer of the largest gradient");
}

std::vector<Leaf*> DeepSpeed12::Optimized() {
  if (offload_) rt_.recorder().place = Place::kHost;
  return {&master_};
}

void DeepSpeed12::BeginForward(bool last) {
  rt_.recorder().place = Place::kDevice;
  last_ = last;
}

// ---- gradients

void DeepSpeed12::SetUpBuckets() {
  if (ready_) return;
  ready_ = true;
  if (!zero_.contiguous_gradients) return;
  rt_.recorder().op = "setup_buckets";
  for (int i = 0; i < (overlap_ ? 2 : 1); ++i) {
    ipg_.push_back(Flat(zero_.reduce_bucket_size, type_, Category::kCommunication, "IPG bucket (reduce_bucket_size)"));
  }
}

void DeepSpeed12::GradReady(Leaf& leaf) {
  SetUpBuckets();
  if (partitions_gradients_ || (overlap_ && last_)) Collect(index_of_[static_cast<size_t>(leaf.param)]);
}

// reduce_independent_p_g_buckets_and_remove_grads
void DeepSpeed12::Collect(size_t param) {
  Leaf& leaf = *c_.leaves[param];
  const int64_t n = leaf.value.elements();
  if (n == 0 || !leaf.grad) return;
  if (ipg_elements_ + n > zero_.reduce_bucket_size) {
    ReduceBucket();
    if (zero_.contiguous_gradients && overlap_) ipg_index_ = 1 - ipg_index_;
  }
  if (zero_.contiguous_gradients && n <= zero_.reduce_bucket_size) {  // larger ones are reduced where they are
    leaf.grad = rt_.View(ipg_[ipg_index_], leaf.value.sizes(), leaf.value.strides());
  }
  ipg_elements_ += n;
  ipg_params_.push_back(param);
}

// average_tensor: the bucket's parts by owner, flattened until more than a bucket's elements are together.
void DeepSpeed12::ReduceParts() {
  std::vector<std::pair<int64_t, int64_t>> parts;  // owner, elements
  for (const size_t p : ipg_params_) {
    const Range range = layout_.ranges[p];
    for (int64_t owner = range.begin / layout_.partition; owner < ranks_; ++owner) {
      const int64_t n = Intersection(range, {owner * layout_.partition, (owner + 1) * layout_.partition}).size();
      if (n == 0) break;
      if (!parts.empty() && parts.back().first == owner) {
        parts.back().second += n;
      } else {
        parts.emplace_back(owner, n);
      }
    }
  }
  int64_t elements = 0;
  size_t together = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    elements += parts[i].second;
    ++together;
    if (elements <= zero_.reduce_bucket_size && i + 1 < parts.size()) continue;
    if (together > 1) Flat(elements, type_, Category::kCommunication);  // one tensor is its own flat form
    elements = 0;
    together = 0;
  }
}

// Without contiguous gradients all of the bucket's tensors are flattened together.
void DeepSpeed12::ReduceWhole() {
  if (ipg_params_.size() > 1) Flat(ipg_elements_, type_, Category::kCommunication);
}

void DeepSpeed12::ReduceBucket() {
  rt_.recorder().op = "reduce_ipg_grads";
  if (zero_.contiguous_gradients) {
    ReduceParts();
  } else {
    ReduceWhole();
  }
  for (const size_t p : ipg_params_) {
    if (Owns(p)) {
      if (zero_.contiguous_gradients) KeepInPartition(p);
    } else if (partitions_gradients_) {
      c_.leaves[p]->grad.reset();
    }
  }
  ipg_params_.clear();
  ipg_elements_ = 0;
}

// copy_grads_in_partition
void DeepSpeed12::KeepInPartition(size_t param) {
  Leaf& leaf = *c_.leaves[param];
  if (offload_) {
    Flat(Intersection(layout_.ranges[param], Own()).size(), DType::kFloat64, Category::kTemporaries);  // its norm
    if (partitions_gradients_) leaf.grad.reset();
    return;
  }
  if (!gradients_in_partition_) {
    int64_t total = 0;
    for (size_t p = 0; p < c_.leaves.size(); ++p) total += Owns(p) ? c_.leaves[p]->value.elements() : 0;
    gradients_in_partition_ = Flat(total, type_, Category::kGradients, "gradients of the own partition's parameters");
  }
  leaf.grad = rt_.View(gradients_in_partition_, leaf.value.sizes(), leaf.value.strides());
}

// independent_gradient_partition_epilogue
void DeepSpeed12::Release() {
  ReduceBucket();
  if (!offload_ && own_gradients_.empty()) {  // later micro-batches are added to them
    for (size_t p = 0; p < c_.leaves.size(); ++p) {
      if (Owns(p) && c_.leaves[p]->grad) own_gradients_.push_back(c_.leaves[p]->grad);
    }
  }
  for (const auto& leaf : c_.leaves) leaf->grad.reset();
  gradients_in_partition_.reset();
  ipg_.clear();
  ipg_index_ = 0;
  ready_ = false;
}

void DeepSpeed12::EndBackward(bool last) {
  if (!partitions_gradients_ && !last) return;  // stage 1 reduces once a step
  if (!partitions_gradients_ && !overlap_) {
    for (size_t p = 0; p < c_.leaves.size(); ++p) Collect(p);
  }
  Release();
}

// ---- the step

bool DeepSpeed12::Step() {
  const int64_t sizes[] = {layout_.partition};
  if (offload_) {
    rt_.recorder().place = Place::kHost;
    master_.grad = rt_.MakeResident(sizes, DType::kFloat32, Category::kGradients);
    return false;
  }
  rt_.recorder().op = "scaled_global_norm";
  size_t pieces = 0;
  int64_t filled = 0;
  for (const Range& range : layout_.ranges) {
    const int64_t n = Intersection(range, Own()).size();
    if (n == 0) continue;
    Flat(n, DType::kFloat64, Category::kTemporaries);
    filled += n;
    ++pieces;
  }
  if (filled < layout_.partition) ++pieces;  // zeros at the end
  rt_.recorder().op = "step";
  Value flat = pieces > 1 ? Flat(layout_.partition, type_, Category::kGradients) : Value();
  master_.grad = rt_.MakeResident(sizes, DType::kFloat32, Category::kGradients);
  flat.reset();
  own_gradients_.clear();
  return false;
}

// ---- registration

std::vector<std::vector<int64_t>> Signatures(const Network& network, const Job& job) {
  std::vector<int64_t> elements;
  for (const ParamId p : TrainableParams(network, job)) elements.push_back(NumElements(network.params[static_cast<size_t>(p)].dims));
  const FlatLayout layout = LayOut(elements, job.parallel.data);
  std::vector<std::vector<int64_t>> signatures(static_cast<size_t>(job.parallel.data));
  for (size_t r = 0; r < signatures.size(); ++r) {
    const int64_t first = static_cast<int64_t>(r) * layout.partition;
    for (size_t p = 0; p < elements.size(); ++p) {
      const int64_t own = Intersection(layout.ranges[p], {first, first + layout.partition}).size();
      if (own > 0) signatures[r].insert(signatures[r].end(), {elements[p], own});
    }
  }
  return signatures;
}

std::vector<Division> Divisions(const Job& job) {
  return {{Category::kParameters, "nothing: 16-bit parameters are whole"},
          {Category::kGradients, job.parallel.zero == 2 ? "data ranks, in whole parameters that touch the partition"
                                                        : "nothing in backward; data ranks after it, in whole parameters"},
          {Category::kOptimizerState, "data ranks (with the fp32 copy)"},
          {Category::kCommunication, "nothing: IPG bucket of reduce_bucket_size elements"},
          kOwnBatch};
}

std::unique_ptr<ParallelEngine> Make(const EngineContext& context) { return std::make_unique<DeepSpeed12>(context); }

}  // namespace

void RegisterDeepspeed(EngineRegistry& registry) {
  EngineEntry e;
  e.name = "deepspeed";
  e.make = Make;
  e.signatures = Signatures;
  e.divisions = Divisions;
  e.doc = "DeepSpeed ZeRO 1 and 2: flat 16-bit parameters, partitioned state, IPG bucket";
  registry.Add(e);
}

}  // namespace memcrest
