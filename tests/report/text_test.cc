#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "src/report/renderer.h"
#include "src/report/text_table.h"
#include "tests/report/sample_report.h"

namespace memcrest {
namespace {

std::string Text(const Report& report, const RenderOptions& options = {}) {
  return Renderers().Find("text")->render(report, options);
}
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(TextReport, SaysTheAnswerFirstAndThenWhy) {
  EXPECT_EQ(Text(SampleReport()), absl::StrReplaceAll(R"(peak 21.0 GiB of 24.0 GiB on rank 0, backward of model.layers.31.mlp: fits, 3.00 GiB free

net.onnx  batch=8
1,073,741,824 parameters (4.00 GiB), all trainable
precision fp32

  allocated  17.0 GiB  live tensors in allocator blocks (max_memory_allocated)
  reserved   20.0 GiB  the allocator's segments, 2.00 GiB lost to fragmentation
  process    21.0 GiB  as nvidia-smi shows: 20.5 GiB to 22.0 GiB

live tensors over the step
   $8
  $1$8
  $8$8
  forward

  peak of phase  allocated  live tensors
  forward         15.0 GiB      14.0 GiB
  backward        17.0 GiB      16.0 GiB
  between steps   5.00 GiB      4.00 GiB

live tensors at the peak, 16.0 GiB (backward of model.layers.31.mlp,
  native_layer_norm_backward)
  activations  10.0 GiB  62.5 %  ###############
  parameters   4.00 GiB  25.0 %  ######
  gradients    2.00 GiB  12.5 %  ###

by module
  model.layers.31.mlp  3.00 GiB  18.8 %  7 tensors

largest tensors
  output of gelu  1.00 GiB  activations, forward

assumed
  A0301 dropout "p" is 0.1 (512 B)

operators without a rule (inputs and output are assumed saved)
  com.acme::Foo  2 times  1.00 KiB

next
  memcrest inspect net.onnx
)", {{"$1", "\u2581"}, {"$8", "\u2588"}}));  // blocks of one and of eight eighths
}

// By operator the sample has only its largest tensors to go by; modules are cut to two segments.
TEST(TextReport, ListsThePeakByWhatIsAskedFor) {
  const std::string modules = Text(SampleReport(), {.by = By::kPattern, .depth = 3});
  EXPECT_NE(modules.find("\nby module\n  model.layers.31  3.00 GiB  18.8 %  7 tensors\n"), std::string::npos) << modules;
  EXPECT_EQ(modules.find("largest tensors"), std::string::npos);
  const std::string ops = Text(SampleReport(), {.by = By::kOp});
  EXPECT_NE(ops.find("\nby the operator that made them\n  gelu  1.00 GiB  6.2 %  1 tensor\n"), std::string::npos) << ops;
  const std::string one = Text(SampleReport(), {.top = 1, .by = By::kCategory});
  EXPECT_NE(one.find("  activations  10.0 GiB  62.5 %  ###############\n  (2 more)     6.00 GiB  37.5 %\n"), std::string::npos) << one;
}

TEST(TextReport, ModulesThatDifferInNumbersAreOnePattern) {
  Report report = SampleReport();
  report.devices[0].top_modules = {{"model.layers.0.mlp", 2 << 20, 7}, {"model.layers.1.mlp", 1 << 20, 8}, {"model.head.0", 5, 1}};
  const std::vector<BreakdownRow> rows = Breakdown(report.devices[0], By::kPattern);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "model.layers.*.mlp");
  EXPECT_EQ(rows[0].bytes, 3 << 20);
  EXPECT_EQ(rows[0].tensors, 15);
  EXPECT_EQ(rows[1].name, "model.head.0");  // the only one keeps its number
}

TEST(TextReport, LinesBelowTheAnswerHaveAtMost80Columns) {
  Report report = SampleReport();
  report.devices[0].top_tensors[0].name = std::string(200, 'n');
  report.devices[0].top_modules[0].module = "model." + std::string(200, 'm');
  const std::vector<std::string> lines = absl::StrSplit(Text(report), '\n');
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_LE(lines[i].size(), 80u) << lines[i];
}

TEST(TextReport, AJobThatDoesNotFitSaysByHowMuchAndWhere) {
  Report report = SampleReport();
  DeviceReport& d = report.devices[0];
  d.capacity = Bytes{20} << 30;
  d.fits = false;
  d.breaks = BreakReport{"forward", "mm", "model.head", "output of mm", Bytes{2} << 30, Bytes{15} << 30,
                         Bytes{18} << 30, Bytes{1} << 30, {"expandable_segments:True"}};
  const std::string text = Text(report);
  EXPECT_EQ(FirstLine(text),
            "peak 21.0 GiB of 20.0 GiB on rank 0, backward of model.layers.31.mlp: does not fit, 1.00 GiB too much");
  EXPECT_NE(text.find("it breaks in forward of model.head (mm): 2.00 GiB asked for, 15.0 GiB in use\n"),
            std::string::npos);
}

TEST(TextReport, ColoursOnlyOnRequest) {
  EXPECT_EQ(Text(SampleReport()).find('\033'), std::string::npos);
  EXPECT_NE(Text(SampleReport(), {.color = true}).find("\033[1;32mfits"), std::string::npos);
}

TEST(TextReport, SeveralDevicesAreListed) {
  Report report = SampleReport();
  report.devices.push_back(report.devices[0]);
  report.devices[1].ranks = {1, 2, 3};
  EXPECT_NE(Text(report).find("  ranks 1-3   17.0 GiB  20.0 GiB  21.0 GiB  fits\n"), std::string::npos) << Text(report);
}

TEST(TextTable, TheFirstLeftColumnGivesWayWhereALineIsTooLong) {
  TextTable table("lr", 0, 24);
  table.Row({"model.transformer.layers.31.mlp", "1.00 GiB"});
  // 24 columns less 8 for the figure and 2 between: 14; the cut takes 2, a third of the rest stays in front.
  EXPECT_EQ(table.Text(), "mode..s.31.mlp  1.00 GiB\n");
}

TEST(Shortened, KeepsMoreOfTheEndThanOfTheStart) { EXPECT_EQ(Shortened("abcdefghijklmnop", 11), "abc..klmnop"); }

TEST(Wrapped, BreaksAtSpacesAndIndentsWhatFollows) {
  const std::string words(70, 'x');
  EXPECT_EQ(Wrapped(words + " one two three", 4), words + " one two\n    three");
}

}  // namespace
}  // namespace memcrest
