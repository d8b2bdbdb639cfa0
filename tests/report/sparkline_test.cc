#include "src/report/sparkline.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

TimelineSample Sample(const std::string& phase, Bytes bytes) {
  TimelineSample s;
  s.phase = phase;
  s.by_category[0] = bytes;
  return s;
}

// One row has eight levels: 8 of 8 is a full block (2588), 4 a half one (2584), 0 a space.
TEST(Sparkline, ARowHasEightLevels) {
  const std::vector<TimelineSample> timeline = {Sample("a", 0), Sample("a", 4), Sample("b", 8)};
  EXPECT_EQ(Sparkline(timeline, 80, 1), "   \u2584\u2588\n  a b\n");
}

// Four samples in two columns: each column shows its larger one.
TEST(Sparkline, AColumnShowsTheMostOfItsSamples) {
  const std::vector<TimelineSample> timeline = {Sample("a", 8), Sample("a", 1), Sample("a", 2), Sample("a", 4)};
  EXPECT_EQ(Sparkline(timeline, 2, 1), "  \u2588\u2584\n  a\n");
}

TEST(Sparkline, APhaseNearTheEndIsWrittenToTheLeft) {
  std::vector<TimelineSample> timeline(20, Sample("forward", 1));
  timeline.push_back(Sample("optimizer", 1));
  EXPECT_NE(Sparkline(timeline, 80, 1).find("  forward     optimizer\n"), std::string::npos) << Sparkline(timeline, 80, 1);
}

TEST(Sparkline, NothingIsDrawnOfNothing) { EXPECT_EQ(Sparkline({}, 80, 3), ""); }

}  // namespace
}  // namespace memcrest
