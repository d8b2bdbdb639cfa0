#include "src/job/names.h"

namespace memcrest {
namespace {

constexpr const char* kPrecision[] = {"fp32", "amp-bf16", "amp-fp16", "bf16", "fp16"};
constexpr const char* kOptimizerImpl[] = {"foreach", "fused", "for-loop"};
constexpr const char* kLoss[] = {
    "cross-entropy", "cross-entropy-2d", "causal-lm", "mse", "bce-logits", "mean", "output",
    "chunked-cross-entropy", "token-contrastive", "label-smoothing", "z-loss", "distillation", "clip"};
constexpr const char* kOutputs[] = {"keep", "drop", "drop-before-step"};
constexpr const char* kZeroGrad[] = {"after-step", "before-backward"};
constexpr const char* kAttention[] = {"auto", "flash", "efficient", "cudnn", "math"};
constexpr const char* kAttentionMask[] = {"auto", "as-exported"};
constexpr const char* kMemoryFormat[] = {"contiguous", "channels_last"};
constexpr const char* kAllocator[] = {"default", "expandable", "ideal"};
constexpr const char* kEngine[] = {"none", "ddp", "zero1", "fsdp2", "fsdp1", "deepspeed", "tp", "pipeline", "megatron"};
constexpr const char* kSchedule[] = {"gpipe",          "1f1b", "interleaved-1f1b", "looped-bfs",
                                     "interleaved-zb", "zbv",  "dualpipev"};

template <class E>
const char* Name(E value) {
  return NamesOf<E>()[static_cast<size_t>(value)];
}

}  // namespace

template <> absl::Span<const char* const> NamesOf<Precision>() { return kPrecision; }
template <> absl::Span<const char* const> NamesOf<OptimizerImpl>() { return kOptimizerImpl; }
template <> absl::Span<const char* const> NamesOf<Loss>() { return kLoss; }
template <> absl::Span<const char* const> NamesOf<Outputs>() { return kOutputs; }
template <> absl::Span<const char* const> NamesOf<ZeroGrad>() { return kZeroGrad; }
template <> absl::Span<const char* const> NamesOf<Attention>() { return kAttention; }
template <> absl::Span<const char* const> NamesOf<AttentionMask>() { return kAttentionMask; }
template <> absl::Span<const char* const> NamesOf<MemoryFormat>() { return kMemoryFormat; }
template <> absl::Span<const char* const> NamesOf<Allocator>() { return kAllocator; }
template <> absl::Span<const char* const> NamesOf<Engine>() { return kEngine; }
template <> absl::Span<const char* const> NamesOf<Schedule>() { return kSchedule; }

const char* NameOf(Precision value) { return Name(value); }
const char* NameOf(OptimizerImpl value) { return Name(value); }
const char* NameOf(Loss value) { return Name(value); }
const char* NameOf(Outputs value) { return Name(value); }
const char* NameOf(ZeroGrad value) { return Name(value); }
const char* NameOf(Attention value) { return Name(value); }
const char* NameOf(AttentionMask value) { return Name(value); }
const char* NameOf(MemoryFormat value) { return Name(value); }
const char* NameOf(Allocator value) { return Name(value); }
const char* NameOf(Engine value) { return Name(value); }
const char* NameOf(Schedule value) { return Name(value); }

std::vector<std::string> Strings(absl::Span<const char* const> names) { return {names.begin(), names.end()}; }

DType ParameterType(Precision precision) {
  if (precision == Precision::kBf16) return DType::kBFloat16;
  return precision == Precision::kFp16 ? DType::kFloat16 : DType::kFloat32;
}

DType ComputeType(Precision precision) {
  switch (precision) {
    case Precision::kAmpBf16: case Precision::kBf16: return DType::kBFloat16;
    case Precision::kAmpFp16: case Precision::kFp16: return DType::kFloat16;
    case Precision::kFp32: break;
  }
  return DType::kFloat32;
}

DType ModelType(const Job& job) {
  const Parallel& p = job.parallel;
  const bool fsdp = p.engine == Engine::kFsdp1 || p.engine == Engine::kFsdp2;
  if (fsdp && p.param_dtype != DType::kUndefined) return p.param_dtype;
  if (p.engine == Engine::kDeepSpeed && p.dtype != DType::kUndefined) return p.dtype;
  return ParameterType(job.precision);
}

int64_t BoundSize(const Job& job, const std::string& name, int64_t otherwise) {
  const auto found = job.bind.find(name);
  return found == job.bind.end() ? otherwise : found->second;
}

}  // namespace memcrest
