// Tensors, attributes, types and metadata as the reader gives them.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/onnx/read.h"

namespace memcrest::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::EntryOf;
using testing::GraphParts;
using testing::ModelOf;
using testing::NodeOf;
using testing::TensorOf;
using testing::ValueOf;
using testing::Wire;

constexpr int64_t kInt32 = 6, kFloat16 = 10, kUInt64 = 13, kBFloat16 = 16;

// The only initializer of a model that has only that.
Literal ReadInitializer(const Wire& tensor, std::vector<std::string>* notes = nullptr) {
  const Model model = Read(ModelOf(GraphParts{.initializers = {tensor}}.Build()));
  if (notes != nullptr) *notes = model.notes;
  EXPECT_EQ(model.graph.initializers.size(), 1u);
  Literal literal = model.graph.initializers.empty() ? Literal() : model.graph.initializers[0];
  literal.name = {};  // a view into the model that ends here
  return literal;
}

TEST(DecodeTensor, RawDataIsLittleEndian) {
  const Literal literal =
      ReadInitializer(TensorOf("t", kInt32, {2}).Bytes(9, absl::string_view("\x01\x00\x00\x00\xff\xff\xff\xff", 8)));
  EXPECT_TRUE(literal.has_data);
  EXPECT_THAT(literal.ints, ElementsAre(1, -1));
  EXPECT_EQ(literal.stored_bytes, 8);
}

TEST(DecodeTensor, TypedFieldsHoldElementsOrBitPatterns) {
  EXPECT_THAT(ReadInitializer(TensorOf("t", kInt64, {2}).Packed(7, {-3, 4})).ints, ElementsAre(-3, 4));
  EXPECT_THAT(ReadInitializer(TensorOf("t", kFloat16, {1}).Packed(5, {0x3e00})).floats, ElementsAre(1.5));
  EXPECT_THAT(ReadInitializer(TensorOf("t", kBFloat16, {1}).Packed(5, {0x4000})).floats, ElementsAre(2));
  EXPECT_THAT(ReadInitializer(TensorOf("t", kUInt64, {1}).Packed(11, {7})).ints, ElementsAre(7));
  EXPECT_THAT(ReadInitializer(TensorOf("t", kFloat, {1}).Float(4, 2.5f)).floats, ElementsAre(2.5));  // not packed
}

TEST(DecodeTensor, ElementsOfLargeTensorsAreLeftOut) {
  // One element more than kLiteralElements, a byte each.
  const Literal literal = ReadInitializer(TensorOf("t", 2, {kLiteralElements + 1}).Bytes(9, std::string(4097, 'x')));
  EXPECT_FALSE(literal.has_data);
  EXPECT_THAT(literal.ints, IsEmpty());
  EXPECT_THAT(literal.dims, ElementsAre(4097));
  EXPECT_EQ(literal.stored_bytes, 4097);
}

TEST(DecodeTensor, ATensorStrippedOfItsDataKeepsItsShape) {
  const Literal literal = ReadInitializer(TensorOf("t", kFloat, {2, 3}));
  EXPECT_FALSE(literal.has_data);
  EXPECT_THAT(literal.dims, ElementsAre(2, 3));
}

TEST(DecodeTensor, ExternalDataIsNotOpenedAndItsLengthIsKept) {
  std::vector<std::string> notes;
  const Wire tensor =
      TensorOf("t", kFloat, {2}).Message(13, EntryOf("location", "missing")).Message(13, EntryOf("length", "8"));
  const Literal literal = ReadInitializer(Wire(tensor).Number(14, 1), &notes);
  EXPECT_FALSE(literal.has_data);
  EXPECT_EQ(literal.stored_bytes, 8);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(DecodeTensor, AnExternalLengthAgainstTheShapeIsNoted) {
  std::vector<std::string> notes;
  ReadInitializer(TensorOf("t", kFloat, {2}).Message(13, EntryOf("length", "12")), &notes);
  EXPECT_THAT(notes, ElementsAre("stored length contradicts the dimensions: the dimensions count (\"t\")"));
}

TEST(DecodeTensor, ASmallTensorWithTheWrongNumberOfBytesIsRefused) {
  // Before the tensor: IR version 2 bytes, head of the graph 2, its name 6, head of the tensor 2.
  const Wire tensor = TensorOf("t", kFloat, {2}).Bytes(9, "1234");
  EXPECT_EQ(Refusal(ModelOf(GraphParts{.initializers = {tensor}}.Build())),
            "error E0211: tensor \"t\" stores another number of elements than its shape has\n"
            "  where: m.onnx, byte 12\n"
            "  why: shape 2 of float32 needs 8 bytes\n"
            "  fix: export or download the file again\n");
  const Wire typed = TensorOf("t", kInt64, {3}).Packed(7, {1, 2});
  EXPECT_THAT(Refusal(ModelOf(GraphParts{.initializers = {typed}}.Build())), HasSubstr("E0211"));
}

TEST(DecodeTensor, ImpossibleDimensionsAreRefused) {
  EXPECT_THAT(Refusal(ModelOf(GraphParts{.initializers = {TensorOf("t", kFloat, {4, -1})}}.Build())),
              HasSubstr("why: 4x-1: a stored tensor cannot have a negative one"));
  const int64_t large = int64_t{1} << 40;
  EXPECT_THAT(Refusal(ModelOf(GraphParts{.initializers = {TensorOf("t", kFloat, {large, large})}}.Build())),
              HasSubstr("more elements than any memory holds"));
}

TEST(DecodeTensor, AnUnknownDataTypeIsUndefinedWithANote) {
  std::vector<std::string> notes;
  EXPECT_EQ(ReadInitializer(TensorOf("t", 99, {2}), &notes).dtype, DType::kUndefined);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("data type unknown")));
}

TEST(DecodeTensor, ASparseInitializerCountsAsDense) {
  // values: one float; indices; dims 5x4.
  const Wire sparse =
      Wire().Message(1, TensorOf("w", kFloat, {1}).Float(4, 1)).Message(2, TensorOf("", kInt64, {1})).Packed(3, {5, 4});
  const Model model = Read(ModelOf(Wire().Message(15, sparse)));
  ASSERT_EQ(model.graph.initializers.size(), 1u);
  EXPECT_EQ(model.graph.initializers[0].name, "w");
  EXPECT_THAT(model.graph.initializers[0].dims, ElementsAre(5, 4));
  EXPECT_FALSE(model.graph.initializers[0].has_data);
  EXPECT_THAT(model.notes, ElementsAre("sparse initializer: counted as dense (\"w\")"));
}

TEST(DecodeTensor, LiteralsBeyondTheLimitLoseTheirElementsOnly) {
  // 8 bytes an element: the second tensor's 16 bytes no longer fit.
  const GraphParts parts{
      .initializers = {TensorOf("a", kInt64, {2}).Packed(7, {1, 2}), TensorOf("b", kInt64, {2}).Packed(7, {3, 4})}};
  const absl::StatusOr<Model> model = ReadBytes(ModelOf(parts.Build()).bytes(), "m.onnx", {.max_literal_bytes = 20});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->graph.initializers[0].has_data);
  EXPECT_FALSE(model->graph.initializers[1].has_data);
  EXPECT_THAT(model->notes, ElementsAre(HasSubstr("(\"b\")")));
}

// The node of a model with one node that has these attributes.
Model ReadAttributes(std::initializer_list<Wire> attributes) {
  return Read(ModelOf(GraphParts{.nodes = {NodeOf("Op", {}, {"y"}, attributes)}}.Build()));
}

TEST(DecodeAttribute, ScalarsAndListsHaveTheirKind) {
  const Wire ints = Wire().Bytes(1, "axes").Number(8, 1).Number(8, -1).Number(20, 7);
  const Wire packed = Wire().Bytes(1, "pads").Packed(8, {0, 2}).Number(20, 7);
  const Wire strings = Wire().Bytes(1, "keys").Bytes(9, "a").Bytes(9, "b").Number(20, 8);
  const Wire text = Wire().Bytes(1, "mode").Bytes(4, "same").Number(20, 3);
  const Model model = ReadAttributes(
      {testing::IntAttribute("axis", -2), testing::FloatAttribute("eps", 0.5f), ints, packed, strings, text});
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  const Node& node = model.graph.nodes[0];
  EXPECT_EQ(node.Int("axis", 0), -2);
  EXPECT_EQ(node.Float("eps", 0), 0.5);
  EXPECT_EQ(node.String("mode", ""), "same");
  ASSERT_NE(node.Ints("axes"), nullptr);
  EXPECT_THAT(*node.Ints("axes"), ElementsAre(1, -1));
  EXPECT_THAT(*node.Ints("pads"), ElementsAre(0, 2));
  EXPECT_THAT(node.Find("keys")->strings, ElementsAre("a", "b"));
}

TEST(DecodeAttribute, AbsentOrOfAnotherKindGivesTheDefault) {
  const Model model = ReadAttributes({testing::IntAttribute("axis", 3)});
  const Node& node = model.graph.nodes[0];
  EXPECT_EQ(node.Int("missing", 7), 7);
  EXPECT_EQ(node.Float("axis", 0.25), 0.25);
  EXPECT_EQ(node.Ints("axis"), nullptr);
}

TEST(DecodeAttribute, FilesOlderThanTheTypeFieldGetItFromThePayload) {
  const Model model = ReadAttributes({Wire().Bytes(1, "axis").Number(3, 2), Wire().Bytes(1, "alpha").Float(2, 0.5f)});
  EXPECT_EQ(model.graph.nodes[0].Int("axis", 0), 2);
  EXPECT_EQ(model.graph.nodes[0].Float("alpha", 0), 0.5);
}

TEST(DecodeAttribute, ConstantNodesStayNodesWithTheirLiteral) {
  const Model model = ReadAttributes({testing::TensorAttribute("value", TensorOf("", kInt64, {2}).Packed(7, {-1, 8}))});
  const Attribute* const value = model.graph.nodes[0].Find("value");
  ASSERT_NE(value, nullptr);
  ASSERT_EQ(value->tensors.size(), 1u);
  EXPECT_THAT(value->tensors[0].ints, ElementsAre(-1, 8));
}

TEST(DecodeAttribute, WithoutNameOrValueIsRefused) {
  const auto refusal = [](const Wire& attribute) {
    return Refusal(ModelOf(GraphParts{.nodes = {NodeOf("Op", {}, {"y"}, {attribute})}}.Build()));
  };
  EXPECT_THAT(refusal(Wire().Number(3, 1)), HasSubstr("error E0212: an attribute has no name"));
  EXPECT_THAT(refusal(Wire().Bytes(1, "value").Number(20, 4)), HasSubstr("attribute \"value\" lacks its value"));
  EXPECT_THAT(refusal(testing::ReferenceAttribute("axis", "p", 2)),
              HasSubstr("refers to a parameter outside a function"));
}

TEST(DecodeType, KeepsNumbersSymbolsAndUnknownDimensions) {
  const Wire shape =
      Wire().Message(1, Wire().Number(1, 8)).Message(1, Wire().Bytes(2, "8*((h - 1)//8)")).Message(1, Wire());
  const Wire type = Wire().Message(1, Wire().Number(1, kFloat).Message(2, shape));
  const Model model = Read(ModelOf(GraphParts{.inputs = {ValueOf("x").Message(2, type)}}.Build()));
  EXPECT_EQ(Dump(model.graph), "graph main\n  input x: float32[8,8*((h - 1)//8),?]\n");
}

TEST(DecodeType, NegativeDeclaredDimensionsAreUnknown) {
  const Wire shape = Wire().Message(1, Wire().Number(1, -5));
  const Wire type = Wire().Message(1, Wire().Number(1, kFloat).Message(2, shape));
  const Model model = Read(ModelOf(GraphParts{.inputs = {ValueOf("x").Message(2, type)}}.Build()));
  EXPECT_FALSE(model.graph.values[0].shape[0].known());
  EXPECT_THAT(model.notes, ElementsAre("negative declared dimension: taken as unknown (\"x\")"));
}

TEST(DecodeType, AScalarHasAShapeAndAnUnknownRankHasNone) {
  const Wire scalar = Wire().Message(1, Wire().Number(1, kFloat).Message(2, Wire()));
  const Wire unranked = Wire().Message(1, Wire().Number(1, kFloat));
  const GraphParts parts{.inputs = {ValueOf("s").Message(2, scalar), ValueOf("u").Message(2, unranked)}};
  const Model model = Read(ModelOf(parts.Build()));
  EXPECT_TRUE(model.graph.values[0].has_shape);
  EXPECT_FALSE(model.graph.values[1].has_shape);
}

TEST(DecodeType, ASequenceHasItsElementsTypeWithoutShapeAndAnOptionalAll) {
  const Wire tensor = Wire().Message(1, Wire().Number(1, kFloat).Message(2, Wire().Message(1, Wire().Number(1, 4))));
  const Wire sequence = Wire().Message(4, Wire().Message(1, tensor));
  const Wire optional = Wire().Message(9, Wire().Message(1, tensor));
  const GraphParts parts{.inputs = {ValueOf("s").Message(2, sequence), ValueOf("o").Message(2, optional)}};
  EXPECT_EQ(Dump(Read(ModelOf(parts.Build())).graph), "graph main\n  input s: float32\n  input o: float32[4]\n");
}

TEST(DecodeNode, KeepsTheExportersNotes) {
  Wire node = NodeOf("MatMul", {}, {"y"});
  node.Message(9, EntryOf("pkg.torch.onnx.fx_node", "%linear : ...")).Message(9, EntryOf("namespace", "ignored"));
  node.Message(9, EntryOf("pkg.torch.onnx.name_scopes", "['', 'fc']"));
  node.Message(9, EntryOf("pkg.torch.onnx.class_hierarchy", "['Net']"))
      .Message(9, EntryOf("pkg.torch.onnx.stack_trace", "File"));
  node.Message(9, EntryOf("pkg.onnxscript.rewriter.rule_name", "FuseBatchNormIntoConv"));
  const Model model = Read(ModelOf(GraphParts{.nodes = {node}}.Build()));
  const ExporterNotes& notes = model.graph.nodes[0].notes;
  EXPECT_EQ(notes.fx_node, "%linear : ...");
  EXPECT_EQ(notes.name_scopes, "['', 'fc']");
  EXPECT_EQ(notes.class_hierarchy, "['Net']");
  EXPECT_EQ(notes.stack_trace, "File");
  EXPECT_EQ(notes.rule_name, "FuseBatchNormIntoConv");
}

TEST(DecodeModel, FindsTheGraphSignatureInEitherPlace) {
  constexpr absl::string_view kKey = "pkg.torch.export.ExportedProgram.graph_signature";
  const Wire in_graph = ModelOf(GraphParts{.metadata = {EntryOf(kKey, "a")}}.Build());
  const Wire in_model = ModelOf(GraphParts{}.Build()).Message(14, EntryOf(kKey, "b"));
  EXPECT_EQ(Read(in_graph).graph_signature, "a");
  EXPECT_EQ(Read(in_model).graph_signature, "b");
}

TEST(DecodeModel, ReadsEveryIrVersionAndNotesNewerOnes) {
  for (const int64_t version : {1, 3, 4, 8, 10, 13, 14}) {
    const Wire file = Wire().Number(1, version).Message(7, GraphParts{}.Build()).Message(8, Wire().Number(2, 18));
    const Model model = Read(file);
    EXPECT_EQ(model.ir_version, version);
    EXPECT_THAT(model.notes, IsEmpty());
  }
  const Model newer = Read(Wire().Number(1, 99).Message(7, GraphParts{}.Build()).Message(8, Wire().Number(2, 18)));
  EXPECT_THAT(newer.notes, ElementsAre("IR version 99 is newer than the latest known (14): new features are ignored"));
}

TEST(DecodeModel, SpellsTheStandardDomainOneWay) {
  const Wire node = NodeOf("Relu", {}, {"y"}, {}, "ai.onnx");
  const Wire file = Wire()
                        .Number(1, 10)
                        .Message(7, GraphParts{.nodes = {node}}.Build())
                        .Message(8, Wire().Bytes(1, "ai.onnx").Number(2, 21));
  const Model model = Read(file);
  EXPECT_EQ(model.Opset(), 21);
  EXPECT_EQ(model.Opset("ai.onnx"), 21);
  EXPECT_EQ(model.Opset("other"), 0);
  EXPECT_EQ(model.graph.nodes[0].domain, "");
}

}  // namespace
}  // namespace memcrest::onnx
