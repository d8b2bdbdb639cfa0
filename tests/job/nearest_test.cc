#include "src/job/nearest.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("bf61", "bf16"), 1);  // one swap of neighbours
}

TEST(Nearest, DashesUnderscoresAndCaseCostNothing) {
  EXPECT_EQ(Nearest("Zero_Grad", {"zero-grad", "zero"}), "zero-grad");
  EXPECT_EQ(Nearest("--precison", {"--optimizer", "--precision"}), "--precision");
}

TEST(Nearest, NothingIsSuggestedForAWordThatIsNotClose) { EXPECT_EQ(Nearest("foo", {"job", "bind"}), ""); }

TEST(DidYouMean, ListsShortSetsWhereNothingIsClose) {
  EXPECT_EQ(DidYouMean("x", {"keep", "drop"}), "one of keep, drop");
  EXPECT_EQ(DidYouMean("drp", {"keep", "drop"}), "did you mean drop?");
  EXPECT_EQ(DidYouMean("x", {"keep", "drop"}, 1), "");
}

}  // namespace
}  // namespace memcrest
