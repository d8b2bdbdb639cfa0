#include "src/onnx/text.h"

#include "gmock/gmock.h"
#include "src/onnx/dump.h"

namespace memcrest::onnx {
namespace {

using ::testing::HasSubstr;

TEST(Text, ReadsOnnxTextAndTakesUndefinedDeclarationsAsParameters) {
  const absl::StatusOr<Model> model = ParseModelText(R"(
      <ir_version: 10, opset_import: ["" : 18]>
      net (float[batch,4] x) => (y)
      <float[4,8] weight, float[batch,8] t>
      {
        t = MatMul(x, weight)
        y = Relu(t)
      })");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(Dump(*model),
            "ir 10, opset 18\n"
            "graph net\n"
            "  input x: float32[batch,4]\n"
            "  initializer weight: float32[4,8]\n"
            "  t: float32[batch,8] = MatMul(x, weight)\n"
            "  y = Relu(t)\n"
            "  output y\n");
}

TEST(Text, ErrorsSayLineAndColumn) {
  const absl::Status status = ParseModelText("<ir_version: 10").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("line: 1 column: 16"));
}

}  // namespace
}  // namespace memcrest::onnx
