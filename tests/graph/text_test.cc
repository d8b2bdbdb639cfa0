// The text form prints what it parses and parses what it prints.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "src/eager/op.h"
#include "src/graph/text.h"

namespace memcrest {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Network> Parse(absl::string_view text) {
  return ParseNetwork(text, [](absl::string_view name) { return Ops().Find(name); });
}
std::string Print(const Network& network) {
  return ToText(network, [](const OpEntry* op) { return absl::string_view(op->name); });
}

constexpr absl::string_view kAll = R"text(module 0 "" "Net" parent -
module 1 "fc" "torch.nn.modules.linear.Linear" parent 0 own [0]
param 0 "fc.weight" float32 [3, 4] order 0 alias "head.weight" alias "h\"w"
param 1 "mask" bool [] order 1 buffer unused transient
call 0 module 0 parent - nodes [0, 2)
call 1 module 1 parent 0 nth 2 nodes [0, 1)
line 0 "net.py:7: return self.fc(x)"
tensor 0 "x" input float32 source 0
tensor 1 "fc.weight" param 0 float32
tensor 2 "y" float32 source 5 released 1
tensor 3 "z" undefined
tensor 4 "c" constant [2] int64
node 0 call 1 %2 = linear(%0, %1, -) {scale=0.125, eps=1e-05, axis=-1, keepdims=true, dtype=bfloat16} onnx 3 2 exporter line 0
node 1 call 0 %3, - = unknown(%2, %4) {alpha=2.0} fallback
inputs %0
outputs %3
assumption "A0301" "nobody knows" 512
)text";

TEST(NetworkText, PrintsWhatItParsed) {
  const absl::StatusOr<Network> network = Parse(kAll);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(Print(*network), kAll);
}

TEST(NetworkText, ParsingFindsDefinitionsAndLastUses) {
  const Network net = *Parse(kAll);
  EXPECT_EQ(net.tensors[2].def, 0);
  EXPECT_EQ(net.tensors[2].last_use, 1);
  EXPECT_EQ(net.tensors[0].def, kNone);
  EXPECT_EQ(net.nodes[1].out[1], kNone);
}

TEST(NetworkText, NumbersKeepTheirKind) {
  const Network net = *Parse(kAll);
  EXPECT_TRUE(std::holds_alternative<double>(*net.nodes[1].attrs.Find(Key::kAlpha)));
  EXPECT_TRUE(std::holds_alternative<int64_t>(*net.nodes[0].attrs.Find(Key::kAxis)));
}

TEST(NetworkText, AnUnknownOperatorIsAnErrorWithItsLine) {
  const absl::StatusOr<Network> network = Parse("tensor 0 \"x\" input float32\nnode 0 call 0 = lineal(%0) exporter\n");
  EXPECT_THAT(std::string(network.status().message()), HasSubstr("E0310"));
  EXPECT_THAT(std::string(network.status().message()), HasSubstr("expected a known operator, not \"lineal\""));
  EXPECT_THAT(std::string(network.status().message()), HasSubstr("line 2: "));
}

TEST(NetworkText, IdsMustBeDense) {
  EXPECT_THAT(std::string(Parse("tensor 1 \"x\" input float32\n").status().message()), HasSubstr("expected the id 0"));
}

TEST(NetworkText, DamageIsAnErrorNotACrash) {
  // Every prefix and every deletion of one character either parses or is refused.
  for (size_t i = 0; i < kAll.size(); ++i) {
    Parse(kAll.substr(0, i)).IgnoreError();
    std::string damaged(kAll);
    damaged.erase(i, 1);
    Parse(damaged).IgnoreError();
  }
}

}  // namespace
}  // namespace memcrest
