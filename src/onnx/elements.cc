#include "src/onnx/elements.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "src/base/bytes.h"

namespace memcrest::onnx {
namespace {

// What the largest exponent means. kUnsignedZero: the FNUZ kinds, where the pattern of -0 is the only NaN.
enum class Special : uint8_t { kInfinityAndNan, kNanAtAllOnes, kUnsignedZero, kNone };
struct Format {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Special special;
};
// IEEE 754 half; bfloat16; the float8 kinds of "FP8 Formats for Deep Learning" and their FNUZ variants; OCP MX fp4.
constexpr Format kFormats[] = {
    {DType::kFloat16, 5, 10, 15, Special::kInfinityAndNan},
    {DType::kBFloat16, 8, 7, 127, Special::kInfinityAndNan},
    {DType::kFloat8E4M3FN, 4, 3, 7, Special::kNanAtAllOnes},
    {DType::kFloat8E4M3FNUZ, 4, 3, 8, Special::kUnsignedZero},
    {DType::kFloat8E5M2, 5, 2, 15, Special::kInfinityAndNan},
    {DType::kFloat8E5M2FNUZ, 5, 2, 16, Special::kUnsignedZero},
    {DType::kFloat4E2M1, 2, 1, 1, Special::kNone},
};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double SmallFloat(const Format& format, uint64_t bits) {
  const uint64_t mantissa_mask = (uint64_t{1} << format.mantissa_bits) - 1;
  const uint64_t exponent_mask = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t mantissa = bits & mantissa_mask;
  const uint64_t exponent = (bits >> format.mantissa_bits) & exponent_mask;
  const bool negative = ((bits >> (format.mantissa_bits + format.exponent_bits)) & 1) != 0;
  const bool all_ones = exponent == exponent_mask;
  if (format.special == Special::kUnsignedZero && negative && exponent == 0 && mantissa == 0) return kNan;
  if (format.special == Special::kNanAtAllOnes && all_ones && mantissa == mantissa_mask) return kNan;
  double value;
  if (format.special == Special::kInfinityAndNan && all_ones) {
    if (mantissa != 0) return kNan;
    value = std::numeric_limits<double>::infinity();
  } else {
    const uint64_t hidden = exponent == 0 ? 0 : mantissa_mask + 1;
    const int scale = (exponent == 0 ? 1 : static_cast<int>(exponent)) - format.bias - format.mantissa_bits;
    value = std::ldexp(static_cast<double>(hidden | mantissa), scale);
  }
  return negative ? -value : value;
}

template <typename To, typename Bits>
To BitCast(Bits bits) {
  static_assert(sizeof(To) == sizeof(Bits));
  To to;
  std::memcpy(&to, &bits, sizeof to);
  return to;
}

bool IsSigned(DType dtype) {
  switch (dtype) {
    case DType::kInt2:
    case DType::kInt4:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64: return true;
    default: return false;
  }
}

int64_t IntegerOf(DType dtype, uint64_t bits) {
  const int unused = 64 - BitsOf(dtype);
  if (dtype == DType::kBool) return (bits & 0xff) != 0 ? 1 : 0;
  if (IsSigned(dtype)) return static_cast<int64_t>(bits << unused) >> unused;
  return static_cast<int64_t>(bits << unused >> unused);
}

}  // namespace

double FloatOf(DType dtype, uint64_t bits) {
  if (dtype == DType::kFloat32) return BitCast<float>(static_cast<uint32_t>(bits));
  if (dtype == DType::kFloat64) return BitCast<double>(bits);
  if (dtype == DType::kFloat8E8M0) {  // a power of two without sign or zero
    return (bits & 0xff) == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(bits & 0xff) - 127);
  }
  for (const Format& format : kFormats) {
    if (format.dtype == dtype) return SmallFloat(format, bits);
  }
  return kNan;
}

bool HasElements(DType dtype) { return IsFloating(dtype) || IsIntegral(dtype) || dtype == DType::kBool; }

int64_t UnitsOf(DType dtype, int64_t elements) {
  const int bits = BitsOf(dtype);
  return bits > 0 && bits < 8 ? CeilDiv(elements, 8 / bits) : elements;
}

int64_t StoredBytes(DType dtype, int64_t elements) { return UnitsOf(dtype, elements) * BytesOf(dtype); }

void AppendUnit(uint64_t bits, int64_t elements, Literal& literal) {
  const DType dtype = literal.dtype;
  const int width = BitsOf(dtype);
  const int per_unit = width < 8 ? 8 / width : 1;
  for (int k = 0; k < per_unit; ++k) {
    const size_t have = literal.ints.size() + literal.floats.size();
    if (have >= static_cast<size_t>(elements)) return;
    const uint64_t element = per_unit == 1 ? bits : (bits >> (k * width)) & ((uint64_t{1} << width) - 1);
    if (IsFloating(dtype)) {
      literal.floats.push_back(FloatOf(dtype, element));
    } else {
      literal.ints.push_back(IntegerOf(dtype, element));
    }
  }
}

}  // namespace memcrest::onnx
