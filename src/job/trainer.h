// Hugging Face TrainingArguments (the JSON of TrainingArguments.to_json_string) as a job, as far as they say.
//
// Takes: the JSON document.  Gives: a job file in text form, and the settings that are neither part of a job nor known
// to leave memory as it is. The network's sizes besides the batch, LoRA and quantisation are not in the arguments.
// Source: transformers 5, training_args.py and trainer_optimizer.py (names of `optim`).
#ifndef MEMCREST_JOB_TRAINER_H_
#define MEMCREST_JOB_TRAINER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/job/document.h"

namespace memcrest {

struct TrainerJob {
  std::string text;                         // a job file
  std::vector<std::string> not_understood;  // "fsdp = full_shard", in the order of the file
};

// Errors: E0103 if the source is no JSON object.
absl::StatusOr<TrainerJob> JobFromTrainer(const Source& source);

}  // namespace memcrest

#endif  // MEMCREST_JOB_TRAINER_H_
