// A training job: everything about the training script that the network file does not say.
//
// Made by LoadJob from defaults, a job file and flags (in this order; later wins); read by every later stage, changed
// by none. Defaults are what a plain PyTorch script does. The same fields, with their meaning, stand in
// proto/job.proto. Patterns are dotted module paths matched segment by segment (pattern.h).
#ifndef MEMCREST_JOB_JOB_H_
#define MEMCREST_JOB_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/job/parallel.h"
#include "src/job/setting.h"

namespace memcrest {

// fp32, bf16, fp16: parameters and float inputs are stored so. amp-*: fp32 parameters under torch.autocast.
enum class Precision : uint8_t { kFp32, kAmpBf16, kAmpFp16, kBf16, kFp16 };
enum class OptimizerImpl : uint8_t { kForeach, kFused, kForLoop };
enum class Loss : uint8_t {
  kCrossEntropy, kCrossEntropy2d, kCausalLm, kMse, kBceLogits, kMean, kOutput,
  kChunkedCrossEntropy, kTokenContrastive, kLabelSmoothing, kZLoss, kDistillation, kClip,
};
// keep: `out` and `loss` live until assigned again in the next step; drop: the output is never bound to a name;
// drop-before-step: `del out, loss` after backward.
enum class Outputs : uint8_t { kKeep, kDrop, kDropBeforeStep };
enum class ZeroGrad : uint8_t { kAfterStep, kBeforeBackward };
enum class Attention : uint8_t { kAuto, kFlash, kEfficient, kCudnn, kMath };
// auto: a mask that is provably plain causal is not counted, as transformers skips it.
enum class AttentionMask : uint8_t { kAuto, kAsExported };
enum class MemoryFormat : uint8_t { kContiguous, kChannelsLast };
enum class Allocator : uint8_t { kDefault, kExpandable, kIdeal };

// What a checkpointed region keeps besides its inputs (create_selective_checkpoint_contexts).
struct SavePolicy {
  std::vector<std::string> save;         // "aten.mm", "aten._scaled_dot_product_flash_attention"
  std::map<std::string, int64_t> every;  // of op's calls in a region only the 1st, (n+1)-th ... are saved
  bool empty() const { return save.empty(); }
};

struct Checkpoint {
  std::vector<std::string> modules;  // patterns
  bool all_blocks = false;           // each child of the module lists: found in the network
  int64_t every = 1;                 // every n-th of the matched modules
  bool reentrant = false;
  bool preserve_rng_state = true;
  bool nested = false;               // a matched module inside a matched one is a region of its own
  std::string via;                   // "transformers": its gradient_checkpointing_enable chooses the modules
  SavePolicy policy;
  bool on() const { return all_blocks || !modules.empty() || !via.empty(); }
};

// peft's LoraConfig.
struct Lora {
  int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  std::vector<std::string> targets;  // names of linear modules, or "all-linear"
  bool dora = false;
  bool rslora = false;
  std::vector<std::string> modules_to_save;
  DType adapter_dtype = DType::kFloat32;
};

// bitsandbytes in place of every Linear but `skip`.
struct Quantize {
  std::string method = "bitsandbytes";
  std::string type = "nf4";  // nf4, fp4, int8
  bool double_quant = false;
  DType compute_dtype = DType::kBFloat16;
  std::vector<std::string> skip = {"head"};  // ends of module paths; "head": whose result the network returns
  bool prepare_kbit = false;  // the remaining half-precision parameters become fp32
};

struct Offload {
  bool saved_tensors = false;  // torch.autograd.graph.save_on_cpu around the forward
  bool pin_memory = false;
};

struct ClipGrad {
  double max_norm = 1.0;
  std::optional<bool> foreach;  // torch's own choice if not given
};

struct Ema {
  double decay = 0.999;
  std::string impl = "foreach";  // foreach, for-loop
};

struct Evaluate {
  int64_t batch = 0;  // 0: the training batch
};

struct Job {
  std::map<std::string, int64_t> bind;                // symbolic dimension -> size
  std::map<std::string, std::vector<int64_t>> input;  // input -> sizes

  Precision precision = Precision::kFp32;
  std::string optimizer = "adamw";
  OptimizerImpl optimizer_impl = OptimizerImpl::kForeach;
  Options optimizer_options;
  bool optimizer_in_backward = false;  // each parameter stepped as its gradient is ready, gradient freed there
  Loss loss = Loss::kCrossEntropy;
  Options loss_options;

  Outputs outputs = Outputs::kKeep;
  int64_t accumulate = 1;  // micro-batches per step
  ZeroGrad zero_grad = ZeroGrad::kAfterStep;
  bool set_to_none = true;
  std::optional<ClipGrad> clip_grad;
  bool grad_scaler = false;
  bool autocast_cache = true;
  bool log_loss = false;  // loss.item() after each step
  std::optional<Ema> ema;
  std::optional<Evaluate> evaluate;
  int64_t steps = 3;  // at most so many are simulated; the last is reported

  Checkpoint checkpoint;
  Offload offload;
  std::vector<std::string> freeze, train;      // train: everything else is frozen
  std::vector<std::string> eval_modules;       // put into eval mode, with what is below them
  std::map<std::string, double> dropout;       // pattern -> probability
  std::map<std::string, std::string> tie;      // parameter -> the parameter it shares storage with
  std::vector<std::string> untie;              // parameters that are their own
  std::vector<std::string> restore = {"batchnorm", "dropout"};  // what an export lost and evidence brings back
  std::optional<Lora> lora;
  bool input_require_grads = false;  // transformers' enable_input_require_grads
  std::optional<Quantize> quantize;

  Attention attention = Attention::kAuto;
  AttentionMask attention_mask = AttentionMask::kAuto;
  bool padding = false;  // the batch has padded rows: masks are needed
  MemoryFormat memory_format = MemoryFormat::kContiguous;
  bool deterministic = false;  // torch.use_deterministic_algorithms

  Parallel parallel;
  std::string device = "h100-80gb";
  std::string device_file;  // a profile of the user's own instead
  Allocator allocator = Allocator::kDefault;
  std::string allocator_conf;  // as PYTORCH_ALLOC_CONF (allocator_conf.h)
};

// The spelling of job files and flags: "amp-bf16", "drop-before-step" ...
const char* NameOf(Precision value);
const char* NameOf(OptimizerImpl value);
const char* NameOf(Loss value);
const char* NameOf(Outputs value);
const char* NameOf(ZeroGrad value);
const char* NameOf(Attention value);
const char* NameOf(AttentionMask value);
const char* NameOf(MemoryFormat value);
const char* NameOf(Allocator value);

inline bool IsAmp(Precision p) { return p == Precision::kAmpBf16 || p == Precision::kAmpFp16; }
// What parameters are stored in, and what autocast or the whole job computes in.
DType ParameterType(Precision precision);
DType ComputeType(Precision precision);
// What the parameters are that autograd sees: an engine may store them wider than it computes in.
DType ModelType(const Job& job);
// What the job binds the symbol `name` to.
int64_t BoundSize(const Job& job, const std::string& name, int64_t otherwise);

}  // namespace memcrest

#endif  // MEMCREST_JOB_JOB_H_
