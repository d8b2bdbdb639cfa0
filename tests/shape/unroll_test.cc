// If, Loop and Scan replaced by what they run.
#include "src/shape/unroll.h"

#include "absl/strings/str_join.h"
#include "tests/shape/shape_testing.h"

namespace memcrest {
namespace {

struct Unrolled {
  std::string ops;      // of the top graph, in order, without constants
  std::string message;  // of the problem
  std::vector<std::string> assumed;
  onnx::Model model;
  BoundShapes shapes;
};

Unrolled UnrolledOf(const GraphBuilder& builder, Binding binding = {}) {
  Unrolled u;
  std::vector<Assumption> assumptions;
  absl::StatusOr<onnx::Model> model = Unroll(static_cast<const ModelBuilder&>(builder).Build(), &binding, &assumptions);
  if (!model.ok()) {
    u.message = std::string(model.status().message());
    return u;
  }
  std::vector<absl::string_view> ops;
  for (const onnx::Node& node : model->graph.nodes) {
    if (node.op_type != "Constant") ops.push_back(node.op_type);
  }
  u.ops = absl::StrJoin(ops, " ");
  for (const Assumption& a : assumptions) u.assumed.push_back(a.code);
  u.model = *std::move(model);
  absl::StatusOr<BoundShapes> shapes = BindShapes(u.model, binding);
  EXPECT_TRUE(shapes.ok()) << shapes.status().message();
  if (shapes.ok()) u.shapes = *std::move(shapes);
  return u;
}
Dims SizesOf(const Unrolled& u, absl::string_view name) {
  return u.shapes.values[static_cast<size_t>(u.model.graph.Find(name))].sizes;
}

ModelBuilder Start() {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"4", "6"}).Input("flag", DType::kBool, {});
  return b;
}
void AddIf(ModelBuilder& b, const char* condition) {
  GraphBuilder longer = b.SubGraph(), shorter = b.SubGraph();
  longer.Node("Relu", {"x"}, {"a"}).Node("Exp", {"a"}, {"e"}).Output("e");
  shorter.Node("Neg", {"x"}, {"c"}).Output("c");
  b.Node("If", {condition}, {"y"}).WithGraph("then_branch", longer).WithGraph("else_branch", shorter);
}
TEST(Unroll, AKnownConditionLeavesItsBranch) {
  ModelBuilder b = Start();
  b.Int("no", 0);
  AddIf(b, "no");
  b.Node("Abs", {"y"}, {"z"});
  const Unrolled u = UnrolledOf(b);
  EXPECT_EQ(u.ops, "Neg Abs");
  EXPECT_EQ(u.assumed, std::vector<std::string>());
}

TEST(Unroll, AnUnknownConditionLeavesTheLargerBranchAndSaysSo) {
  ModelBuilder b = Start();
  AddIf(b, "flag");
  const Unrolled u = UnrolledOf(b);
  EXPECT_EQ(u.ops, "Relu Exp");
  EXPECT_EQ(u.assumed, std::vector<std::string>{"A0407"});
}

TEST(Unroll, ALoopRunsOncePerTripAndItsRowsAreStacked) {
  ModelBuilder b = Start();
  b.Int("two", 2);
  AddLoop(b, "two");
  const Unrolled u = UnrolledOf(b);
  EXPECT_EQ(u.ops, "Concat Identity Gather Concat Identity Gather Unsqueeze Unsqueeze Concat");
  EXPECT_EQ(SizesOf(u, "final"), (Dims{6, 6}));  // 4 rows and one more each trip
  EXPECT_EQ(SizesOf(u, "stacked"), (Dims{2, 6}));
}

TEST(Unroll, ALoopWithoutTripsPassesItsArgumentsOn) {
  ModelBuilder b = Start();
  b.Int("none", 0);
  GraphBuilder body = b.SubGraph();
  body.Input("i", DType::kInt64, {}).Input("go", DType::kBool, {}).Input("h", DType::kFloat32, {});
  body.Node("Relu", {"h"}, {"next"}).Output("go").Output("next");
  b.Node("Loop", {"none", "", "x"}, {"final"}).WithGraph("body", body);
  EXPECT_EQ(UnrolledOf(b).ops, "Identity");
}

TEST(Unroll, TripsThatNothingBoundsAreAskedFor) {
  ModelBuilder b = Start();
  b.Input("n", DType::kInt64, {});
  AddLoop(b, "n");
  const Unrolled asked = UnrolledOf(b);
  EXPECT_NE(asked.message.find("--bind final_node.trips=N"), std::string::npos) << asked.message;
  Binding binding;
  binding.symbols["final_node.trips"] = 3;
  const Unrolled told = UnrolledOf(b, binding);
  EXPECT_EQ(told.message, "");
  EXPECT_EQ(SizesOf(told, "final"), (Dims{7, 6}));
}

TEST(Unroll, AScanCutsItsInputsAndStacksItsOutputs) {
  ModelBuilder b = Start();
  b.Weight("start", {6});
  GraphBuilder body = b.SubGraph();
  body.Input("h", DType::kFloat32, {}).Input("each", DType::kFloat32, {});
  body.Node("Add", {"h", "each"}, {"next"}).Node("Relu", {"next"}, {"out"}).Output("next").Output("out");
  b.Node("Scan", {"start", "x"}, {"last", "all"}).With("num_scan_inputs", 1).WithGraph("body", body);
  const Unrolled u = UnrolledOf(b);
  EXPECT_EQ(u.ops,
            "Gather Add Relu Gather Add Relu Gather Add Relu Gather Add Relu "
            "Unsqueeze Unsqueeze Unsqueeze Unsqueeze Concat");
  EXPECT_EQ(SizesOf(u, "all"), (Dims{4, 6}));
  EXPECT_EQ(SizesOf(u, "last"), (Dims{6}));
}

TEST(Unroll, BodiesInsideBodiesAreExpandedToo) {
  ModelBuilder b = Start();
  b.Int("two", 2).Int("no", 0);
  GraphBuilder body = b.SubGraph();
  GraphBuilder yes = body.SubGraph(), no = body.SubGraph();
  yes.Node("Exp", {"h"}, {"p"}).Output("p");
  no.Node("Neg", {"h"}, {"q"}).Output("q");
  body.Input("i", DType::kInt64, {}).Input("go", DType::kBool, {}).Input("h", DType::kFloat32, {});
  body.Node("If", {"no"}, {"next"}).WithGraph("then_branch", yes).WithGraph("else_branch", no);
  body.Output("go").Output("next");
  b.Node("Loop", {"two", "", "x"}, {"final"}).WithGraph("body", body);
  const Unrolled u = UnrolledOf(b);
  EXPECT_EQ(u.ops, "Neg Neg");
  EXPECT_EQ(SizesOf(u, "final"), (Dims{4, 6}));
}

TEST(Unroll, AModelWithoutControlFlowIsHandedThrough) {
  ModelBuilder b = Start();
  b.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(UnrolledOf(b).ops, "Relu");
}

}  // namespace
}  // namespace memcrest
