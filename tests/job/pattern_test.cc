#include "src/job/pattern.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

TEST(Pattern, AStarStaysInsideItsSegment) {
  EXPECT_TRUE(MatchesPattern("model.layers.3", "model.layers.*"));
  EXPECT_FALSE(MatchesPattern("model.layers.3.mlp", "model.layers.*"));
  EXPECT_FALSE(MatchesPattern("model.layers", "model.layers.*"));
}

TEST(Pattern, SetsAndSingleCharacters) {
  EXPECT_TRUE(MatchesPattern("h.4", "h.[0246]"));
  EXPECT_FALSE(MatchesPattern("h.5", "h.[0246]"));
  EXPECT_TRUE(MatchesPattern("h.5", "h.[!0246]"));
  EXPECT_TRUE(MatchesPattern("h.3", "h.[0-4]"));
  EXPECT_FALSE(MatchesPattern("h.13", "h.?"));
}

TEST(Pattern, BelowAlsoTakesWhatLiesUnderAMatch) {
  EXPECT_TRUE(MatchesPattern("model.fc.weight", "model.fc", true));
  EXPECT_FALSE(MatchesPattern("model.fc2.weight", "model.fc", true));
}

}  // namespace
}  // namespace memcrest
