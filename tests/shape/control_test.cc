// Sub-graphs, sequences and optionals.
#include "tests/shape/shape_testing.h"

namespace memcrest {
namespace {

// If over `condition`: x (4x6) or its first 2 rows.
ModelBuilder Branches() {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"4", "6"}).Input("flag", DType::kBool, {}).Ints("start", {0}).Ints("end", {2});
  return b;
}
void AddIf(ModelBuilder& b, const char* condition) {
  GraphBuilder whole = b.SubGraph(), part = b.SubGraph();
  whole.Node("Relu", {"x"}, {"a"}).Output("a");
  part.Node("Slice", {"x", "start", "end"}, {"c"}).Output("c");
  b.Node("If", {condition}, {"y"}).WithGraph("then_branch", whole).WithGraph("else_branch", part);
}

TEST(If, AKnownConditionPicksItsBranch) {
  ModelBuilder b = Branches();
  b.Node("Shape", {"x"}, {"s"})
      .Node("ReduceMax", {"s"}, {"m"})
      .With("keepdims", 0)
      .Int("five", 5)
      .Node("Less", {"m", "five"}, {"small"});
  AddIf(b, "small");  // 6 < 5 is false
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{2, 6}));
  EXPECT_FALSE(Bound(b, "y").upper_bound);
}

TEST(If, AnUnknownConditionTakesTheLargerSizes) {
  ModelBuilder b = Branches();
  AddIf(b, "flag");
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{4, 6}));
  EXPECT_TRUE(Bound(b, "y").upper_bound);
}

TEST(If, ABranchThatCannotRunIsTheOneNotTaken) {
  ModelBuilder b = Branches();
  GraphBuilder fits = b.SubGraph(), fails = b.SubGraph();
  fits.Node("Relu", {"x"}, {"a"}).Output("a");
  fails.Node("Squeeze", {"x", "start"}, {"c"}).Output("c");  // dimension 0 has 4 elements
  b.Node("If", {"flag"}, {"y"}).WithGraph("then_branch", fails).WithGraph("else_branch", fits);
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{4, 6}));
}

TEST(Loop, KnownTripsAreFollowed) {
  ModelBuilder b = Branches();
  b.Int("three", 3);
  AddLoop(b, "three");
  EXPECT_EQ(Bound(b, "final").sizes, (Dims{7, 6}));  // 4 + 3 rows
  EXPECT_EQ(Bound(b, "stacked").sizes, (Dims{3, 6}));
  EXPECT_EQ(AssumptionsOf(b), std::vector<std::string>());
}

TEST(Loop, NoTripStacksNothing) {
  ModelBuilder b = Branches();
  b.Int("none", 0);
  AddLoop(b, "none");
  EXPECT_EQ(Bound(b, "final").sizes, (Dims{4, 6}));
  EXPECT_EQ(Bound(b, "stacked").sizes, (Dims{0, 6}));
}

TEST(Loop, UnknownTripsAreTold) {
  ModelBuilder b = Branches();
  b.Input("n", DType::kInt64, {});
  AddLoop(b, "n");
  EXPECT_EQ(Bound(b, "stacked").sizes, (Dims{1, 6}));
  EXPECT_EQ(AssumptionsOf(b), (std::vector<std::string>{"A0403"}));
}

TEST(Loop, ManyEqualTripsAreExtrapolated) {
  ModelBuilder b = Branches();
  b.Int("many", 1'000'000'000);
  GraphBuilder body = b.SubGraph();
  body.Input("i", DType::kInt64, {}).Input("go", DType::kBool, {}).Input("h", DType::kFloat32, {});
  body.Node("Tanh", {"h"}, {"next"}).Node("Identity", {"go"}, {"still"}).Output("still").Output("next").Output("next");
  b.Node("Loop", {"many", "", "x"}, {"final", "stacked"}).WithGraph("body", body);
  EXPECT_EQ(Bound(b, "stacked").sizes, (Dims{1'000'000'000, 4, 6}));
}

TEST(Scan, CutsAndStacks) {
  ModelBuilder b = Branches();
  b.Weight("h0", {5});
  GraphBuilder body = b.SubGraph();
  body.Input("h", DType::kFloat32, {}).Input("column", DType::kFloat32, {});
  body.Node("Relu", {"h"}, {"h1"}).Node("Tanh", {"column"}, {"o"}).Output("h1").Output("o");
  b.Node("Scan", {"h0", "x"}, {"h_last", "all"})
      .With("num_scan_inputs", 1)
      .With("scan_input_axes", std::vector<int64_t>{1})
      .WithGraph("body", body);
  EXPECT_EQ(Bound(b, "h_last").sizes, (Dims{5}));
  EXPECT_EQ(Bound(b, "all").sizes, (Dims{6, 4}));  // 6 columns of 4
}

TEST(Sequence, ElementsAreFollowedOneByOne) {
  ModelBuilder b;
  b.Weight("x", {4, 6}).Weight("z", {2, 6}).Int("at", -1).Int("one", 1);
  b.Node("SequenceConstruct", {"x", "z"}, {"seq"}).Node("SequenceInsert", {"seq", "z"}, {"longer"});
  b.Node("SequenceAt", {"longer", "at"}, {"last"}).Node("SequenceErase", {"longer", "one"}, {"shorter"});
  b.Node("ConcatFromSequence", {"shorter"}, {"joined"}).With("axis", 0).Node("SequenceLength", {"longer"}, {"n"});
  EXPECT_EQ(Bound(b, "last").sizes, (Dims{2, 6}));
  EXPECT_EQ(Bound(b, "joined").sizes, (Dims{6, 6}));
  EXPECT_EQ(Bound(b, "n").ints, (std::vector<int64_t>{3}));
}

TEST(Sequence, SplittingGivesEvenPartsAndARest) {
  ModelBuilder b;
  b.Weight("x", {5, 6})
      .Int("two", 2)
      .Int("last", 2)
      .Node("SplitToSequence", {"x", "two"}, {"seq"})
      .Node("SequenceAt", {"seq", "last"}, {"y"});
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{1, 6}));
}

TEST(Sequence, WhereATensorIsNeededIsAnError) {
  ModelBuilder b;
  b.Weight("x", {5, 6}).Node("SequenceConstruct", {"x"}, {"seq"}).Node("Relu", {"seq"}, {"y"});
  EXPECT_NE(ErrorOf(b).find("is a sequence where a tensor is needed"), std::string::npos);
}

TEST(Optional, KnowsWhetherItHoldsSomething) {
  ModelBuilder b;
  b.Weight("x", {5}).Node("Optional", {"x"}, {"full"}).Node("Optional", {}, {"empty"});
  b.Node("OptionalHasElement", {"full"}, {"yes"})
      .Node("OptionalHasElement", {"empty"}, {"no"})
      .Node("OptionalGetElement", {"full"}, {"y"});
  EXPECT_EQ(Bound(b, "yes").ints, (std::vector<int64_t>{1}));
  EXPECT_EQ(Bound(b, "no").ints, (std::vector<int64_t>{0}));
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{5}));
}

}  // namespace
}  // namespace memcrest
