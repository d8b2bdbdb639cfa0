// Axes and rows of sweeps; threads and shards give the rows that one thread gives.
#include "src/plan/sweep.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/plan/sweep_rows.h"

namespace memcrest {
namespace {

std::string ValuesOf(const std::string& text) {
  const absl::StatusOr<Axis> axis = ParseAxis(text);
  return axis.ok() ? absl::StrJoin(axis->values, " ") : std::string(axis.status().message()).substr(0, 11);
}

TEST(SweepAxes, ListsAndRanges) {
  EXPECT_EQ(ValuesOf("batch=1,2,5"), "1 2 5");
  EXPECT_EQ(ValuesOf("zero=0..3"), "0 1 2 3");
  EXPECT_EQ(ValuesOf("batch=1,2,4..64"), "1 2 4 8 16 32 64");
  EXPECT_EQ(ValuesOf("batch=1,2,4..50"), "1 2 4 8 16 32");
  EXPECT_EQ(ValuesOf("seq=16,32..96"), "16 32 48 64 80 96");
  EXPECT_EQ(ValuesOf("seq=1,2,3..6,10"), "1 2 3 4 5 6 10");
  EXPECT_EQ(ValuesOf("precision=fp32,amp-bf16"), "fp32 amp-bf16");
  EXPECT_EQ(ValuesOf("checkpoint=false;a.*,b.*"), "false a.*,b.*");
}

TEST(SweepAxes, WhatCannotBeReadIsRefused) {
  for (const char* text : {"batch", "=1", "batch=", "batch=1,,2", "batch=a..b", "batch=4,2..8", "batch=1..9999999"}) {
    EXPECT_EQ(ValuesOf(text), "error E0911") << text;
  }
}

TEST(SweepAxes, TheLastAxisVariesFastest) {
  const std::vector<Axis> axes = {{"batch", {"1", "2"}}, {"precision", {"fp32", "bf16", "fp16"}}};
  EXPECT_EQ(*CountSettings(axes), 6);
  EXPECT_EQ(SettingOf(axes, 0), (std::vector<std::string>{"1", "fp32"}));
  EXPECT_EQ(SettingOf(axes, 1), (std::vector<std::string>{"1", "bf16"}));
  EXPECT_EQ(SettingOf(axes, 5), (std::vector<std::string>{"2", "fp16"}));
  EXPECT_FALSE(CountSettings({axes[0], axes[0]}).ok());
}

TEST(SweepAxes, ANameThatNoFlagHasIsADimension) {
  const FlagValues flags = FlagsOf({{"batch", {}}, {"optimizer", {}}}, {"8", "sgd"});
  EXPECT_EQ(flags, (FlagValues{{"bind", "batch=8"}, {"optimizer", "sgd"}}));
}

SweepQuestion Question() {
  SweepQuestion q;
  q.model_path = std::string(MEMCREST_SOURCE_DIR) + "/models/resnet50.onnx";
  q.flags = {{"bind", "height=64,width=64"}, {"device", "t4"}};
  q.axes = {{"batch", {"1", "600"}}, {"optimizer", {"sgd", "no-such"}}, {"precision", {"fp32", "amp-bf16"}}};
  return q;
}

std::string Csv(const SweepOptions& options, const std::set<int64_t>& skip = {}) {
  std::string text;
  const absl::Status done = Sweep(Question(), options, skip, [&](const SweepRow& row) { absl::StrAppend(&text, CsvRow(row, "r")); });
  EXPECT_TRUE(done.ok()) << done;
  return text;
}

TEST(Sweep, RowsComeInOrderFromAnyNumberOfThreads) {
  const std::string one = Csv({0.1, 1, 0, 1});
  EXPECT_EQ(one.substr(0, 15), "0,r,1,sgd,fp32,");
  EXPECT_EQ(Csv({0.1, 3, 0, 1}), one);
}

TEST(Sweep, ARefusedSettingIsARow) {
  const std::string text = Csv({0.1, 1, 0, 1});
  EXPECT_NE(text.find("2,r,1,no-such,fp32,refused,0,0,0,0,,,,error E0502"), std::string::npos) << text;
}

TEST(Sweep, ShardsAddUpToTheWhole) {
  std::map<int64_t, SweepRow> rows;
  for (int64_t shard = 0; shard < 3; ++shard) {
    const std::string text = CsvHeader(Question().axes) + Csv({0.1, 1, shard, 3});
    absl::StatusOr<std::map<int64_t, SweepRow>> read = ReadCsv("shard.csv", text, Question().axes, "r");
    ASSERT_TRUE(read.ok()) << read.status();
    rows.merge(*read);
  }
  EXPECT_EQ(rows.size(), 8u);
  std::string table = SweepTable(Question().axes, rows);
  std::map<int64_t, SweepRow> whole;
  ASSERT_TRUE(Sweep(Question(), {0.1, 2, 0, 1}, {}, [&](SweepRow row) { whole[row.index] = std::move(row); }).ok());
  EXPECT_EQ(table, SweepTable(Question().axes, whole));
}

TEST(Sweep, ASweepGoesOnWhereItWasStopped) {
  const std::string whole = Csv({0.1, 1, 0, 1});
  const std::string cut = CsvHeader(Question().axes) + whole.substr(0, whole.find("\n4,") - 5);  // in the middle of row 3
  const absl::StatusOr<std::map<int64_t, SweepRow>> read = ReadCsv("rows.csv", cut, Question().axes, "r");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ(whole.substr(whole.find("3,r")), Csv({0.1, 2, 0, 1}, {0, 1, 2}));
}

TEST(Sweep, RowsOfAnotherSweepAreRefused) {
  const std::string text = CsvHeader(Question().axes) + "0,other,1,sgd,fp32,yes,1,1,1,1,forward,mm,,\n";
  EXPECT_FALSE(ReadCsv("rows.csv", text, Question().axes, "r").ok());
  SweepQuestion other = Question();
  other.flags.emplace_back("accumulate", "2");
  EXPECT_NE(*RunOf(Question(), 0.1), *RunOf(other, 0.1));
  EXPECT_NE(*RunOf(Question(), 0.1), *RunOf(Question(), 0.2));
}

}  // namespace
}  // namespace memcrest
