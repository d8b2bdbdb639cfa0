#include "src/job/allocator_conf.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

AllocatorConf Parsed(const std::string& text) {
  std::vector<Problem> problems;
  const AllocatorConf conf = ParseAllocatorConf(text, problems);
  for (const Problem& p : problems) ADD_FAILURE() << ToText(p);
  return conf;
}

std::string Refusal(const std::string& text) {
  std::vector<Problem> problems;
  ParseAllocatorConf(text, problems);
  return problems.size() == 1 ? ToText(problems[0]) : std::to_string(problems.size()) + " problems";
}

TEST(AllocatorConf, ReadsWhatPyTorchReads) {
  const AllocatorConf conf =
      Parsed("expandable_segments:True, max_split_size_mb:128,garbage_collection_threshold:0.8,backend:native");
  EXPECT_TRUE(conf.expandable_segments);
  EXPECT_EQ(conf.max_split_size, Bytes{128} << 20);
  EXPECT_EQ(conf.garbage_collection_threshold, 0.8);
  EXPECT_EQ(Parsed("").max_split_size, AllocatorConf::kUnlimited);
}

// c10/core/AllocatorConfig.cpp: sizes below the first boundary take its divisions, those between two listed ones none.
TEST(AllocatorConf, DivisionsMayDifferBySize) {
  const AllocatorConf conf = Parsed("roundup_power2_divisions:[4:8,16:2,>:1]");
  EXPECT_EQ(conf.DivisionsFor(1000), 8);
  EXPECT_EQ(conf.DivisionsFor(Bytes{5} << 20), 8);
  EXPECT_EQ(conf.DivisionsFor(Bytes{9} << 20), 0);
  EXPECT_EQ(conf.DivisionsFor(Bytes{31} << 20), 2);
  EXPECT_EQ(conf.DivisionsFor(Bytes{64} << 20), 1);
  EXPECT_EQ(Parsed("roundup_power2_divisions:16").DivisionsFor(Bytes{1} << 40), 16);
}

TEST(AllocatorConf, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(Refusal("max_split_size:128").find("fix: did you mean max_split_size_mb?"), std::string::npos)
      << Refusal("max_split_size:128");
  EXPECT_NE(Refusal("max_split_size_mb:20").find("it takes a number above 20"), std::string::npos);
  EXPECT_NE(Refusal("roundup_power2_divisions:3").find("a power of two"), std::string::npos);
  EXPECT_NE(Refusal("roundup_power2_divisions:[256:1").find("a power of two"), std::string::npos);
  EXPECT_NE(Refusal("backend:cudaMallocAsync").find("not modelled"), std::string::npos);
  EXPECT_NE(Refusal("expandable_segments:true").find("True or False"), std::string::npos);
}

}  // namespace
}  // namespace memcrest
