#include <gtest/gtest.h>

#include "tests/shape/shape_testing.h"

namespace memcrest {
namespace {

ModelBuilder TwoInputs() {
  ModelBuilder b;
  b.Input("ids", DType::kInt64, {"batch", "seq"}).Input("mask", DType::kInt64, {"batch", "2*seq"});
  b.Node("Identity", {"ids"}, {"y"}).Output("y");
  return b;
}

TEST(FreeSymbols, AreListedWithEveryPlaceTheyOccurIn) {
  const std::vector<FreeSymbol> symbols = FreeSymbols(TwoInputs().Build());
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].name, "batch");
  EXPECT_EQ(symbols[0].where, (std::vector<std::string>{"ids dimension 0", "mask dimension 0"}));
  EXPECT_EQ(symbols[1].name, "seq");
  EXPECT_EQ(symbols[1].where, (std::vector<std::string>{"ids dimension 1", "mask dimension 1"}));
}

TEST(BindShapes, SymbolsGiveInputsTheirSizes) {
  const Binding binding = {{{"batch", 4}, {"seq", 10}}, {}};
  EXPECT_EQ(Bound(TwoInputs(), "mask", binding).sizes, (Dims{4, 20}));  // 2 * seq
  EXPECT_EQ(Bound(TwoInputs(), "y", binding).sizes, (Dims{4, 10}));
}

TEST(BindShapes, ExplicitSizesOfOneInputBindItsSymbolsElsewhere) {
  EXPECT_EQ(Bound(TwoInputs(), "mask", {{}, {{"ids", {4, 10}}}}).sizes, (Dims{4, 20}));
}

TEST(BindShapes, UnboundSymbolsAreReportedAllAtOnce) {
  EXPECT_EQ(ErrorOf(TwoInputs()),
            "error E0401: no size for batch, seq\n"
            "  where: batch: ids dimension 0, mask dimension 0; seq: ids dimension 1, mask dimension 1\n"
            "  why: the network was exported with free dimensions\n"
            "  fix: --bind batch=8,seq=1024\n");
}

TEST(BindShapes, UnknownNamesGetTheNearestOne) {
  EXPECT_EQ(ErrorOf(TwoInputs(), {{{"batch", 4}, {"seq", 10}, {"bach", 3}}, {}}),
            "error E0405: no input has a dimension named bach\n"
            "  where: --bind bach=3\n"
            "  why: the inputs' free dimensions are batch, seq\n"
            "  fix: did you mean batch? \n");
}

TEST(BindShapes, ANameThatStatesALiteralSizeIsAccepted) {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"batch", "16"}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(AssumptionsOf(b, {{{"batch", 2}, {"seq", 16}}, {}}), (std::vector<std::string>{"A0404"}));
}

TEST(BindShapes, ContradictionsAreRefused) {
  EXPECT_NE(
      ErrorOf(TwoInputs(), {{{"batch", 4}, {"seq", 10}}, {{"ids", {5, 10}}}}).find("E0406: batch is both 4 and 5"),
      std::string::npos);
  EXPECT_NE(ErrorOf(TwoInputs(), {{}, {{"ids", {4, 10}}, {"mask", {4, 21}}}})
                .find("E0406: dimension 1 of mask is both 21 and 20"),
            std::string::npos);
  EXPECT_NE(ErrorOf(TwoInputs(), {{}, {{"ids", {4, 10, 1}}}}).find("E0406: ids has 2 dimensions, not 3"),
            std::string::npos);
  EXPECT_NE(ErrorOf(TwoInputs(), {{{"batch", 0}, {"seq", 10}}, {}}).find("E0406: batch is bound to 0"),
            std::string::npos);
}

TEST(BindShapes, DimensionsWithoutANameCanBeBoundByPlace) {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"", "3"}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_NE(ErrorOf(b).find("no size for x_dim_0"), std::string::npos);
  EXPECT_EQ(Bound(b, "y", {{{"x_dim_0", 7}}, {}}).sizes, (Dims{7, 3}));
}

TEST(BindShapes, InputsWithoutARankNeedExplicitSizes) {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {}).Node("Relu", {"x"}, {"y"}).Output("y");
  onnx::Model model = b.Build();
  model.graph.values[0].has_shape = false;
  EXPECT_FALSE(BindShapes(model, {}).ok());
  const absl::StatusOr<BoundShapes> shapes = BindShapes(model, {{}, {{"x", {2, 5}}}});
  ASSERT_TRUE(shapes.ok());
  EXPECT_EQ(shapes->values[1].sizes, (Dims{2, 5}));
}

TEST(BindShapes, SizesBeyondTheLimitAreRefused) {
  const std::string error = ErrorOf(TwoInputs(), {{{"batch", int64_t{1} << 40}, {"seq", int64_t{1} << 30}}, {}});
  EXPECT_NE(error.find("E0402: input ids of 1099511627776x1073741824 elements is too large"), std::string::npos);
}

// A model with the literal batch 2 in its input.
ModelBuilder LiteralBatch() {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"2", "3", "8"}).Weight("w", {24, 5});
  return b;
}

TEST(LiteralBatch, IsReplacedWhereEveryValueFollows) {
  ModelBuilder b = LiteralBatch();
  b.Node("Flatten", {"x"}, {"f"}).Node("MatMul", {"f", "w"}, {"y"}).Output("y");
  EXPECT_EQ(Bound(b, "y", {{{"batch", 16}}, {}}).sizes, (Dims{16, 5}));
}

TEST(LiteralBatch, StaysWhereNothingIsBound) {
  ModelBuilder b = LiteralBatch();
  b.Node("Flatten", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{2, 24}));
}

TEST(LiteralBatch, IsRefusedWhereAReshapeConstantHoldsIt) {
  ModelBuilder b = LiteralBatch();
  b.Ints("shape", {2, -1}).Node("Reshape", {"x", "shape"}, {"y"}).Output("y");
  EXPECT_EQ(ErrorOf(b, {{{"batch", 16}}, {}}),
            "error E0404: the network was exported for batch 2 and cannot be taken for batch 16\n"
            "  where: node \"y_node\" (Reshape)\n"
            "  why: its shape is a constant made for that batch\n"
            "  fix: export it again with a dynamic batch dimension, or leave batch out of --bind\n");
}

TEST(LiteralBatch, AnEqualNumberBehindTheBatchIsNoPin) {
  ModelBuilder b = LiteralBatch();
  b.Ints("shape", {-1, 2, 12}).Node("Reshape", {"x", "shape"}, {"y"}).Output("y");
  EXPECT_EQ(Bound(b, "y", {{{"batch", 16}}, {}}).sizes, (Dims{16, 2, 12}));
}

TEST(LiteralBatch, IsRefusedWhereSizesStopFitting) {
  ModelBuilder b = LiteralBatch();
  b.Weight("state", {2, 3, 8}).Node("Add", {"x", "state"}, {"y"}).Output("y");
  const std::string error = ErrorOf(b, {{{"batch", 16}}, {}});
  EXPECT_NE(error.find("error E0404"), std::string::npos);
  EXPECT_NE(error.find("sizes 16x3x8 and 2x3x8 do not broadcast"), std::string::npos);
}

TEST(LiteralBatch, IsRefusedWhereAFixedPartIsTaken) {
  ModelBuilder b = LiteralBatch();
  b.Int("i", 0).Node("Gather", {"x", "i"}, {"y"}).With("axis", 0).Output("y");
  EXPECT_NE(ErrorOf(b, {{{"batch", 16}}, {}}).find("it takes a fixed part out of the batch"), std::string::npos);
}

}  // namespace
}  // namespace memcrest
