#include "src/job/trainer.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memcrest {
namespace {

// `optim` and what it means for a job; "" is the argument of the implementation that torch chooses.
struct Optimizer {
  const char* theirs;
  const char* ours;
  const char* impl;
};
constexpr Optimizer kOptimizers[] = {
    {"adamw_torch", "adamw", ""},
    {"adamw_torch_fused", "adamw", "fused"},
    {"adamw_hf", "adamw", "for-loop"},
    {"adafactor", "adafactor-transformers", "for-loop"},
    {"sgd", "sgd", ""},
    {"adagrad", "adagrad", ""},
    {"rmsprop", "rmsprop", ""},
    {"adamw_bnb_8bit", "bnb-adamw8bit", "for-loop"},
    {"adamw_8bit", "bnb-adamw8bit", "for-loop"},
    {"paged_adamw_8bit", "bnb-paged-adamw8bit", "for-loop"},
    {"paged_adamw_32bit", "bnb-paged-adamw32bit", "for-loop"},
    {"paged_adamw", "bnb-paged-adamw32bit", "for-loop"},
    {"lion_8bit", "bnb-lion8bit", "for-loop"},
    {"lion_32bit", "bnb-lion32bit", "for-loop"},
    {"lion", "bnb-lion32bit", "for-loop"},
    {"paged_lion_8bit", "bnb-paged-lion8bit", "for-loop"},
    {"paged_lion_32bit", "bnb-paged-lion32bit", "for-loop"},
    {"ademamix", "bnb-ademamix32bit", "for-loop"},
    {"ademamix_8bit", "bnb-ademamix8bit", "for-loop"},
    {"paged_ademamix_32bit", "bnb-paged-ademamix32bit", "for-loop"},
    {"paged_ademamix_8bit", "bnb-paged-ademamix8bit", "for-loop"},
    {"rmsprop_bnb", "bnb-rmsprop32bit", "for-loop"},
    {"rmsprop_bnb_8bit", "bnb-rmsprop8bit", "for-loop"},
    {"rmsprop_bnb_32bit", "bnb-rmsprop32bit", "for-loop"},
    {"galore_adamw", "galore-adamw", "for-loop"},
    {"apollo_adamw", "apollo", "for-loop"},
    {"schedule_free_adamw", "adamw-schedulefree", ""},
    {"schedule_free_sgd", "sgd-schedulefree", ""},
};

// Settings that change what is computed, logged or stored, not what a step keeps on the device.
constexpr absl::string_view kNoMemory[] = {
    "adam_beta1", "adam_beta2", "adam_epsilon", "average_tokens_across_devices", "data_seed",
    "dataloader_drop_last", "dataloader_num_workers", "dataloader_persistent_workers", "dataloader_pin_memory",
    "dataloader_prefetch_factor", "disable_tqdm", "do_eval", "do_predict", "do_train", "eval_strategy", "eval_steps",
    "eval_delay", "eval_on_start", "greater_is_better", "half_precision_backend", "ignore_data_skip", "learning_rate",
    "length_column_name", "load_best_model_at_end", "logging_dir", "logging_first_step", "logging_nan_inf_filter",
    "logging_steps", "logging_strategy", "log_level", "log_level_replica", "log_on_each_node", "lr_scheduler_kwargs",
    "lr_scheduler_type", "max_steps", "metric_for_best_model", "num_train_epochs", "output_dir", "overwrite_output_dir",
    "project", "push_to_hub", "remove_unused_columns", "report_to", "restore_callback_states_from_checkpoint",
    "resume_from_checkpoint", "run_name", "save_on_each_node", "save_only_model", "save_safetensors", "save_steps",
    "save_strategy", "save_total_limit", "seed", "skip_memory_metrics", "tf32", "train_sampling_strategy",
    "trackio_space_id", "warmup_ratio", "warmup_steps", "per_device_eval_batch_size",
};

bool Truthy(const Doc& doc) {
  switch (doc.kind) {
    case Doc::Kind::kNull: return false;
    case Doc::Kind::kBool: return doc.text == "true";
    case Doc::Kind::kNumber: return doc.text != "0" && doc.text != "0.0";
    case Doc::Kind::kString: return !doc.text.empty() && doc.text != "none" && doc.text != "no";
    default: return !doc.items.empty();
  }
}

std::string TextOf(const Doc& doc) {
  if (doc.kind == Doc::Kind::kList || doc.kind == Doc::Kind::kMap) {
    std::vector<std::string> parts;
    for (const Doc& item : doc.items) {
      parts.push_back(item.key.empty() ? TextOf(item) : absl::StrCat(item.key, ": ", TextOf(item)));
    }
    return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
  }
  return doc.text;
}

class Translator {
 public:
  explicit Translator(const Doc& arguments) : arguments_(arguments) {}

  TrainerJob Run() {
    Precision();
    OptimizerLines();
    Steps();
    Recomputation();
    for (const Doc& item : arguments_.items) {
      const bool plain = std::find(std::begin(kNoMemory), std::end(kNoMemory), item.key) != std::end(kNoMemory);
      if (plain || Used(item.key) || !Truthy(item)) continue;
      job_.not_understood.push_back(absl::StrCat(item.key, " = ", TextOf(item)));
    }
    return std::move(job_);
  }

 private:
  // The argument, noted as understood; null if it is not there.
  const Doc* Take(absl::string_view key) {
    used_.emplace_back(key);
    const Doc* found = nullptr;
    for (const Doc& item : arguments_.items) {
      if (item.key == key) found = &item;
    }
    return found;
  }
  bool Used(const std::string& key) const { return std::find(used_.begin(), used_.end(), key) != used_.end(); }
  bool On(absl::string_view key) {
    const Doc* doc = Take(key);
    return doc != nullptr && Truthy(*doc);
  }
  void Line(const std::string& line) { absl::StrAppend(&job_.text, line, "\n"); }

  void Precision() {
    const bool half = On("fp16");
    if (On("bf16")) return Line("precision: \"amp-bf16\"");
    if (!half) return Line("precision: \"fp32\"");
    Line("precision: \"amp-fp16\"");
    Line("grad_scaler: true");
  }

  void OptimizerLines() {
    const Doc* optim = Take("optim");
    const std::string name = optim != nullptr ? optim->text : "adamw_torch";
    if (const Doc* decay = Take("weight_decay"); decay != nullptr && Truthy(*decay)) {
      Line(absl::StrCat("optimizer_options { key: \"weight_decay\" value { number_value: ", decay->text, " } }"));
    }
    for (const Optimizer& o : kOptimizers) {
      if (name != o.theirs) continue;
      Line(absl::StrCat("optimizer: \"", o.ours, "\""));
      if (o.impl[0] != '\0') Line(absl::StrCat("optimizer_impl: \"", o.impl, "\""));
      return;
    }
    job_.not_understood.push_back(absl::StrCat("optim = ", name));
  }

  // Trainer's loop: the model returns its loss, clips, steps, then drops the gradients.
  void Steps() {
    if (const Doc* batch = Take("per_device_train_batch_size")) {
      Line(absl::StrCat("bind { key: \"batch\" value: ", batch->text, " }"));
    }
    const Doc* accumulate = Take("gradient_accumulation_steps");
    if (accumulate != nullptr && Truthy(*accumulate)) Line(absl::StrCat("accumulate: ", accumulate->text));
    const Doc* norm = Take("max_grad_norm");
    const std::string most = norm == nullptr ? "1.0" : Truthy(*norm) ? norm->text : "";
    if (!most.empty()) Line(absl::StrCat("clip_grad { max_norm: ", most, " }"));
    if (const Doc* smoothing = Take("label_smoothing_factor"); smoothing != nullptr && Truthy(*smoothing)) {
      Line("loss: \"label-smoothing\"");
      Line(absl::StrCat("loss_options { key: \"smoothing\" value { number_value: ", smoothing->text, " } }"));
    } else {
      Line("loss: \"causal-lm\"");
    }
    Line("outputs: \"drop\"");
  }

  void Recomputation() {
    const Doc* options = Take("gradient_checkpointing_kwargs");
    if (!On("gradient_checkpointing")) return;
    bool reentrant = false;
    if (options != nullptr) {
      for (const Doc& item : options->items) reentrant = reentrant || (item.key == "use_reentrant" && Truthy(item));
    }
    if (!reentrant) return Line("checkpoint: \"all-blocks\"");
    Line("checkpoint { all_blocks: true reentrant: true }");
  }

  const Doc& arguments_;
  TrainerJob job_;
  std::vector<std::string> used_;
};

}  // namespace

absl::StatusOr<TrainerJob> JobFromTrainer(const Source& source) {
  MEMCREST_ASSIGN_OR_RETURN(const Doc doc, ParseDocument(source));
  return Translator(doc).Run();
}

}  // namespace memcrest
