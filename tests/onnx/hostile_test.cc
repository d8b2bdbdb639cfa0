// Damaged files of every kind end in a model or a message, never in anything else. Deterministic; the sanitizer preset
// makes it bite. Longer runs with other seeds found nothing more.
#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/onnx/read.h"

namespace memcrest::onnx {
namespace {

using testing::FunctionOf;
using testing::GraphAttribute;
using testing::GraphParts;
using testing::IntAttribute;
using testing::ModelOf;
using testing::NodeOf;
using testing::ReferenceAttribute;
using testing::TensorOf;
using testing::ValueOf;
using testing::Wire;

// A model with something of everything: literals, external data, a body, nested functions, notes, a sparse tensor.
std::string RichModel() {
  const GraphParts body{.nodes = {NodeOf("f", {"x", "k"}, {"r"}, {IntAttribute("p", 3)}, "local", "call")},
                        .outputs = {ValueOf("r", kFloat, {2})}};
  Wire noted = NodeOf("MatMul", {"x", "w"}, {"m"}, {}, "", "/mm");
  noted.Message(9, testing::EntryOf("pkg.torch.onnx.fx_node", "%mm"));
  const Wire external = TensorOf("w", kFloat, {2, 2}).Message(13, testing::EntryOf("length", "16")).Number(14, 1);
  const GraphParts parts{
      .nodes = {noted, NodeOf("If", {"c"}, {"y"}, {GraphAttribute("then_branch", body.Build("then"))}),
                NodeOf("g", {"m"}, {"z"}, {}, "local"),
                NodeOf("Constant", {}, {"q"},
                       {testing::TensorAttribute("value", TensorOf("", 10, {1}).Packed(5, {15360}))})},
      .initializers = {external, TensorOf("k", kInt64, {3}).Packed(7, {1, -1, 4}),
                       TensorOf("h", 22, {3}).Bytes(9, "ab")},
      .inputs = {ValueOf("x", kFloat, {-1, 2}), ValueOf("c", 9, {})},
      .outputs = {ValueOf("y"), ValueOf("z", kFloat, {-1, 2})},
      .value_infos = {ValueOf("m", kFloat, {-1, 2})}};
  Wire graph = parts.Build();
  graph.Message(15, Wire().Message(1, TensorOf("s", kFloat, {1}).Float(4, 1)).Packed(3, {4}));
  const Wire f =
      FunctionOf("f", {"a", "b"}, {"o"}, {NodeOf("Op", {"a", "b"}, {"o"}, {ReferenceAttribute("axis", "p", 2)})});
  const Wire g = FunctionOf("g", {"a"}, {"o"}, {NodeOf("f", {"a"}, {"t"}, {}, "local"), NodeOf("Neg", {"t"}, {"o"})});
  return ModelOf(graph, {f, g}).bytes();
}

void ExpectModelOrMessage(const std::string& bytes) {
  const absl::StatusOr<Model> model = ReadBytes(bytes, "m.onnx");
  if (model.ok()) {
    EXPECT_FALSE(Dump(*model).empty());
  } else {
    EXPECT_TRUE(absl::StartsWith(model.status().message(), "error E02")) << model.status();
  }
}

TEST(Hostile, TheRichModelItselfIsReadable) {
  const absl::StatusOr<Model> model = ReadBytes(RichModel(), "m.onnx");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.nodes.size(), 5u);  // MatMul, If, Constant and the two nodes of g
}

TEST(Hostile, EveryTruncationIsRefused) {
  const std::string whole = RichModel();
  for (size_t size = 0; size < whole.size(); ++size) ExpectModelOrMessage(whole.substr(0, size));
}

TEST(Hostile, EveryFlippedBitEndsWell) {
  const std::string whole = RichModel();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      ExpectModelOrMessage(damaged);
    }
  }
}

TEST(Hostile, RandomEditsEndWell) {
  const std::string whole = RichModel();
  std::mt19937 random(20240607);
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  for (int run = 0; run < 3000; ++run) {
    std::string damaged = whole;
    for (size_t edits = 1 + below(6); edits > 0; --edits) {
      const size_t at = below(damaged.size());
      switch (below(3)) {
        case 0: damaged[at] = static_cast<char>(random()); break;
        case 1: damaged.erase(at, 1 + below(8)); break;
        default: damaged.insert(at, whole.substr(below(whole.size()), 1 + below(40))); break;
      }
      if (damaged.empty()) damaged = whole;
    }
    ExpectModelOrMessage(damaged);
  }
}

TEST(Hostile, RepeatedTinyFieldsRunIntoTheBudget) {
  // Each empty node, opset or dimension costs two bytes of file and far more in memory.
  constexpr size_t kCount = 200000;
  std::string nodes, dims;
  for (size_t i = 0; i < kCount; ++i) absl::StrAppend(&nodes, "\x0a", absl::string_view("\0", 1));
  dims.assign(kCount, '\x01');
  const ReadOptions options{.max_structure_bytes = 1 << 20};
  EXPECT_TRUE(absl::StrContains(Refusal(Wire().Bytes(7, nodes).bytes(), options), "E0215"));
  const Wire tensor = Wire().Bytes(1, dims).Number(2, 1).Bytes(8, "w");
  EXPECT_TRUE(absl::StrContains(Refusal(Wire().Message(7, Wire().Message(5, tensor)).bytes(), options), "E0215"));
}

TEST(Hostile, CapturesThroughManyBodiesRunIntoTheBudget) {
  // 1,000 names, each captured by 60 bodies inside each other.
  Wire user;
  for (int i = 0; i < 1000; ++i) user.Bytes(1, absl::StrCat("n", i));
  Wire graph = Wire().Message(1, user.Bytes(2, "y").Bytes(4, "Sum"));
  for (int i = 0; i < 60; ++i)
    graph = GraphParts{.nodes = {NodeOf("If", {"x"}, {"y"}, {GraphAttribute("b", graph)})}}.Build();
  EXPECT_TRUE(absl::StrContains(Refusal(ModelOf(graph).bytes(), {.max_structure_bytes = 2 << 20}), "E0215"));
}

TEST(Hostile, LargeGraphsInReverseOrderAreSortedInLinearTime) {
  constexpr int kNodes = 50000;
  GraphParts parts{.inputs = {ValueOf("v0")}};
  for (int i = kNodes; i > 0; --i)
    parts.nodes.push_back(NodeOf("Neg", {absl::StrCat("v", i - 1)}, {absl::StrCat("v", i)}));
  const Model model = Read(ModelOf(parts.Build()));
  ASSERT_EQ(model.graph.nodes.size(), static_cast<size_t>(kNodes));
  EXPECT_EQ(model.graph.values[static_cast<size_t>(model.graph.nodes[0].outputs[0])].name, "v1");
}

}  // namespace
}  // namespace memcrest::onnx
