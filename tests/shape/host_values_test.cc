// Integers that a graph computes its sizes from.
#include "tests/shape/shape_testing.h"

namespace memcrest {
namespace {

using Values = std::vector<int64_t>;

ModelBuilder Image() {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"4", "6", "10"}).Node("Shape", {"x"}, {"s"});
  return b;
}

TEST(HostValues, FlowFromShapeThroughArithmeticIntoReshape) {
  ModelBuilder b = Image();
  b.Int("one", 1).Int("two", 2).Ints("zero", {0}).Ints("minus", {-1}).Ints("axis0", {0});
  b.Node("Gather", {"s", "one"}, {"height"}).Node("Div", {"height", "two"}, {"half"});  // 6 / 2
  b.Node("Unsqueeze", {"half", "axis0"}, {"half1"})
      .Node("Concat", {"zero", "half1", "minus"}, {"target"})
      .With("axis", 0);
  b.Node("Reshape", {"x", "target"}, {"y"});
  EXPECT_EQ(Bound(b, "target").ints, (Values{0, 3, -1}));
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{4, 3, 20}));  // 240 / 12
}

TEST(HostValues, DivisionTruncatesTowardZero) {
  ModelBuilder b;
  b.Ints("a", {-7, 7, -7}).Ints("b", {2, -2, -2}).Node("Div", {"a", "b"}, {"q"}).Node("Mod", {"a", "b"}, {"r"});
  EXPECT_EQ(Bound(b, "q").ints, (Values{-3, -3, 3}));
  EXPECT_EQ(Bound(b, "r").ints, (Values{1, -1, -1}));  // the divisor's sign
}

TEST(HostValues, OverflowAndDivisionByZeroHaveNone) {
  ModelBuilder b;
  b.Int("big", INT64_MAX)
      .Int("two", 2)
      .Int("zero", 0)
      .Node("Mul", {"big", "two"}, {"m"})
      .Node("Div", {"two", "zero"}, {"d"});
  EXPECT_FALSE(Bound(b, "m").has_ints);
  EXPECT_FALSE(Bound(b, "d").has_ints);
}

TEST(HostValues, FloatsGoThroughSquareRootsAndRounding) {
  ModelBuilder b = Image();
  b.Int("two", 2).Node("Gather", {"s", "two"}, {"n"}).Node("Cast", {"n"}, {"f"}).With("to", 1);  // 10.0
  b.Node("Sqrt", {"f"}, {"root"}).Node("Ceil", {"root"}, {"up"}).Node("Cast", {"up"}, {"i"}).With("to", 7);
  EXPECT_EQ(Bound(b, "i").ints, (Values{4}));  // sqrt(10) = 3.16
}

TEST(HostValues, SlicesReverseAndClamp) {
  ModelBuilder b;
  b.Ints("v", {1, 2, 3, 4, 5}).Ints("start", {-1}).Ints("end", {INT64_MIN + 1}).Ints("axis", {0}).Ints("step", {-2});
  b.Node("Slice", {"v", "start", "end", "axis", "step"}, {"y"});
  EXPECT_EQ(Bound(b, "y").ints, (Values{5, 3, 1}));
}

TEST(HostValues, ShapeTakesAPartOfTheSizes) {
  ModelBuilder b;
  b.Weight("x", {4, 6, 10}).Node("Shape", {"x"}, {"y"}).With("start", -2).With("end", 10);
  EXPECT_EQ(Bound(b, "y").ints, (Values{6, 10}));
}

TEST(HostValues, MovesKeepElements) {
  ModelBuilder b;
  b.Ints("v", {1, 2, 3, 4, 5, 6}).Ints("shape", {2, 3}).Node("Reshape", {"v", "shape"}, {"m"});
  b.Node("Transpose", {"m"}, {"t"}).Ints("rep", {1, 2}).Node("Tile", {"t", "rep"}, {"tile"});
  b.Ints("at", {2, 0}).Node("Gather", {"t", "at"}, {"g"}).With("axis", 0);
  EXPECT_EQ(Bound(b, "t").ints, (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(Bound(b, "tile").ints, (Values{1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6}));
  EXPECT_EQ(Bound(b, "g").ints, (Values{3, 6, 1, 4}));
}

TEST(HostValues, ConditionsChoose) {
  ModelBuilder b;
  b.Ints("a", {-1, 5}).Ints("minus", {-1}).Ints("ones", {1, 1});
  b.Node("Equal", {"a", "minus"}, {"eq"}).Node("Where", {"eq", "ones", "a"}, {"y"});
  EXPECT_EQ(Bound(b, "y").ints, (Values{1, 5}));
}

TEST(HostValues, RangesScattersAndReductions) {
  ModelBuilder b;
  b.Int("from", 2).Int("to", 9).Int("by", 3).Node("Range", {"from", "to", "by"}, {"r"});  // 2 5 8
  b.Ints("at", {-1})
      .Ints("new", {7})
      .Node("ScatterElements", {"r", "at", "new"}, {"s"})
      .Node("ReduceProd", {"s"}, {"p"})
      .With("keepdims", 0);
  b.Node("CumSum", {"s", "zero"}, {"c"}).Int("zero", 0);
  EXPECT_EQ(Bound(b, "r").ints, (Values{2, 5, 8}));
  EXPECT_EQ(Bound(b, "s").ints, (Values{2, 5, 7}));
  EXPECT_EQ(Bound(b, "p").ints, (Values{70}));
}

TEST(HostValues, PositionsOfKnownNonZeros) {
  ModelBuilder b;
  b.Ints("v", {0, 3, 0, 9}).Node("NonZero", {"v"}, {"y"});
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{1, 2}));
  EXPECT_EQ(Bound(b, "y").ints, (Values{1, 3}));
}

TEST(HostValues, ResizeUsesScalesOrSizes) {
  ModelBuilder b;
  b.Weight("x", {1, 3, 5, 7}).Floats("scales", {1, 1, 2, 1.5}).Ints("sizes", {1, 3, 8, 9});
  b.Node("Resize", {"x", "", "scales"}, {"a"}).Node("Resize", {"x", "", "", "sizes"}, {"b"});
  EXPECT_EQ(Bound(b, "a").sizes, (Dims{1, 3, 10, 10}));  // floor(7 * 1.5)
  EXPECT_EQ(Bound(b, "b").sizes, (Dims{1, 3, 8, 9}));
}

TEST(HostValues, DataDependentSizesAreBoundedAndTold) {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"4", "6"})
      .Node("NonZero", {"x"}, {"n"})
      .Node("Transpose", {"n"}, {"t"})
      .Node("Shape", {"t"}, {"s"});
  EXPECT_EQ(Bound(b, "n").sizes, (Dims{2, 24}));
  EXPECT_TRUE(Bound(b, "t").upper_bound);
  EXPECT_TRUE(Bound(b, "s").upper_bound);
  EXPECT_EQ(AssumptionsOf(b), (std::vector<std::string>{"A0402"}));
}

TEST(HostValues, SlicesWithUnknownBoundsAreBoundedByTheWhole) {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"4", "6"}).Input("end", DType::kInt64, {"1"}).Ints("start", {0});
  b.Node("Slice", {"x", "start", "end"}, {"y"});
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{4, 6}));
  EXPECT_TRUE(Bound(b, "y").upper_bound);
}

TEST(HostValues, ASizeThatTracingFrozeIsComputedAnew) {
  // [64, 2 * batch, 3] where 64 was the number of points when the file was made; x has 4 * 6 * 10 elements.
  ModelBuilder b = Image();
  b.Int("zero", 0).Int("two", 2).Ints("axis", {0}).Ints("frozen", {64}).Ints("three", {3});
  b.Node("Gather", {"s", "zero"}, {"batch"})
      .Node("Mul", {"batch", "two"}, {"heads"})
      .Node("Unsqueeze", {"heads", "axis"}, {"heads1"});
  b.Node("Concat", {"frozen", "heads1", "three"}, {"target"}).With("axis", 0).Node("Reshape", {"x", "target"}, {"y"});
  // 240 / (8 * 3) = 10; freeing the 3 instead would need 240 / (64 * 8), no integer.
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{10, 8, 3}));
  EXPECT_EQ(AssumptionsOf(b), (std::vector<std::string>{"A0406"}));
}

}  // namespace
}  // namespace memcrest
