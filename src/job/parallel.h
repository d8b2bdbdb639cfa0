// How a job is spread over devices: the message `parallel` of a job.
//
// Takes: nothing.  Gives: Parallel with the defaults of the frameworks it names (PyTorch 2.14, DeepSpeed 0.17, Megatron
// core). Fields stand under the engine that reads them; other engines ignore them.
#ifndef MEMCREST_JOB_PARALLEL_H_
#define MEMCREST_JOB_PARALLEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/job/setting.h"

namespace memcrest {

enum class Engine : uint8_t { kSingle, kDdp, kZero1, kFsdp2, kFsdp1, kDeepSpeed, kTensor, kPipeline, kMegatron };
enum class Schedule : uint8_t { kGpipe, k1F1B, kInterleaved1F1B, kLoopedBfs, kInterleavedZb, kZbv, kDualPipeV };

// DeepSpeed's offload_optimizer and offload_param.
struct OffloadTo {
  std::string device = "none";  // none, cpu, nvme
  bool pin_memory = false;
};

// DeepSpeed's zero_optimization block, with its defaults.
struct ZeroOptimization {
  std::optional<int64_t> stage;  // the same as Parallel::zero
  int64_t allgather_bucket_size = 500000000;
  bool allgather_partitions = true;
  int64_t reduce_bucket_size = 500000000;
  bool reduce_scatter = true;
  bool contiguous_gradients = true;
  std::optional<bool> overlap_comm;  // true in stage 3 only
  bool round_robin_gradients = false;
  int64_t sub_group_size = 1000000000;
  int64_t stage3_max_live_parameters = 1000000000;
  int64_t stage3_max_reuse_distance = 1000000000;
  int64_t stage3_prefetch_bucket_size = 50000000;
  int64_t stage3_param_persistence_threshold = 100000;
  int64_t zero_hpz_partition_size = 1;
  std::optional<OffloadTo> offload_optimizer;
  std::optional<OffloadTo> offload_param;
};

struct Parallel {
  Engine engine = Engine::kSingle;
  int64_t data = 1, tensor = 1, pipeline = 1, context = 1, expert = 1;  // ranks along each axis
  int64_t replicate = 1;                                                // hybrid sharding: groups that hold copies
  int64_t zero = 0;                                                     // stage 0..3
  // Modules that are units of their own; not given: the repeated blocks; empty: the whole network is one unit.
  std::optional<std::vector<std::string>> wrap;

  // ddp
  double bucket_cap_mb = 25;
  bool gradient_as_bucket_view = false;
  bool find_unused_parameters = false;
  bool static_graph = false;
  Setting hook;      // "bf16", "fp16": compression of gradients
  bool sync = true;  // false: no_sync() in all micro-batches but the last
  // zero1: ZeroRedundancyOptimizer
  bool parameters_as_bucket_view = false;
  // fsdp1, fsdp2
  std::string strategy = "FULL_SHARD";  // FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD (fsdp1)
  DType param_dtype = DType::kUndefined;  // undefined: as stored
  DType reduce_dtype = DType::kUndefined;
  DType output_dtype = DType::kUndefined;  // of the root's outputs (fsdp2)
  Setting reshard;       // reshard_after_forward: true, false or a group size
  Setting root_reshard;  // the same for the root
  bool reshard_after_backward = true;
  Setting forward_prefetch;   // fsdp1: bool; fsdp2: how many units
  Setting backward_prefetch;  // fsdp1: BACKWARD_PRE, BACKWARD_POST, none; fsdp2: how many units
  bool limit_all_gathers = true;
  bool use_orig_params = false;
  bool offload = false;          // parameters, gradients and states in host memory
  int64_t group_every = 1;       // fsdp2: so many matched modules form one unit
  // deepspeed
  ZeroOptimization zero_optimization;
  DType dtype = DType::kUndefined;             // its bf16 or fp16 block; undefined: fp32
  DType grad_accum_dtype = DType::kUndefined;  // data_types.grad_accum_dtype
  double clip = 0;                             // gradient_clipping; 0: none
  bool zero_init = false;                      // deepspeed.zero.Init around the construction
  // tensor, megatron
  bool sequence_parallel = false;
  bool loss_parallel = false;
  std::string recompute;  // "", selective, full (megatron)
  bool distributed_optimizer = true;
  // pipeline
  Schedule schedule = Schedule::k1F1B;
  int64_t microbatches = 1;
  int64_t virtual_stages = 1;  // `virtual` in files: stages on each rank
  bool hold_sends = false;     // sent activations live until their send is waited for
  bool return_outputs = false;

  int64_t world() const { return data * tensor * pipeline * context * replicate; }
};

const char* NameOf(Engine value);
const char* NameOf(Schedule value);

}  // namespace memcrest

#endif  // MEMCREST_JOB_PARALLEL_H_
