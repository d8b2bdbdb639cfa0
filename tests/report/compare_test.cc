#include "src/report/compare.h"

#include <gtest/gtest.h>

#include "src/report/renderer.h"
#include "tests/report/sample_report.h"

namespace memcrest {
namespace {

// The sample with half of its activations, 5 GiB less, in bf16.
Report Smaller() {
  constexpr Bytes kGiB = Bytes{1} << 30;
  Report report = SampleReport();
  report.settings = {{"precision", "bf16"}};
  DeviceReport& d = report.devices[0];
  d.peak.by_category[static_cast<size_t>(Category::kActivations)] = 5 * kGiB;
  d.peak.live.tensor = 11 * kGiB;
  d.peak.phase = "forward";
  d.process = 16 * kGiB;
  d.top_modules = {{"model.layers.31.mlp", kGiB, 3}};
  return report;
}

TEST(Compare, SaysWhatFellAndWhy) {
  EXPECT_EQ(CompareText(DigestOf(SampleReport(), "a"), DigestOf(Smaller(), "b"), 12),
            R"(b needs 5.00 GiB less than a: 16.0 GiB against 21.0 GiB (-23.8 %)

settings that differ
  precision fp32 -> bf16

                           a         b  difference
  process           21.0 GiB  16.0 GiB   -5.00 GiB
  reserved          20.0 GiB  20.0 GiB           =
  allocated         17.0 GiB  17.0 GiB           =
  live tensors      16.0 GiB  11.0 GiB   -5.00 GiB
  peak of forward   15.0 GiB  15.0 GiB           =
  peak of backward  17.0 GiB  17.0 GiB           =
the peak moves: backward of model.layers.31.mlp -> forward of
  model.layers.31.mlp

fell at the peak
  activations  10.0 GiB  5.00 GiB  -5.00 GiB
  why activations: precision fp32 -> bf16, the peak moves

modules that differ most at the peak
  model.layers.*.mlp  3.00 GiB  1.00 GiB  -2.00 GiB
)");
}

// What a file of either kind says is what the report says.
TEST(Compare, ReadsReportsAndPages) {
  const std::string expected = CompareText(DigestOf(SampleReport(), "a"), DigestOf(Smaller(), "b"), 12);
  for (const char* format : {"json", "html"}) {
    const Source source{"b", Renderers().Find(format)->render(Smaller(), {})};
    EXPECT_TRUE(LooksLikeReport(source));
    const absl::StatusOr<Digest> b = ReadDigest(source);
    ASSERT_TRUE(b.ok()) << b.status();
    EXPECT_EQ(CompareText(DigestOf(SampleReport(), "a"), *b, 12), expected) << format;
  }
}

TEST(Compare, OtherFilesAreRefused) {
  EXPECT_FALSE(LooksLikeReport({"job", "precision: \"bf16\""}));
  EXPECT_FALSE(LooksLikeReport({"page", "<!doctype html><p>hello"}));
  const absl::StatusOr<Digest> d = ReadDigest({"x.json", R"({"schema": 2, "devices": []})"});
  ASSERT_FALSE(d.ok());
  EXPECT_EQ(d.status().message().substr(0, 12), "error E0704:");
}

}  // namespace
}  // namespace memcrest
