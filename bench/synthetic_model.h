// Residual networks of any number of nodes, as the bytes of an ONNX file: what the benchmarks read, lift and run.
//
// Takes: about how many nodes.  Gives: blocks of a transformer's feed-forward half, h = h + fc2(gelu(fc1(norm(h)))), as
// the TorchScript exporter writes and names them: nine nodes, six parameters a block. Same number, same bytes.
#ifndef MEMCREST_BENCH_SYNTHETIC_MODEL_H_
#define MEMCREST_BENCH_SYNTHETIC_MODEL_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/wire_builder.h"

namespace memcrest::bench {

class ResidualModelBuilder {
 public:
  std::string Build(int64_t nodes) {
    graph_.inputs.push_back(testing::ValueOf("x", kFloat, {-1, kWidth}));
    for (const auto& [name, value] : {std::pair<const char*, float>{"sqrt2", 1.41421354F}, {"one", 1.0F}, {"half", 0.5F}}) {
      std::string bits(sizeof value, 0);
      std::memcpy(bits.data(), &value, sizeof value);
      graph_.initializers.push_back(testing::TensorOf(name, kFloat, {}).Bytes(9, bits));
    }
    std::string h = "x";
    for (int64_t i = 0; i < nodes / kBlockNodes; ++i) h = Block(i, h);
    graph_.outputs.push_back(testing::ValueOf(h, kFloat, {-1, kWidth}));
    return testing::ModelOf(graph_.Build()).bytes();
  }

 private:
  static constexpr int64_t kFloat = 1, kWidth = 64, kBlockNodes = 9;

  std::string Block(int64_t i, const std::string& h) {
    block_ = absl::StrCat("blocks.", i);
    const std::string norm = Node("norm/LayerNormalization", "LayerNormalization",
                                  {h, Weight("norm.weight", {kWidth}), Weight("norm.bias", {kWidth})});
    const std::string up = Linear("fc1", norm);
    const std::string erf = Node("act/Erf", "Erf", {Node("act/Div", "Div", {up, "sqrt2"})});
    const std::string gate = Node("act/Mul", "Mul", {up, Node("act/Add", "Add", {erf, "one"})});
    const std::string down = Linear("fc2", Node("act/Mul_1", "Mul", {gate, "half"}));
    return Node("Add", "Add", {h, down});
  }

  std::string Linear(const std::string& name, const std::string& x) {
    return Node(name + "/Gemm", "Gemm", {x, Weight(name + ".weight", {kWidth, kWidth}), Weight(name + ".bias", {kWidth})},
                {testing::IntAttribute("transB", 1)});
  }

  std::string Weight(const std::string& name, const std::vector<int64_t>& dims) {
    std::string full = absl::StrCat(block_, ".", name);
    graph_.initializers.push_back(testing::TensorOf(full, kFloat, dims));
    return full;
  }

  std::string Node(const std::string& name, const char* op, const std::vector<std::string>& in,
                   std::initializer_list<testing::Wire> attributes = {}) {
    testing::Wire node;
    const std::string full = absl::StrCat("/", block_, "/", name), out = full + "_output_0";
    for (const std::string& input : in) node.Bytes(1, input);
    node.Bytes(2, out).Bytes(3, full).Bytes(4, op);
    for (const testing::Wire& attribute : attributes) node.Message(5, attribute);
    graph_.nodes.push_back(node);
    return out;
  }

  testing::GraphParts graph_;
  std::string block_;
};

inline std::string ResidualModel(int64_t nodes) { return ResidualModelBuilder().Build(nodes); }

}  // namespace memcrest::bench

#endif  // MEMCREST_BENCH_SYNTHETIC_MODEL_H_
