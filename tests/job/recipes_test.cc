// Recipes are jobs; Hugging Face's TrainingArguments become one.
#include "src/job/recipes.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/job/load.h"
#include "src/job/trainer.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Recipes, EachIsAJobWithAFirstLineThatSaysWhatItIs) {
  EXPECT_FALSE(EmbeddedRecipes().empty());
  for (const auto& [name, text] : EmbeddedRecipes()) {
    EXPECT_EQ(std::string(text).substr(0, 2), "# ") << name;
    const absl::StatusOr<Job> job = LoadJob(std::string("recipe:") + name, {});
    EXPECT_TRUE(job.ok()) << name << ": " << job.status();
  }
}

TEST(Recipes, FlagsWinOverThem) {
  const absl::StatusOr<Job> job = LoadJob("recipe:qlora", {{"lora", "rank=4,dora,save=lm_head"}});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->quantize->type, "nf4");
  EXPECT_EQ(job->lora->rank, 4);
  EXPECT_TRUE(job->lora->dora);
  EXPECT_THAT(job->lora->modules_to_save, ElementsAre("lm_head"));
  EXPECT_THAT(job->lora->targets, ElementsAre("all-linear"));
}

TEST(Recipes, AnUnknownNameIsRefused) {
  EXPECT_THAT(std::string(LoadJob("recipe:qlorra", {}).status().message()), HasSubstr("did you mean qlora?"));
}

TEST(Trainer, ArgumentsBecomeAJob) {
  const absl::StatusOr<TrainerJob> made = JobFromTrainer(Source{"args.json", R"({
    "bf16": true, "per_device_train_batch_size": 4, "gradient_accumulation_steps": 8, "optim": "paged_adamw_8bit",
    "gradient_checkpointing": true, "max_grad_norm": 0.3, "learning_rate": 2e-4, "neftune_noise_alpha": 5,
    "fsdp": [], "deepspeed": null})"});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->not_understood, ElementsAre("neftune_noise_alpha = 5"));
  Job job;
  std::vector<Problem> problems;
  ASSERT_TRUE(ReadJob(Source{"job", made->text}, job, problems).ok());
  EXPECT_TRUE(problems.empty()) << made->text;
  EXPECT_EQ(job.precision, Precision::kAmpBf16);
  EXPECT_EQ(job.bind["batch"], 4);
  EXPECT_EQ(job.accumulate, 8);
  EXPECT_EQ(job.optimizer, "bnb-paged-adamw8bit");
  EXPECT_TRUE(job.checkpoint.all_blocks);
  EXPECT_FALSE(job.checkpoint.reentrant);
  EXPECT_EQ(job.clip_grad->max_norm, 0.3);
}

TEST(Trainer, AnUnknownOptimizerIsListed) {
  const absl::StatusOr<TrainerJob> made = JobFromTrainer(Source{"args.json", R"({"optim": "grokadamw"})"});
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->not_understood, ElementsAre("optim = grokadamw"));
}

}  // namespace
}  // namespace memcrest
