// The virtual eager runtime: runs operators on values, keeps the tape, notes every storage that comes and goes.
//
// Takes: operators with values and attributes.  Gives: values; a Trace.  Knows nothing of networks, jobs or shards: the step
// (src/step) drives it. One instance is one process on one device; nothing here is shared between instances.
#ifndef MEMCREST_EAGER_EAGER_H_
#define MEMCREST_EAGER_EAGER_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/eager/observer.h"
#include "src/eager/op.h"
#include "src/eager/recorder.h"
#include "src/eager/trace.h"
#include "src/eager/value.h"

namespace memcrest {

struct Region;

// What of the device steers kernels: from the device profile.
struct KernelDevice {
  int sm = 90;            // compute capability x 10: 75, 80, 89, 90, 100
  int multiprocessors = 132;
  Bytes cublas_workspace = 33554432;  // per thread's handle and stream
  std::string attention = "auto";     // job's --attention
};

// A kernel's own temporary: the allocator sees it, a dispatcher does not. Freed at the end of scope.
class HiddenBlock {
 public:
  HiddenBlock() = default;
  explicit HiddenBlock(Ref<Storage> storage) : storage_(std::move(storage)) {}

 private:
  Ref<Storage> storage_;
};

using Values = absl::InlinedVector<Value, 2>;

class Eager {
 public:
  // `ops`: the operators that kernels may call by name; must outlive this.
  Eager(KernelDevice device, const OpRegistry& ops);
  ~Eager();
  Eager(const Eager&) = delete;
  Eager& operator=(const Eager&) = delete;

  // ---- operators
  // Runs one operator under the current autocast and gradient mode. `hints`: bound sizes of results, null where unknown.
  Values Run(const OpEntry& op, absl::Span<const Value> inputs, const Attrs& attrs, absl::Span<const Dims* const> hints = {});
  // The same for attributes made on the fly (kept alive by the tape); one result.
  Value Call(absl::string_view op, absl::Span<const Value> inputs, Attrs attrs = {}, const Dims* hint = nullptr);
  // The same, several results.
  Values CallAll(absl::string_view op, absl::Span<const Value> inputs, Attrs attrs = {},
                 absl::Span<const Dims* const> hints = {});

  // ---- storages: fresh tensors, no autograd
  Value Empty(DimSpan sizes, DType dtype);                          // row-major
  Value EmptyStrided(DimSpan sizes, DimSpan strides, DType dtype);  // storage spans the strides
  Value EmptyLike(const Value& like, DType dtype = DType::kUndefined);  // preserve_format
  Value EmptyLike(const Meta& like, DType dtype = DType::kUndefined);
  // Result of an element-wise kernel: broadcast sizes, TensorIterator's strides; dtype kUndefined: promoted type.
  Value Pointwise(absl::Span<const Value> operands, DType dtype = DType::kUndefined);
  HiddenBlock Hidden(Bytes bytes);
  // cuBLAS workspace of the current thread's handle on the current stream: taken at its first matrix product, kept.
  void UseCublas();

  // ---- views: same storage, no autograd
  Value View(const Value& base, DimSpan sizes, DimSpan strides);
  Value Transposed(const Value& base, int a, int b);
  Value Permuted(const Value& base, DimSpan perm);
  Value Expanded(const Value& base, DimSpan sizes);
  Value Alias(const Value& base) { return View(base, base.sizes(), base.strides()); }  // detach

  // ---- kernels, no autograd: what derivative formulas are made of
  Value Reshape(const Value& v, DimSpan sizes);                 // a view where possible, else a copy
  Value Contiguous(const Value& v);                             // itself or a row-major copy
  Value ContiguousAs(const Value& v, bool channels_last);       // itself or a copy in that memory format
  Value To(const Value& v, DType dtype);                        // itself or a cast copy
  Value Reduce(const Value& v, DimSpan axes, bool keepdim, DType dtype = DType::kUndefined);  // sum/mean/amax ... result
  Value SumTo(const Value& v, DimSpan sizes);                   // itself, or the gradient of a broadcast operand
  Value Zeros(DimSpan sizes, DType dtype) { return Empty(sizes, dtype); }
  Value Mm(const Value& a, const Value& b);                     // 2-D or batched product, fresh row-major result
  // A product whose result is laid out column-major (the transposed way PyTorch computes some gradients).
  Value MmTransposed(const Value& a, const Value& b);

  // ---- autograd
  bool grad_enabled() const { return grad_enabled_; }
  void set_grad_enabled(bool enabled) { grad_enabled_ = enabled; }
  Value MakeLeaf(Leaf* leaf, DimSpan sizes, DType dtype, Category category, bool requires_grad);
  // tensor.requires_grad_(): a leaf whose `.grad` lives as long as the graph that refers to it.
  void RequireGrad(Value& value);
  // A type without a tensor: what Python holds as `x.dtype`.
  Value TypeOnly(DType dtype) { return NewTensor(Ref<Storage>(), MakeMeta({}, {}, dtype), false); }
  // Values of inputs, labels, buffers, constants.
  Value MakeResident(DimSpan sizes, DType dtype, Category category);
  // Runs backward from a scalar loss. Calls `grad_ready(leaf)` after each accumulation.
  void Backward(Value loss);
  // Runs backward from several results and the gradients that arrived at them; also inside another backward.
  void Backward(absl::Span<const Value> results, absl::Span<const Value> gradients);
  // One tape node for a whole function whose results were made without history (torch.autograd.Function); saves all inputs.
  void RecordFunction(const OpEntry& op, absl::Span<const Value> inputs, absl::Span<Value> results);
  // detach().requires_grad_(): the same storage; its gradient will arrive in `leaf` (null: it needs none).
  Value Detached(const Value& v, Leaf* leaf);
  // What saving a tensor for backward leaves behind now: itself, a place in the region's recomputation, or a host copy.
  Saved Pack(const Value& value);
  Value Unpack(Saved& saved);    // brings it back; a null value for nothing
  void Release(Saved& saved);    // backward needs it no more
  // torch.autograd.graph.save_on_cpu: what is saved from now on goes to host memory.
  void set_offload_saved(bool offload) { offload_saved_ = offload; }
  void Retag(const Value& value, Category category);

  // ---- autocast
  void EnterAutocast(DType low, bool cache) { autocast_ = low, autocast_cache_ = cache, autocast_on_ = true; }
  void ExitAutocast();  // drops the weight cache
  bool autocast_on() const { return autocast_on_; }
  DType autocast_dtype() const { return autocast_; }

  // ---- checkpointed regions (src/eager/region.h)
  Region* region() const { return region_; }
  void set_region(Region* region) { region_ = region; }
  bool stopped() const { return stopped_; }  // an early stop was reached: nothing is allocated or recorded any more
  void set_stopped(bool stopped) { stopped_ = stopped; }

  Recorder& recorder() { return recorder_; }
  const KernelDevice& device() const { return device_; }
  // Type a model's floating constants have in this job (bf16 jobs: bfloat16 where the export says float32).
  DType default_float = DType::kFloat32;
  // Scratch a reduction kernel takes for itself (src/ops/reduce_scratch.h sets it); `axes` empty: all.
  Bytes (*reduction_scratch)(const KernelDevice& device, const Meta& input, DimSpan axes, DType result) = nullptr;
  // Called when a gradient has been accumulated into a leaf; engines and optimizer-in-backward hang here.
  void* hook_owner = nullptr;
  void (*grad_ready)(void* owner, Leaf& leaf) = nullptr;
  // Told of every kernel; null: nobody.
  KernelObserver* observer = nullptr;
  // A tape node that an engine has marked (TapeNode::hooked) is about to run: tensor hooks on what it made.
  void (*before_node)(void* owner, TapeNode& node) = nullptr;
  // An autograd function of an engine runs backward.
  void (*function_backward)(void* owner, int64_t tag) = nullptr;
  // Brings a checkpointed region's tensors back; set by the step that owns the network.
  void (*recompute)(void* owner, Region& region) = nullptr;
  // The backward of a region that was recorded as one function (reentrant checkpointing).
  void (*replay)(void* owner, GradCall& grad) = nullptr;

 private:
  friend class OpCall;
  friend class BackwardEngine;
  Value NewTensor(Ref<Storage> storage, MetaRef meta, bool is_view);
  absl::InlinedVector<Value, 4> CastInputs(const OpEntry& op, absl::Span<const Value> inputs);
  Value CachedCast(const Value& v, DType to);
  void Record(OpCall& call, const Attrs& attrs, std::shared_ptr<const Attrs> own);
  void RunKernel(OpCall& call);
  void TakeKept(OpCall& call, Region& region);
  Values Dispatch(const OpEntry& op, absl::Span<const Value> inputs, const Attrs& attrs,
                  absl::Span<const Dims* const> hints, std::shared_ptr<const Attrs> own);

  const OpEntry& Named(absl::string_view op) const {
    const OpEntry* found = ops_.Find(op);
    return found != nullptr ? *found : *ops_.Find("unknown");
  }

  const OpRegistry& ops_;
  Recorder recorder_;
  KernelDevice device_;
  bool grad_enabled_ = true;
  bool stopped_ = false;
  bool offload_saved_ = false;
  bool autocast_on_ = false, autocast_cache_ = true;
  DType autocast_ = DType::kFloat32;
  absl::flat_hash_map<const TensorImpl*, std::pair<Value, Value>> autocast_copies_;  // leaf -> (leaf, low precision copy)
  std::vector<std::unique_ptr<Leaf>> activation_leaves_;  // of RequireGrad, one for each use
  std::vector<Ref<Storage>> workspaces_;
  absl::flat_hash_map<int, bool> cublas_handles_;  // thread * 65536 + stream
  Region* region_ = nullptr;
  std::shared_ptr<const Attrs> outer_attrs_;  // of the operator that is running, where made on the fly: composites pass them on
  uint64_t next_seq_ = 1;
  uint32_t next_visit_ = 1;
};

}  // namespace memcrest

#endif  // MEMCREST_EAGER_EAGER_H_
