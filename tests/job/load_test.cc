#include "src/job/load.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

struct Outcome {
  Job job;
  std::string problems;
};

Outcome FromFile(const std::string& text) {
  Outcome outcome;
  std::vector<Problem> problems;
  const absl::Status status = ReadJob({"job.json", text}, outcome.job, problems);
  EXPECT_TRUE(status.ok()) << status;
  outcome.problems = std::string(ToStatus(problems).message());
  return outcome;
}

Job FromFlags(const FlagValues& flags) {
  const auto job = LoadJob("", flags);
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? *job : Job();
}

TEST(LoadJob, DefaultsAreAPlainPyTorchScript) {
  const Job job = FromFlags({});
  EXPECT_EQ(job.precision, Precision::kFp32);
  EXPECT_EQ(job.optimizer, "adamw");
  EXPECT_EQ(job.optimizer_impl, OptimizerImpl::kForeach);
  EXPECT_EQ(job.loss, Loss::kCrossEntropy);
  EXPECT_EQ(job.outputs, Outputs::kKeep);
  EXPECT_EQ(job.zero_grad, ZeroGrad::kAfterStep);
  EXPECT_TRUE(job.set_to_none);
  EXPECT_EQ(job.parallel.world(), 1);
}

TEST(LoadJob, FlagsSayWhatFilesSay) {
  const Job file = FromFile(R"({"bind": {"batch": 8, "seq": 1024}, "input": {"ids": [8, 1024]}, "precision": "amp-bf16",
      "outputs": "drop-before-step", "clip_grad": {"max_norm": 1.5}, "freeze": ["a.*", "b"], "padding": true,
      "lora": {"rank": 16, "targets": ["q", "v"]}, "parallel": {"data": 8, "virtual": 2}})").job;
  const auto loaded = LoadJob("", {{"bind", "batch=8,seq=1024"}, {"input", "ids=8x1024"}, {"precision", "amp-bf16"},
      {"outputs", "drop-before-step"}, {"clip", "1.5"}, {"freeze", "a.*,b"}, {"padding", "true"}});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->bind, file.bind);
  EXPECT_EQ(loaded->input, file.input);
  EXPECT_EQ(loaded->precision, file.precision);
  EXPECT_EQ(loaded->outputs, file.outputs);
  EXPECT_EQ(loaded->clip_grad->max_norm, file.clip_grad->max_norm);
  EXPECT_EQ(loaded->freeze, file.freeze);
  EXPECT_EQ(loaded->padding, file.padding);
  EXPECT_EQ(file.lora->rank, 16);
  EXPECT_EQ(file.lora->targets, (std::vector<std::string>{"q", "v"}));
  EXPECT_EQ(file.parallel.data, 8);
  EXPECT_EQ(file.parallel.virtual_stages, 2);
}

TEST(LoadJob, TheTextFormOfProtobufIsReadAsPublished) {
  const Outcome o = FromFile(R"(
      bind { key: "batch" value: 8 }
      bind { key: "seq" value: 16 }
      checkpoint { list_value { values { string_value: "m.*" } values { string_value: "n" } } }
      optimizer_options { key: "momentum" value { number_value: 0.9 } }
      train: "a" train: "b")");
  EXPECT_EQ(o.problems, "");
  EXPECT_EQ(o.job.bind, (std::map<std::string, int64_t>{{"batch", 8}, {"seq", 16}}));
  EXPECT_EQ(o.job.checkpoint.modules, (std::vector<std::string>{"m.*", "n"}));
  EXPECT_EQ(AsDouble(Get(o.job.optimizer_options, "momentum"), 0), 0.9);
  EXPECT_EQ(o.job.train, (std::vector<std::string>{"a", "b"}));
}

TEST(LoadJob, MapsAreMergedEntryByEntry) {
  Job job = FromFile(R"({"bind": {"batch": 8, "seq": 16}})").job;
  std::vector<Problem> problems;
  ASSERT_TRUE(ReadJob({"more", R"({"bind": {"seq": 32}})"}, job, problems).ok());
  EXPECT_EQ(job.bind, (std::map<std::string, int64_t>{{"batch", 8}, {"seq", 32}}));
}

TEST(LoadJob, CheckpointTakesPatternsWordsAndTheWholeMessage) {
  EXPECT_EQ(FromFile(R"({"checkpoint": ["a.*"]})").job.checkpoint.modules, (std::vector<std::string>{"a.*"}));
  EXPECT_EQ(FromFile(R"({"checkpoint": "a.*"})").job.checkpoint.modules, (std::vector<std::string>{"a.*"}));
  EXPECT_TRUE(FromFile(R"({"checkpoint": "all-blocks"})").job.checkpoint.all_blocks);
  EXPECT_EQ(FromFile(R"({"checkpoint": "every=2"})").job.checkpoint.every, 2);
  EXPECT_FALSE(FromFile(R"({"checkpoint": []})").job.checkpoint.on());
  const Checkpoint message =
      FromFile(R"({"checkpoint": {"modules": ["b"], "reentrant": true, "policy": {"save": ["aten.mm"],
      "every": {"aten.mm": 2}}}})")
          .job.checkpoint;
  EXPECT_TRUE(message.reentrant);
  EXPECT_EQ(message.policy.every.at("aten.mm"), 2);
}

TEST(LoadJob, OpenSettingsKeepTheirType) {
  const Parallel p =
      FromFile(R"({"parallel": {"reshard": 4, "root_reshard": true, "backward_prefetch": "BACKWARD_POST"}})")
          .job.parallel;
  EXPECT_EQ(std::get<int64_t>(p.reshard), 4);
  EXPECT_EQ(std::get<bool>(p.root_reshard), true);
  EXPECT_EQ(std::get<std::string>(p.backward_prefetch), "BACKWARD_POST");
  EXPECT_FALSE(IsSet(p.forward_prefetch));
}

TEST(LoadJob, UnknownFieldsNameTheNearestAndShowTheirPlace) {
  EXPECT_EQ(FromFile("{\n \"precison\": \"bf16\"}").problems,
            "error E0102: unknown field \"precison\"\n"
            "  where: job.json:2:2\n"
            "     \"precison\": \"bf16\"}\n"
            "     ^\n"
            "  fix: did you mean precision?\n");
  EXPECT_NE(FromFile(R"({"lora": {"rnk": 3}})").problems.find("unknown field \"rnk\" in \"lora\""), std::string::npos);
}

TEST(LoadJob, WrongTypesAndValuesAreAllReported) {
  const std::string problems =
      FromFile(R"({"bind": {"batch": "eight"}, "loss": "cross-entrpy", "padding": 3})").problems;
  EXPECT_NE(problems.find("error E0104: field \"bind.batch\" is \"eight\""), std::string::npos) << problems;
  EXPECT_NE(problems.find("did you mean cross-entropy?"), std::string::npos) << problems;
  EXPECT_NE(problems.find("field \"padding\" is 3"), std::string::npos) << problems;
}

TEST(LoadJob, AFlagsProblemNamesTheFlag) {
  EXPECT_EQ(
      LoadJob("", {{"accumulate", "two"}}).status().message(),
      "error E0104: field \"accumulate\" is \"two\"\n  where: --accumulate two\n  why: it must be a whole number\n");
}

TEST(LoadJob, RangesAndConflictsAreReportedTogether) {
  const std::string problems(LoadJob("", {{"accumulate", "0"}, {"freeze", "a"}, {"train", "b"}}).status().message());
  EXPECT_NE(problems.find("error E0106: \"accumulate\" is 0"), std::string::npos) << problems;
  EXPECT_NE(problems.find("error E0107: both \"freeze\" and \"train\" are given"), std::string::npos) << problems;
}

TEST(LoadJob, EveryFlagHasHelpAndAUniqueName) {
  std::map<std::string, int> names;
  for (const JobFlag& flag : JobFlags()) {
    EXPECT_FALSE(flag.help.empty()) << flag.name;
    EXPECT_EQ(names[flag.name]++, 0) << flag.name;
  }
}

}  // namespace
}  // namespace memcrest
