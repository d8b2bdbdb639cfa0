// One row per rule and version: sizes of the inputs, attributes, sizes of the outputs.
#include <functional>

#include "tests/shape/shape_testing.h"

namespace memcrest {
namespace {

struct Row {
  const char* why;
  const char* op;
  int64_t opset;
  std::vector<Dims> inputs;
  std::function<void(GraphBuilder&)> attributes;  // may be null
  std::vector<Dims> outputs;
};

// Inputs are float32 weights named i0, i1 ...; outputs o0, o1 ...
void Check(const Row& row, absl::string_view domain = "") {
  ModelBuilder b(row.opset);
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    inputs.push_back("i" + std::to_string(i));
    b.Weight(inputs.back(), row.inputs[i]);
  }
  for (size_t i = 0; i < row.outputs.size(); ++i) outputs.push_back("o" + std::to_string(i));
  b.Node(row.op, inputs, outputs, domain);
  if (row.attributes) row.attributes(b);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BoundValue value = Bound(b, outputs[i]);
    EXPECT_EQ(value.sizes, row.outputs[i]) << row.op << " opset " << row.opset << ", output " << i << ": " << row.why;
  }
  EXPECT_EQ(AssumptionsOf(b), std::vector<std::string>()) << row.op << ": " << row.why;
}

const auto kernel3 = [](GraphBuilder& b) { b.With("kernel_shape", std::vector<int64_t>{3, 3}); };

TEST(Rules, PointwiseOperatorsBroadcast) {
  Check({"numpy broadcasting", "Add", 18, {{4, 1, 3}, {5, 1}}, nullptr, {{4, 5, 3}}});
  Check({"three operands", "Where", 18, {{5, 1}, {3}, {}}, nullptr, {{5, 3}}});
  Check({"many operands", "Sum", 18, {{5, 1}, {3}, {2, 1, 1}}, nullptr, {{2, 5, 3}}});
  Check({"the slope does not change the sizes", "PRelu", 18, {{2, 4, 3}, {4, 1}}, nullptr, {{2, 4, 3}}});
  Check({"legacy axis broadcasting gives A's sizes",
         "Add",
         6,
         {{2, 3, 4}, {3}},
         [](GraphBuilder& b) { b.With("broadcast", 1).With("axis", 1); },
         {{2, 3, 4}}});
}

TEST(Rules, Products) {
  Check({"batched", "MatMul", 18, {{7, 2, 3}, {3, 5}}, nullptr, {{7, 2, 5}}});
  Check({"batches broadcast", "MatMul", 18, {{1, 2, 3}, {6, 3, 5}}, nullptr, {{6, 2, 5}}});
  Check({"a vector on the right", "MatMul", 18, {{7, 2, 3}, {3}}, nullptr, {{7, 2}}});
  Check({"two vectors", "MatMul", 18, {{3}, {3}}, nullptr, {{}}});
  Check({"both transposed",
         "Gemm",
         18,
         {{3, 2}, {5, 3}, {5}},
         [](GraphBuilder& b) { b.With("transA", 1).With("transB", 1); },
         {{2, 5}}});
  Check({"attention scores",
         "Einsum",
         18,
         {{2, 8, 5, 64}, {2, 8, 7, 64}},
         [](GraphBuilder& b) { b.With("equation", "bhid,bhjd->bhij"); },
         {{2, 8, 5, 7}}});
  Check({"an ellipsis",
         "Einsum",
         18,
         {{2, 8, 5, 6}, {6, 3}},
         [](GraphBuilder& b) { b.With("equation", "...i,ij->...j"); },
         {{2, 8, 5, 3}}});
  Check({"implicit result: letters that occur once, sorted",
         "Einsum",
         18,
         {{3, 2}, {3, 4}},
         [](GraphBuilder& b) { b.With("equation", "ba,bc"); },
         {{2, 4}}});
}

TEST(Rules, SlidingWindows) {
  Check({"(8 + 2 - 3) / 2 + 1 = 4",
         "Conv",
         18,
         {{2, 4, 8, 8}, {6, 4, 3, 3}},
         [](GraphBuilder& b) {
           b.With("strides", std::vector<int64_t>{2, 2}).With("pads", std::vector<int64_t>{1, 1, 1, 1});
         },
         {{2, 6, 4, 4}}});
  Check({"dilation 2: a window of 5",
         "Conv",
         18,
         {{2, 4, 8}, {6, 2, 3}},
         [](GraphBuilder& b) { b.With("group", 2).With("dilations", std::vector<int64_t>{2}); },
         {{2, 6, 4}}});
  Check({"SAME keeps ceil(n / stride)",
         "Conv",
         18,
         {{1, 1, 5, 5}, {1, 1, 3, 3}},
         [](GraphBuilder& b) { b.With("auto_pad", "SAME_UPPER").With("strides", std::vector<int64_t>{2, 2}); },
         {{1, 1, 3, 3}}});
  Check({"2 * (4 - 1) + 1 + 3 - 2",
         "ConvTranspose",
         18,
         {{1, 4, 4}, {4, 2, 3}},
         [](GraphBuilder& b) {
           b.With("strides", std::vector<int64_t>{2})
               .With("pads", std::vector<int64_t>{1, 1})
               .With("output_padding", std::vector<int64_t>{1})
               .With("group", 3);
         },
         {{1, 6, 8}}});
  Check({"values and indices", "MaxPool", 18, {{1, 2, 5, 5}}, kernel3, {{1, 2, 3, 3}, {1, 2, 3, 3}}});
  Check(
      {"ceil mode: (5 - 2) / 2 + 1 = 2, and one partial window",
       "AveragePool",
       18,
       {{1, 1, 5}},
       [](GraphBuilder& b) {
         b.With("kernel_shape", std::vector<int64_t>{2}).With("strides", std::vector<int64_t>{2}).With("ceil_mode", 1);
       },
       {{1, 1, 3}}});
  Check({"a partial window that starts in the padding does not count",
         "MaxPool",
         18,
         {{1, 1, 4}},
         [](GraphBuilder& b) {
           b.With("kernel_shape", std::vector<int64_t>{1})
               .With("strides", std::vector<int64_t>{4})
               .With("pads", std::vector<int64_t>{0, 2})
               .With("ceil_mode", 1);
         },
         {{1, 1, 2}}});
  Check({"one value per channel", "GlobalAveragePool", 18, {{2, 3, 7, 9}}, nullptr, {{2, 3, 1, 1}}});
}

TEST(Rules, NormalizationsAndTheirStatistics) {
  Check({"training, opset 14 on",
         "BatchNormalization",
         15,
         {{2, 3, 4}, {3}, {3}, {3}, {3}},
         nullptr,
         {{2, 3, 4}, {3}, {3}}});
  Check({"training before opset 14",
         "BatchNormalization",
         9,
         {{2, 3, 4}, {3}, {3}, {3}, {3}},
         nullptr,
         {{2, 3, 4}, {3}, {3}, {3}, {3}}});
  Check({"mean and deviation per row",
         "LayerNormalization",
         17,
         {{2, 5, 8}, {8}, {8}},
         nullptr,
         {{2, 5, 8}, {2, 5, 1}, {2, 5, 1}}});
  Check({"from axis 1",
         "LayerNormalization",
         17,
         {{2, 5, 8}, {5, 8}},
         [](GraphBuilder& b) { b.With("axis", 1); },
         {{2, 5, 8}, {2, 1, 1}}});
  Check({"the mask is as large", "Dropout", 13, {{2, 5}}, nullptr, {{2, 5}, {2, 5}}});
  Check({"a mean is a scalar; log-probabilities keep the scores' sizes",
         "SoftmaxCrossEntropyLoss",
         13,
         {{4, 9}, {4}},
         nullptr,
         {{}, {4, 9}}});
}

TEST(Rules, RecurrentLayers) {
  const auto two_ways = [](GraphBuilder& b) { b.With("hidden_size", 6).With("direction", "bidirectional"); };
  Check(
      {"time first", "LSTM", 14, {{9, 2, 5}, {2, 24, 5}, {2, 24, 6}}, two_ways, {{9, 2, 2, 6}, {2, 2, 6}, {2, 2, 6}}});
  Check({"batch first",
         "GRU",
         14,
         {{2, 9, 5}, {1, 18, 5}, {1, 18, 6}},
         [](GraphBuilder& b) { b.With("layout", 1); },
         {{2, 9, 1, 6}, {2, 1, 6}}});
}

TEST(Rules, FusedAttention) {
  Check({"grouped queries of rank 4",
         "Attention",
         23,
         {{2, 8, 5, 16}, {2, 4, 7, 16}, {2, 4, 7, 32}},
         nullptr,
         {{2, 8, 5, 32}, {2, 4, 7, 16}, {2, 4, 7, 32}, {2, 8, 5, 7}}});
  Check({"packed heads",
         "Attention",
         23,
         {{2, 5, 128}, {2, 7, 64}, {2, 7, 64}},
         [](GraphBuilder& b) { b.With("q_num_heads", 8).With("kv_num_heads", 4); },
         {{2, 5, 128}}});
}

TEST(Rules, ContributedOperators) {
  Check({"present holds key and value",
         "Attention",
         18,
         {{2, 5, 64}, {64, 192}, {192}},
         [](GraphBuilder& b) { b.With("num_heads", 4); },
         {{2, 5, 64}, {2, 2, 4, 5, 16}}},
        "com.microsoft");
  Check({"8 query heads of 16",
         "GroupQueryAttention",
         18,
         {{2, 5, 128}, {2, 5, 64}, {2, 5, 64}},
         [](GraphBuilder& b) { b.With("num_heads", 8).With("kv_num_heads", 4); },
         {{2, 5, 128}, {2, 4, 5, 16}, {2, 4, 5, 16}}},
        "com.microsoft");
  Check({"N of a packed weight",
         "MatMulNBits",
         18,
         {{2, 5, 64}, {32, 2, 16}},
         [](GraphBuilder& b) { b.With("K", 64).With("N", 32); },
         {{2, 5, 32}}},
        "com.microsoft");
  Check({"output, statistics and the sum",
         "SkipLayerNormalization",
         18,
         {{2, 5, 8}, {2, 5, 8}, {8}},
         nullptr,
         {{2, 5, 8}, {2, 5, 1}, {2, 5, 1}, {2, 5, 8}}},
        "com.microsoft");
}

TEST(Rules, ReductionsAndSearches) {
  const auto axes = [](GraphBuilder& b) { b.With("axes", std::vector<int64_t>{-1, 0}); };
  Check({"axes as an attribute, dimensions kept", "ReduceMean", 13, {{2, 3, 4}}, axes, {{1, 3, 1}}});
  Check({"no axes: all", "ReduceMax", 18, {{2, 3, 4}}, [](GraphBuilder& b) { b.With("keepdims", 0); }, {{}}});
  Check({"no axes and told to do nothing",
         "ReduceSum",
         18,
         {{2, 3}},
         [](GraphBuilder& b) { b.With("noop_with_empty_axes", 1); },
         {{2, 3}}});
  Check({"one axis dropped",
         "ArgMax",
         13,
         {{2, 3, 4}},
         [](GraphBuilder& b) { b.With("axis", 1).With("keepdims", 0); },
         {{2, 4}}});
  Check({"k as an attribute", "TopK", 9, {{2, 9}}, [](GraphBuilder& b) { b.With("k", 3); }, {{2, 3}, {2, 3}}});
}

TEST(Rules, MovingAndCutting) {
  Check({"reversed by default", "Transpose", 18, {{2, 3, 4}}, nullptr, {{4, 3, 2}}});
  Check({"axes as an attribute",
         "Unsqueeze",
         11,
         {{2, 3}},
         [](GraphBuilder& b) { b.With("axes", std::vector<int64_t>{0, -1}); },
         {{1, 2, 3, 1}}});
  Check({"all ones", "Squeeze", 13, {{1, 3, 1}}, nullptr, {{3}}});
  Check({"in front of axis 2", "Flatten", 13, {{2, 3, 4}}, [](GraphBuilder& b) { b.With("axis", 2); }, {{6, 4}}});
  Check({"along axis -1", "Concat", 13, {{2, 3}, {2, 5}}, [](GraphBuilder& b) { b.With("axis", -1); }, {{2, 8}}});
  Check({"equal parts", "Split", 13, {{6, 2}}, nullptr, {{2, 2}, {2, 2}, {2, 2}}});
  Check({"the last part is smaller",
         "Split",
         18,
         {{7}},
         [](GraphBuilder& b) { b.With("num_outputs", 3); },
         {{3}, {3}, {1}}});
  Check({"an attribute",
         "Split",
         11,
         {{7}},
         [](GraphBuilder& b) { b.With("split", std::vector<int64_t>{2, 5}); },
         {{2}, {5}}});
  Check({"attributes, clamped",
         "Slice",
         9,
         {{5, 6}},
         [](GraphBuilder& b) {
           b.With("starts", std::vector<int64_t>{1, -2}).With("ends", std::vector<int64_t>{INT64_MAX, -1});
         },
         {{4, 1}}});
  Check({"an attribute",
         "Pad",
         9,
         {{2, 3}},
         [](GraphBuilder& b) { b.With("pads", std::vector<int64_t>{0, 1, 0, -1}); },
         {{2, 3}}});
  Check({"blocks become channels",
         "SpaceToDepth",
         13,
         {{1, 3, 4, 6}},
         [](GraphBuilder& b) { b.With("blocksize", 2); },
         {{1, 12, 2, 3}}});
  Check({"and back",
         "DepthToSpace",
         13,
         {{1, 12, 2, 3}},
         [](GraphBuilder& b) { b.With("blocksize", 2); },
         {{1, 3, 4, 6}}});
}

TEST(Rules, SizesThatDoNotFitAreReportedWithNodeAndInputs) {
  ModelBuilder b;
  b.Weight("x", {2, 3}).Weight("w", {4, 5}).Node("MatMul", {"x", "w"}, {"y"}).Node("Relu", {"y"}, {"z"}).Output("z");
  EXPECT_EQ(ErrorOf(b),
            "error E0403: MatMul: inner sizes 3 and 4 differ\n"
            "  where: node \"y_node\" (MatMul), output \"y\"\n"
            "  why: inputs: x float32[2x3], w float32[4x5]\n"
            "  fix: check the sizes given to --bind and --input; they must be ones the network can take\n");
}

TEST(Rules, IndependentProblemsAreAllReported) {
  ModelBuilder b;
  b.Weight("x", {2, 3}).Weight("w", {4, 5}).Node("MatMul", {"x", "w"}, {"y"}).Node("Add", {"x", "w"}, {"z"});
  const std::string error = ErrorOf(b);
  EXPECT_NE(error.find("MatMul: inner sizes"), std::string::npos);
  EXPECT_NE(error.find("Add: sizes 2x3 and 4x5 do not broadcast"), std::string::npos);
}

TEST(Rules, UnknownOperatorsTakeDeclaredSizesElseTheirInputs) {
  ModelBuilder b;
  b.Input("x", DType::kFloat32, {"batch", "3"})
      .Node("Mystery", {"x"}, {"y"}, "my.domain")
      .Node("Mystery", {"x"}, {"z"}, "my.domain");
  b.Declare("y", DType::kFloat16, {"2*batch", "7"});
  const Binding binding = {{{"batch", 4}}, {}};
  EXPECT_EQ(Bound(b, "y", binding).sizes, (Dims{8, 7}));
  EXPECT_EQ(Bound(b, "y", binding).dtype, DType::kFloat16);
  EXPECT_EQ(Bound(b, "z", binding).sizes, (Dims{4, 3}));
  EXPECT_EQ(AssumptionsOf(b, binding), (std::vector<std::string>{"A0401"}));
}

TEST(Rules, WrongDeclaredSizesAreNotBelieved) {
  ModelBuilder b;
  b.Weight("x", {2, 3}).Node("Relu", {"x"}, {"y"}).Declare("y", DType::kFloat32, {"99", "99"});
  EXPECT_EQ(Bound(b, "y").sizes, (Dims{2, 3}));
}

}  // namespace
}  // namespace memcrest
