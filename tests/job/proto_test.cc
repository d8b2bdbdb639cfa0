// proto/job.proto and proto/device.proto document the tables of src/job: both must have the same fields.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "src/job/job_fields.h"

namespace memcrest {
namespace {

using Names = std::set<std::string>;

std::map<std::string, Names> MessagesOf(const std::string& file) {
  std::map<std::string, Names> messages;
  std::ifstream in(std::string(MEMCREST_SOURCE_DIR) + "/proto/" + file);
  EXPECT_TRUE(in.good()) << file;
  static const std::regex kMessage(R"(^message (\w+) \{)"),
      kField(R"(^  (?:repeated |optional )?(?:map<[^>]*>|[\w.]+) (\w+) = \d+;)");
  std::string line, current;
  while (std::getline(in, line)) {
    std::smatch match;
    if (std::regex_search(line, match, kMessage)) current = match[1];
    else if (std::regex_search(line, match, kField)) messages[current].insert(match[1]);
  }
  return messages;
}

template <class T>
Names FieldNames() {
  Names names;
  for (const Field<T>& field : FieldsOf<T>()) names.insert(field.name);
  return names;
}

TEST(JobProto, HasTheFieldsOfTheTables) {
  const auto messages = MessagesOf("job.proto");
  EXPECT_EQ(messages.at("Job"), FieldNames<Job>());
  EXPECT_EQ(messages.at("Checkpoint"), FieldNames<Checkpoint>());
  EXPECT_EQ(messages.at("SavePolicy"), FieldNames<SavePolicy>());
  EXPECT_EQ(messages.at("Lora"), FieldNames<Lora>());
  EXPECT_EQ(messages.at("Quantize"), FieldNames<Quantize>());
  EXPECT_EQ(messages.at("Offload"), FieldNames<Offload>());
  EXPECT_EQ(messages.at("ClipGrad"), FieldNames<ClipGrad>());
  EXPECT_EQ(messages.at("Ema"), FieldNames<Ema>());
  EXPECT_EQ(messages.at("Evaluate"), FieldNames<Evaluate>());
  EXPECT_EQ(messages.at("Parallel"), FieldNames<Parallel>());
  EXPECT_EQ(messages.at("ZeroOptimization"), FieldNames<ZeroOptimization>());
  EXPECT_EQ(messages.at("OffloadTo"), FieldNames<OffloadTo>());
}

}  // namespace
}  // namespace memcrest
