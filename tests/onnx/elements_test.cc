#include "src/onnx/elements.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memcrest::onnx {
namespace {

using ::testing::ElementsAre;

struct FloatCase {
  DType dtype;
  uint64_t bits;
  double value;
  const char* why;
};

TEST(Elements, SmallFloatsHaveTheirFormatsValues) {
  const FloatCase cases[] = {
      {DType::kFloat16, 0x3e00, 1.5, "exponent 15 is 1, mantissa 0.5"},
      {DType::kFloat16, 0xc000, -2, "sign bit"},
      {DType::kFloat16, 0x0001, std::ldexp(1.0, -24), "smallest subnormal"},
      {DType::kFloat16, 0x7bff, 65504, "largest"},
      {DType::kFloat16, 0xfc00, -INFINITY, "all ones, no mantissa"},
      {DType::kBFloat16, 0x3f80, 1, "upper half of float32"},
      {DType::kBFloat16, 0x4049, 3.140625, "pi, cut"},
      {DType::kFloat8E4M3FN, 0x7e, 448, "largest: 1.75 * 2^8"},
      {DType::kFloat8E4M3FN, 0x08, std::ldexp(1.0, -6), "smallest normal"},
      {DType::kFloat8E4M3FNUZ, 0x7f, 240, "bias 8 and no NaN at the top: 1.875 * 2^7"},
      {DType::kFloat8E5M2, 0x7b, 57344, "largest: 1.75 * 2^15"},
      {DType::kFloat8E5M2, 0x7c, INFINITY, "infinity exists"},
      {DType::kFloat8E5M2FNUZ, 0x7f, 57344, "1.75 * 2^15 with bias 16"},
      {DType::kFloat4E2M1, 0x7, 6, "1.5 * 2^2"},
      {DType::kFloat4E2M1, 0x9, -0.5, "subnormal"},
      {DType::kFloat8E8M0, 127, 1, "2^(127-127)"},
      {DType::kFloat8E8M0, 0, std::ldexp(1.0, -127), "no zero"},
      {DType::kFloat32, 0x40490fdb, 3.1415927410125732, "pi"},
      {DType::kFloat64, 0x3ff8000000000000, 1.5, "as stored"},
  };
  for (const FloatCase& c : cases) EXPECT_EQ(FloatOf(c.dtype, c.bits), c.value) << NameOf(c.dtype) << ": " << c.why;
}

TEST(Elements, NanIsWhereEachFormatPutsIt) {
  EXPECT_TRUE(std::isnan(FloatOf(DType::kFloat16, 0x7e00)));
  EXPECT_TRUE(std::isnan(FloatOf(DType::kBFloat16, 0x7fc0)));
  EXPECT_TRUE(std::isnan(FloatOf(DType::kFloat8E4M3FN, 0x7f)));
  EXPECT_TRUE(std::isnan(FloatOf(DType::kFloat8E4M3FNUZ, 0x80)));
  EXPECT_TRUE(std::isnan(FloatOf(DType::kFloat8E5M2FNUZ, 0x80)));
  EXPECT_TRUE(std::isnan(FloatOf(DType::kFloat8E8M0, 0xff)));
}

// The ints of one unit with the given bits.
std::vector<int64_t> IntsOf(DType dtype, uint64_t bits, int64_t elements) {
  Literal literal;
  literal.dtype = dtype;
  AppendUnit(bits, elements, literal);
  return literal.ints;
}

TEST(Elements, IntegersAreSignExtendedFromTheirOwnWidth) {
  EXPECT_THAT(IntsOf(DType::kInt8, 0xff, 1), ElementsAre(-1));
  EXPECT_THAT(IntsOf(DType::kUInt8, 0xff, 1), ElementsAre(255));
  EXPECT_THAT(IntsOf(DType::kInt32, 0xfffffffe, 1), ElementsAre(-2));
  EXPECT_THAT(IntsOf(DType::kUInt32, 0xfffffffe, 1), ElementsAre(4294967294));
  EXPECT_THAT(IntsOf(DType::kBool, 2, 1), ElementsAre(1));
  EXPECT_THAT(IntsOf(DType::kUInt64, UINT64_MAX, 1), ElementsAre(-1));  // keeps its bits
}

TEST(Elements, PackedElementsComeLowBitsFirst) {
  EXPECT_THAT(IntsOf(DType::kInt4, 0xe1, 2), ElementsAre(1, -2));
  EXPECT_THAT(IntsOf(DType::kUInt4, 0xe1, 1), ElementsAre(1));  // the second half is padding
  EXPECT_THAT(IntsOf(DType::kInt2, 0b11'10'01'00, 4), ElementsAre(0, 1, -2, -1));
}

TEST(Elements, StoredBytesRoundUpPackedKinds) {
  EXPECT_EQ(StoredBytes(DType::kFloat32, 3), 12);
  EXPECT_EQ(StoredBytes(DType::kInt4, 3), 2);
  EXPECT_EQ(StoredBytes(DType::kUInt2, 5), 2);
  EXPECT_EQ(StoredBytes(DType::kString, 3), 0);
}

}  // namespace
}  // namespace memcrest::onnx
