// The fields of a job and of its messages. proto/job.proto documents the same names; a test holds the two together.
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/job/job_fields.h"

namespace memcrest {
namespace {

// A plan file holds the message `checkpoint` of a job.
void ReadPlan(FieldReader& reader, const Doc& doc, Checkpoint& checkpoint) {
  absl::StatusOr<Source> source = ReadSource(doc.text);
  absl::StatusOr<Doc> plan = source.ok() ? ParseDocument(*source) : source.status();
  if (plan.ok()) return reader.MessageOf(*source, *plan, checkpoint);
  reader.Add(doc, Problem{"E0108", absl::StrCat("the checkpoint plan ", doc.text, " cannot be read"), "",
                          std::string(plan.status().message()), ""});
}

// A word of `checkpoint`: "all-blocks", "every=2", "PLAN.json"; anything else is left in `modules` as a pattern.
bool ReadCheckpointWord(FieldReader& reader, const Doc& doc, Checkpoint& checkpoint) {
  if (doc.kind != Doc::Kind::kString) return false;
  if (absl::EndsWith(doc.text, ".json")) return ReadPlan(reader, doc, checkpoint), true;
  if (doc.text == "none") return true;
  if (doc.text == "all-blocks") return checkpoint.all_blocks = true;
  if (!absl::StartsWith(doc.text, "every=")) return false;
  Doc number = StringDoc(absl::string_view(doc.text).substr(6));
  number.offset = doc.offset;
  reader.Read(number, checkpoint.every);
  return checkpoint.all_blocks = true;
}

// A list of patterns, one of the words above, or the whole message.
void ReadCheckpoint(FieldReader& reader, const Doc& value, Job& job) {
  const Doc doc = Unwrapped(value);
  job.checkpoint = Checkpoint{};
  if (doc.kind == Doc::Kind::kMap) return reader.Message(doc, job.checkpoint);
  if (ReadCheckpointWord(reader, doc, job.checkpoint)) return;
  if (doc.kind != Doc::Kind::kBool || doc.text != "false") reader.Read(doc, job.checkpoint.modules);
}

void ReadClip(FieldReader& reader, const Doc& doc, Job& job) {
  double norm = 0;
  reader.Read(doc, norm);
  if (norm <= 0) return job.clip_grad.reset();
  if (!job.clip_grad) job.clip_grad.emplace();
  job.clip_grad->max_norm = norm;
}

// A flag may say "rank=8,dora" and "save=lm_head" where a file says dora: true and modules_to_save.
void ReadLora(FieldReader& reader, const Doc& value, Job& job) {
  Doc doc = value;
  if (doc.kind == Doc::Kind::kString) {
    std::vector<std::string> words = absl::StrSplit(doc.text, ',');
    for (std::string& word : words) {
      if (word == "dora" || word == "rslora") word += "=true";
      if (absl::StartsWith(word, "save=")) word = absl::StrCat("modules_to_", word);
    }
    doc.text = absl::StrJoin(words, ",");
  }
  reader.Read(doc, job.lora);
}

constexpr Field<Job> kJob[] = {
    Member<&Job::bind>("bind", "sizes of symbolic dimensions; batch is per rank", "NAME=N,..."),
    Member<&Job::input>("input", "sizes of inputs", "NAME=DxDx.."),
    Member<&Job::precision>("precision", "fp32, amp-bf16, amp-fp16, bf16 or fp16", "KIND"),
    Member<&Job::optimizer>("optimizer", "adamw, adam, sgd, sgd-momentum, ... (memcrest optimizers)", "NAME"),
    Member<&Job::optimizer_impl>("optimizer_impl", "foreach, fused or for-loop", "KIND"),
    Member<&Job::optimizer_options>("optimizer_options", "further arguments of the optimizer", "NAME=VALUE,..."),
    Member<&Job::optimizer_in_backward>("optimizer_in_backward", "step each parameter as its gradient is ready",
                                        "BOOL"),
    Member<&Job::loss>("loss", "cross-entropy, cross-entropy-2d, causal-lm, mse, bce-logits, mean, output, ...",
                       "NAME"),
    Member<&Job::loss_options>("loss_options", "arguments of the loss", "NAME=VALUE,..."),
    Member<&Job::outputs>("outputs", "keep, drop or drop-before-step: how long the script holds the output", "KIND"),
    Member<&Job::accumulate>("accumulate", "micro-batches per optimizer step", "N"),
    Member<&Job::zero_grad>("zero_grad", "after-step or before-backward", "WHEN"),
    Member<&Job::set_to_none>("set_to_none", "zero_grad(set_to_none=...)", "BOOL"),
    Field<Job>{"clip", ReadClip, "clip_grad_norm_ to this norm", "NORM"},
    Member<&Job::clip_grad>("clip_grad", "clipping with all its settings", "max_norm=X,foreach=BOOL"),
    Member<&Job::grad_scaler>("grad_scaler", "torch.amp.GradScaler", "BOOL"),
    Member<&Job::autocast_cache>("autocast_cache", "autocast(cache_enabled=...)", "BOOL"),
    Member<&Job::log_loss>("log_loss", "loss.item() in each step", "BOOL"),
    Member<&Job::ema>("ema", "an exponential moving average of the parameters", "decay=X,impl=KIND"),
    Member<&Job::evaluate>("evaluate", "an evaluation after the step, with this batch", "batch=N"),
    Member<&Job::steps>("steps", "at most so many steps are simulated; the last is reported", "N"),
    Field<Job>{"checkpoint", ReadCheckpoint, "modules to recompute in backward",
               "PATTERN,...|all-blocks|every=N|PLAN.json"},
    Member<&Job::offload>("offload", "saved tensors to host memory", "saved_tensors=BOOL,pin_memory=BOOL"),
    Member<&Job::freeze>("freeze", "modules or parameters without gradients", "PATTERN,..."),
    Member<&Job::train>("train", "train only these", "PATTERN,..."),
    Member<&Job::eval_modules>("eval_modules", "modules put into eval mode", "PATTERN,..."),
    Member<&Job::dropout>("dropout", "dropout that the export lost", "PATTERN=P,..."),
    Member<&Job::tie>("tie", "parameters that share storage", "PARAM=PARAM,..."),
    Member<&Job::untie>("untie", "parameters that share an initializer but are two", "PARAM,..."),
    Member<&Job::restore>("restore", "what an export lost and evidence brings back: batchnorm, dropout, or none",
                          "KIND,..."),
    Field<Job>{"lora", ReadLora, "low-rank adapters", "rank=N,targets=A+B,dora,save=M,..."},
    Member<&Job::input_require_grads>("input_require_grads", "the embedding's output requires a gradient", "BOOL"),
    Member<&Job::quantize>("quantize", "a quantized base: nf4, fp4 or int8", "KIND|type=KIND,...", "quantize-base"),
    Member<&Job::attention>("attention", "auto, flash, efficient, cudnn or math", "KERNEL"),
    Member<&Job::attention_mask>("attention_mask", "auto or as-exported", "KIND"),
    Member<&Job::padding>("padding", "the batch has padded rows", "BOOL"),
    Member<&Job::memory_format>("memory_format", "contiguous or channels_last", "KIND"),
    Member<&Job::deterministic>("deterministic", "torch.use_deterministic_algorithms", "BOOL"),
    Member<&Job::parallel>("parallel", "how the job is spread over devices"),
    Member<&Job::device>("device", "a device profile (memcrest devices)", "NAME"),
    Member<&Job::device_file>("device_file", "a device profile of your own", "FILE.textproto"),
    Member<&Job::allocator>("allocator", "default, expandable or ideal", "KIND"),
    Member<&Job::allocator_conf>("allocator_conf", "as PYTORCH_ALLOC_CONF", "OPTION:VALUE,..."),
};

constexpr Field<Checkpoint> kCheckpoint[] = {
    Member<&Checkpoint::modules>("modules", "patterns of modules"),
    Member<&Checkpoint::all_blocks>("all_blocks", "each child of the network's module lists"),
    Member<&Checkpoint::every>("every", "every n-th of them"),
    Member<&Checkpoint::reentrant>("reentrant", "use_reentrant"),
    Member<&Checkpoint::preserve_rng_state>("preserve_rng_state", "as the argument of checkpoint()"),
    Member<&Checkpoint::nested>("nested", "regions inside regions"),
    Member<&Checkpoint::via>("via", "transformers: its own switch"),
    Member<&Checkpoint::policy>("policy", "what regions keep"),
};

constexpr Field<SavePolicy> kSavePolicy[] = {
    Member<&SavePolicy::save>("save", "operators whose results are kept"),
    Member<&SavePolicy::every>("every", "keep only each n-th call's"),
};

constexpr Field<Lora> kLora[] = {
    Member<&Lora::rank>("rank", "r"),
    Member<&Lora::alpha>("alpha", "lora_alpha"),
    Member<&Lora::dropout>("dropout", "lora_dropout"),
    Member<&Lora::targets>("targets", "target_modules"),
    Member<&Lora::dora>("dora", "use_dora"),
    Member<&Lora::rslora>("rslora", "use_rslora"),
    Member<&Lora::modules_to_save>("modules_to_save", "trained in full"),
    Member<&Lora::adapter_dtype>("adapter_dtype", "float32 unless autocast_adapter_dtype=False"),
};

constexpr Field<Quantize> kQuantize[] = {
    Member<&Quantize::type>("type", "nf4, fp4, int8"),
    Member<&Quantize::method>("method", "bitsandbytes"),
    Member<&Quantize::double_quant>("double_quant", "compress_statistics"),
    Member<&Quantize::compute_dtype>("compute_dtype", "of the matrix products"),
    Member<&Quantize::skip>("skip", "linear modules left as they are"),
    Member<&Quantize::prepare_kbit>("prepare_kbit", "prepare_model_for_kbit_training"),
};

constexpr Field<Offload> kOffload[] = {
    Member<&Offload::saved_tensors>("saved_tensors", "save_on_cpu"),
    Member<&Offload::pin_memory>("pin_memory", "its pin_memory"),
};

constexpr Field<ClipGrad> kClipGrad[] = {
    Member<&ClipGrad::max_norm>("max_norm", "the norm"),
    Member<&ClipGrad::foreach>("foreach", "as the argument"),
};

constexpr Field<Ema> kEma[] = {
    Member<&Ema::decay>("decay", "of the average"),
    Member<&Ema::impl>("impl", "foreach or for-loop"),
};

constexpr Field<Evaluate> kEvaluate[] = {Member<&Evaluate::batch>("batch", "its batch")};

}  // namespace

template <> absl::Span<const Field<Job>> FieldsOf<Job>() { return kJob; }
template <> absl::Span<const Field<Checkpoint>> FieldsOf<Checkpoint>() { return kCheckpoint; }
template <> absl::Span<const Field<SavePolicy>> FieldsOf<SavePolicy>() { return kSavePolicy; }
template <> absl::Span<const Field<Lora>> FieldsOf<Lora>() { return kLora; }
template <> absl::Span<const Field<Quantize>> FieldsOf<Quantize>() { return kQuantize; }
template <> absl::Span<const Field<Offload>> FieldsOf<Offload>() { return kOffload; }
template <> absl::Span<const Field<ClipGrad>> FieldsOf<ClipGrad>() { return kClipGrad; }
template <> absl::Span<const Field<Ema>> FieldsOf<Ema>() { return kEma; }
template <> absl::Span<const Field<Evaluate>> FieldsOf<Evaluate>() { return kEvaluate; }

}  // namespace memcrest
