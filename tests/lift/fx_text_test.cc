// The exporter's FX notes, its graph signature and Python's source lines as text.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/eager/op.h"
#include "src/lift/aten_schema.h"
#include "src/lift/fx_text.h"
#include "src/lift/signature.h"
#include "src/lift/source_lines.h"

namespace memcrest {
namespace {

using ::testing::ElementsAre;
using Kind = FxArg::Kind;

FxCall MustParse(absl::string_view text) {
  FxCall call;
  EXPECT_TRUE(ParseFxCall(text, call)) << text;
  return call;
}

TEST(FxText, ReadsNameTargetAndUsers) {
  const FxCall call = MustParse(
      "%mean : [num_users=2] = call_function[target=torch.ops.aten.mean.dim](args = (%relu_16, [2, 3]), kwargs = {})");
  EXPECT_EQ(call.name, "mean");
  EXPECT_EQ(call.target, "aten.mean.dim");
  EXPECT_EQ(call.users, 2);
  ASSERT_EQ(call.args.size(), 2u);
  EXPECT_EQ(call.args[0].kind, Kind::kRef);
  EXPECT_EQ(call.args[0].text, "relu_16");
  ASSERT_EQ(call.args[1].items.size(), 2u);
  EXPECT_EQ(call.args[1].items[1].i, 3);
}

TEST(FxText, ReadsEveryKindOfArgument) {
  const FxCall call = MustParse(
      "%n : [num_users=1] = call_function[target=torch.ops.aten.x.default](args = (%a, None, True, 1e-12, "
      "-3.4028234663852886e+38, -1, inf, "
      "[[%b, None], []], reflect), kwargs = {dtype: torch.float32, device: cpu, pin_memory: False, scale: 0.125})");
  ASSERT_EQ(call.args.size(), 9u);
  EXPECT_EQ(call.args[1].kind, Kind::kNothing);
  EXPECT_EQ(call.args[2].kind, Kind::kBool);
  EXPECT_DOUBLE_EQ(call.args[3].f, 1e-12);
  EXPECT_EQ(call.args[4].kind, Kind::kFloat);
  EXPECT_EQ(call.args[5].kind, Kind::kInt);
  EXPECT_EQ(call.args[6].kind, Kind::kFloat);
  EXPECT_EQ(call.args[7].items[0].items[0].text, "b");
  EXPECT_TRUE(call.args[7].items[1].items.empty());
  EXPECT_EQ(call.args[8].text, "reflect");
  ASSERT_NE(call.Keyword("dtype"), nullptr);
  EXPECT_EQ(call.Keyword("dtype")->text, "torch.float32");
  EXPECT_DOUBLE_EQ(call.Keyword("scale")->f, 0.125);
  EXPECT_EQ(call.Keyword("layout"), nullptr);
}

TEST(FxText, AnEinsumEquationMayHoldCommas) {
  const FxCall call = MustParse(
      "%e : [num_users=1] = call_function[target=torch.ops.aten.einsum.default]"
      "(args = (b i d, b j d -> b i j, [%q, %k]), kwargs = {})");
  EXPECT_EQ(call.args[0].text, "b i d, b j d -> b i j");
  EXPECT_EQ(call.args[1].items.size(), 2u);
}

TEST(FxText, DamageIsRefused) {
  const std::string text =
      "%n : [num_users=1] = call_function[target=torch.ops.aten.x.default](args = (%a, [1, 2]), kwargs = {a: 1})";
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    FxCall call;
    ParseFxCall(text.substr(0, i), call);  // must end, whatever it says
  }
  FxCall call;
  EXPECT_FALSE(ParseFxCall("%x : [num_users=1] = placeholder[target=x]", call));
  EXPECT_FALSE(ParseFxCall("", call));
}

TEST(FxText, NamesSplitIntoBaseAndNumber) {
  EXPECT_EQ(FxBaseName("slice_12"), "slice");
  EXPECT_EQ(FxNumber("slice_12"), 12);
  EXPECT_EQ(FxBaseName("_unsafe_view"), "_unsafe_view");
  EXPECT_EQ(FxBaseName("max_pool2d"), "max_pool2d");
  EXPECT_EQ(FxNumber("conv2d"), 0);
}

// Operators without an entry are lifted as "unknown" and reported, so a row may name one.
TEST(AtenSchema, EveryRowIsFoundAndHasKnownKeys) {
  for (const AtenRow& row : AtenRows()) {
    const std::string first = std::string(row.names).substr(0, std::string(row.names).find(' '));
    const AtenSchema* const schema = FindAten("aten." + first);
    ASSERT_NE(schema, nullptr) << first;
    for (const AtenArg& arg : schema->args) {
      if (arg.kind != AtenArg::Kind::kAttr) continue;
      EXPECT_NE(arg.key, Key::kKeyCount) << first << " " << arg.name;
    }
  }
}

TEST(AtenSchema, OverloadsFallBackToTheirName) {
  EXPECT_EQ(FindAten("aten.max.other")->op, "maximum");
  EXPECT_EQ(FindAten("aten.max.dim")->op, "max");
  EXPECT_EQ(FindAten("prims.convert_element_type.default")->op, "to");
  EXPECT_EQ(FindAten("aten.no_such_thing.default"), nullptr);
  EXPECT_TRUE(IsHostTarget("aten.sym_size.int"));
  EXPECT_TRUE(IsHostTarget("operator.floordiv"));
  EXPECT_FALSE(IsHostTarget("aten.add.Tensor"));
}

TEST(Signature, TellsParametersBuffersConstantsAndInputs) {
  const Signature signature = ParseSignature(
      "\n# inputs\np_fc_weight: PARAMETER target='fc.weight'\nb_mask: BUFFER target='mask' persistent=False\n"
      "c_lifted: CONSTANT_TENSOR target='lifted'\nx: USER_INPUT\n\n# outputs\nadd_1: BUFFER_MUTATION "
      "target='n'\nlinear: USER_OUTPUT\n");
  ASSERT_EQ(signature.inputs.size(), 4u);
  EXPECT_EQ(signature.inputs[0].target, "fc.weight");
  EXPECT_EQ(signature.inputs[0].kind, SignatureEntry::Kind::kParameter);
  EXPECT_FALSE(signature.inputs[1].persistent);
  EXPECT_EQ(signature.inputs[2].kind, SignatureEntry::Kind::kConstant);
  EXPECT_EQ(signature.inputs[3].kind, SignatureEntry::Kind::kInput);
  EXPECT_THAT(signature.outputs, ElementsAre("linear"));
}

TEST(SourceLines, AStackIsItsFramesFromTheOutside) {
  const SourceFrames frames = ParseStack(
      "File \"a.py\", line 95, in forward\n    return self.f(x)\n  File \"b/c.py\", line 7, in run\n    h = g(\n");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].file, "a.py");
  EXPECT_EQ(frames[1].function, "run");
  EXPECT_EQ(frames[1].line, 7);
  EXPECT_EQ(frames[1].code, "h = g(");
}

TEST(SourceLines, StatementsBindNames) {
  EXPECT_THAT(ParseStatement("h = self.f(x == 1)").targets, ElementsAre("h"));
  EXPECT_THAT(ParseStatement("q, (k, v) = f(x).split(8, dim=2)").targets, ElementsAre("q", "k", "v"));
  EXPECT_THAT(ParseStatement("a = b = f(x)").targets, ElementsAre("a", "b"));
  EXPECT_THAT(ParseStatement("out: Tensor = f(").targets, ElementsAre("out"));
  EXPECT_THAT(ParseStatement("else: h = h + s").targets, ElementsAre("h"));
  EXPECT_THAT(ParseStatement("q = f(x); k = g(x)").targets, ElementsAre("q", "k"));
  EXPECT_THAT(ParseStatement("for i, x in enumerate(xs.unbind(0)):").targets, ElementsAre("i", "x"));
  EXPECT_THAT(ParseStatement("for f in self.fs: x = f(x)").targets, ElementsAre("x"));
  EXPECT_EQ(ParseStatement("x = f(x); h, v = 2 * h, 2 * v").first_targets, 1u);
  EXPECT_THAT(ParseStatement("self.cache = f(x)").targets, ElementsAre("self.cache"));
  EXPECT_THAT(ParseStatement("mask[:, 0] = 1").targets, ElementsAre());
  EXPECT_THAT(ParseStatement("x[0], y = f(x)").targets, ElementsAre("[]", "y"));
  EXPECT_THAT(ParseStatement("F.relu(x, inplace=True)").targets, ElementsAre());
  EXPECT_THAT(ParseStatement("if x <= y:").targets, ElementsAre());
}

TEST(SourceLines, OtherFormsAreTold) {
  EXPECT_TRUE(ParseStatement("return self.f(x)").returns);
  EXPECT_TRUE(ParseStatement("def forward(self, x: Tensor): return self.f(x)").returns);
  EXPECT_EQ(ParseStatement("if self.act.inplace: h += s").augmented, '+');
  EXPECT_TRUE(ParseStatement("outputs.append(self.f(x))").appends);
  EXPECT_EQ(ParseStatement("h = self.a(self.b(x))").calls, 2);
}

}  // namespace
}  // namespace memcrest
