// The fields of the message `parallel`.
#include "src/job/job_fields.h"

namespace memcrest {
namespace {

constexpr Field<Parallel> kParallel[] = {
    Member<&Parallel::engine>("engine", "none, ddp, zero1, fsdp2, fsdp1, deepspeed, tp, pipeline or megatron", "NAME"),
    Member<&Parallel::data>("data", "ranks that share the batch", "N", "data-parallel"),
    Member<&Parallel::tensor>("tensor", "ranks that split each layer", "N", "tensor-parallel"),
    Member<&Parallel::pipeline>("pipeline", "pipeline stages", "N", "pipeline-parallel"),
    Member<&Parallel::context>("context", "ranks that split the sequence", "N", "context-parallel"),
    Member<&Parallel::expert>("expert", "ranks that split the experts", "N", "expert-parallel"),
    Member<&Parallel::replicate>("replicate", "copies of the sharded model (hybrid sharding)", "N"),
    Member<&Parallel::zero>("zero", "ZeRO stage 0..3", "STAGE"),
    Member<&Parallel::wrap>("wrap", "modules that are units of their own", "PATTERN,..."),
    Member<&Parallel::bucket_cap_mb>("bucket_cap_mb", "DDP's bucket size in MiB", "MB"),
    Member<&Parallel::gradient_as_bucket_view>("gradient_as_bucket_view", "gradients are views of DDP's buckets",
                                               "BOOL"),
    Member<&Parallel::find_unused_parameters>("find_unused_parameters", "as DDP's argument", "BOOL"),
    Member<&Parallel::static_graph>("static_graph", "as DDP's argument", "BOOL"),
    Member<&Parallel::hook>("hook", "DDP's communication hook: bf16, fp16", "KIND"),
    Member<&Parallel::sync>("sync", "false: no_sync() but in the last micro-batch", "BOOL"),
    Member<&Parallel::parameters_as_bucket_view>("parameters_as_bucket_view", "as ZeroRedundancyOptimizer's argument",
                                                 "BOOL"),
    Member<&Parallel::strategy>("strategy", "FSDP1's ShardingStrategy", "NAME"),
    Member<&Parallel::param_dtype>("param_dtype", "FSDP's mixed precision", "DTYPE"),
    Member<&Parallel::reduce_dtype>("reduce_dtype", "FSDP's mixed precision", "DTYPE"),
    Member<&Parallel::output_dtype>("output_dtype", "FSDP's mixed precision", "DTYPE"),
    Member<&Parallel::reshard>("reshard", "reshard_after_forward: true, false or a group size", "BOOL|N"),
    Member<&Parallel::root_reshard>("root_reshard", "the same for the root", "BOOL|N"),
    Member<&Parallel::reshard_after_backward>("reshard_after_backward", "false: kept between micro-batches", "BOOL"),
    Member<&Parallel::forward_prefetch>("forward_prefetch", "FSDP1: true or false; FSDP2: units ahead", "BOOL|N"),
    Member<&Parallel::backward_prefetch>("backward_prefetch",
                                         "FSDP1: BACKWARD_PRE, BACKWARD_POST, none; FSDP2: units ahead", "NAME|N"),
    Member<&Parallel::limit_all_gathers>("limit_all_gathers", "as FSDP1's argument", "BOOL"),
    Member<&Parallel::use_orig_params>("use_orig_params", "as FSDP1's argument", "BOOL"),
    Member<&Parallel::offload>("offload", "parameters, gradients and states in host memory", "BOOL", "cpu-offload"),
    Member<&Parallel::group_every>("group_every", "so many matched modules form one FSDP2 unit", "N"),
    Member<&Parallel::zero_optimization>("zero_optimization", "DeepSpeed's block", "NAME=VALUE,..."),
    Member<&Parallel::dtype>("dtype", "DeepSpeed's or Megatron's bf16, fp16", "DTYPE", "engine-dtype"),
    Member<&Parallel::grad_accum_dtype>("grad_accum_dtype", "DeepSpeed's data_types", "DTYPE"),
    Member<&Parallel::clip>("clip", "DeepSpeed's gradient_clipping", "NORM", "gradient-clipping"),
    Member<&Parallel::zero_init>("zero_init", "deepspeed.zero.Init around the construction", "BOOL"),
    Member<&Parallel::sequence_parallel>("sequence_parallel", "with tensor parallelism", "BOOL"),
    Member<&Parallel::loss_parallel>("loss_parallel", "the loss on sharded logits", "BOOL"),
    Member<&Parallel::recompute>("recompute", "Megatron's recomputation: selective or full", "KIND"),
    Member<&Parallel::distributed_optimizer>("distributed_optimizer", "Megatron's", "BOOL"),
    Member<&Parallel::schedule>("schedule",
                                "gpipe, 1f1b, interleaved-1f1b, looped-bfs, interleaved-zb, zbv or dualpipev", "NAME"),
    Member<&Parallel::microbatches>("microbatches", "of a pipeline step", "N"),
    Member<&Parallel::virtual_stages>("virtual", "stages on each rank", "N", "virtual-stages"),
    Member<&Parallel::hold_sends>("hold_sends", "sent activations live until waited for", "BOOL"),
    Member<&Parallel::return_outputs>("return_outputs", "the schedule returns the outputs", "BOOL"),
};

using Zero = ZeroOptimization;
constexpr Field<Zero> kZeroOptimization[] = {
    Member<&Zero::stage>("stage", "0..3"),
    Member<&Zero::allgather_bucket_size>("allgather_bucket_size", "elements"),
    Member<&Zero::allgather_partitions>("allgather_partitions", "all-gather instead of broadcasts"),
    Member<&Zero::reduce_bucket_size>("reduce_bucket_size", "elements"),
    Member<&Zero::reduce_scatter>("reduce_scatter", "instead of all-reduce"),
    Member<&Zero::contiguous_gradients>("contiguous_gradients", "gradients copied to one buffer"),
    Member<&Zero::overlap_comm>("overlap_comm", "reduction beside backward"),
    Member<&Zero::round_robin_gradients>("round_robin_gradients", "stage 1 and 2"),
    Member<&Zero::sub_group_size>("sub_group_size", "elements"),
    Member<&Zero::stage3_max_live_parameters>("stage3_max_live_parameters", "elements"),
    Member<&Zero::stage3_max_reuse_distance>("stage3_max_reuse_distance", "elements"),
    Member<&Zero::stage3_prefetch_bucket_size>("stage3_prefetch_bucket_size", "elements"),
    Member<&Zero::stage3_param_persistence_threshold>("stage3_param_persistence_threshold", "elements"),
    Member<&Zero::zero_hpz_partition_size>("zero_hpz_partition_size", "ranks"),
    Member<&Zero::offload_optimizer>("offload_optimizer", "states in host memory"),
    Member<&Zero::offload_param>("offload_param", "parameters in host memory"),
};

constexpr Field<OffloadTo> kOffloadTo[] = {
    Member<&OffloadTo::device>("device", "none, cpu, nvme"),
    Member<&OffloadTo::pin_memory>("pin_memory", "pinned"),
};

}  // namespace

template <> absl::Span<const Field<Parallel>> FieldsOf<Parallel>() { return kParallel; }
template <> absl::Span<const Field<ZeroOptimization>> FieldsOf<ZeroOptimization>() { return kZeroOptimization; }
template <> absl::Span<const Field<OffloadTo>> FieldsOf<OffloadTo>() { return kOffloadTo; }

}  // namespace memcrest
