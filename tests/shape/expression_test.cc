#include "src/shape/expression.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

struct Case {
  const char* text;
  int64_t value;
  const char* why;
};

TEST(Expression, IsEvaluatedAsExportersMeanIt) {
  const SymbolTable symbols = {{"batch", 3}, {"height", 100}, {"seq", 700}, {"s0", 5}};
  const Case cases[] = {
      {"12", 12, "a number"},
      {"batch", 3, "a symbol"},
      {"8*batch", 24, "a product"},
      {"8*(((height - 1)//8)) + 8", 104, "99 // 8 = 12, 8 * 12 + 8"},
      {"Min(512, seq)", 512, "SymPy's minimum"},
      {"Max(1, batch, seq)", 700, "more than two arguments"},
      {"floor(seq/32)", 21, "700 / 32 = 21.875"},
      {"ceiling(seq/32)", 22, "rounded up"},
      {"seq/7", 100, "an exact fraction"},
      {"-batch + 10", 7, "a sign"},
      {"(batch - 10)//4", -2, "-7 // 4 rounds down"},
      {"Mod(seq, 32)", 28, "700 - 21 * 32"},
      {"seq % 32", 28, "the operator"},
      {"2**s0", 32, "a power"},
      {"batch*s0 - 2*batch", 9, "precedence: 15 - 6"},
      {"FloorDiv(seq, 8)", 87, "torch's spelling"},
  };
  for (const Case& c : cases) EXPECT_EQ(EvaluateExpression(c.text, symbols), c.value) << c.text << ": " << c.why;
}

TEST(Expression, HasNoValueWhereSomethingIsMissing) {
  const SymbolTable symbols = {{"a", 7}, {"big", INT64_MAX}};
  for (const char* text : {"b", "a + b", "a/2", "a//0", "big*2", "a +", "(a", "", "Unknown(a)", "2**100"}) {
    EXPECT_EQ(EvaluateExpression(text, symbols), std::nullopt) << text;
  }
}

TEST(Expression, DeepParenthesesAreRefusedInsteadOfOverflowingTheStack) {
  const std::string text = std::string(100000, '(') + "1" + std::string(100000, ')');
  EXPECT_EQ(EvaluateExpression(text, {}), std::nullopt);
}

TEST(Expression, ListsItsSymbolsOnceInOrder) {
  const std::vector<absl::string_view> expected = {"seq", "batch"};
  EXPECT_EQ(SymbolsOf("seq*batch + Min(seq, 8)"), expected);
}

TEST(Expression, TextThatIsNoExpressionIsOneSymbol) {
  const std::vector<absl::string_view> expected = {"?weird name"};
  EXPECT_EQ(SymbolsOf(" ?weird name"), expected);
  EXPECT_EQ(EvaluateExpression("?weird name", {{"?weird name", 4}}), 4);
}

TEST(Expression, ASymbolWithTheWholeNameWins) { EXPECT_EQ(EvaluateExpression("batch-size", {{"batch-size", 6}}), 6); }

}  // namespace
}  // namespace memcrest
