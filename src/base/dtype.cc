#include "src/base/dtype.h"

#include <algorithm>
#include <array>

#include "absl/strings/strip.h"

namespace memcrest {
namespace {

enum class Category : uint8_t { kNone, kBool, kUnsigned, kSigned, kFloat, kComplex };
struct Row {
  absl::string_view name;
  int bits;
  Category category;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"undefined", 0, Category::kNone},       {"float32", 32, Category::kFloat},
    {"uint8", 8, Category::kUnsigned},       {"int8", 8, Category::kSigned},
    {"uint16", 16, Category::kUnsigned},     {"int16", 16, Category::kSigned},
    {"int32", 32, Category::kSigned},        {"int64", 64, Category::kSigned},
    {"string", 0, Category::kNone},          {"bool", 8, Category::kBool},
    {"float16", 16, Category::kFloat},       {"float64", 64, Category::kFloat},
    {"uint32", 32, Category::kUnsigned},     {"uint64", 64, Category::kUnsigned},
    {"complex64", 64, Category::kComplex},   {"complex128", 128, Category::kComplex},
    {"bfloat16", 16, Category::kFloat},      {"float8_e4m3fn", 8, Category::kFloat},
    {"float8_e4m3fnuz", 8, Category::kFloat}, {"float8_e5m2", 8, Category::kFloat},
    {"float8_e5m2fnuz", 8, Category::kFloat}, {"uint4", 4, Category::kUnsigned},
    {"int4", 4, Category::kSigned},          {"float4_e2m1", 4, Category::kFloat},
    {"float8_e8m0", 8, Category::kFloat},    {"uint2", 2, Category::kUnsigned},
    {"int2", 2, Category::kSigned},
}};

const Row& RowOf(DType dtype) {
  const size_t i = static_cast<size_t>(dtype);
  return i < kRows.size() ? kRows[i] : kRows[0];
}

}  // namespace

int BitsOf(DType dtype) { return RowOf(dtype).bits; }
absl::string_view NameOf(DType dtype) { return RowOf(dtype).name; }

DType DTypeFromName(absl::string_view name) {
  absl::ConsumePrefix(&name, "torch.");
  if (name == "float") name = "float32";
  if (name == "half") name = "float16";
  if (name == "double") name = "float64";
  if (name == "long") name = "int64";
  if (name == "int") name = "int32";
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return DType::kUndefined;
}

bool IsFloating(DType dtype) { return RowOf(dtype).category == Category::kFloat; }
bool IsComplex(DType dtype) { return RowOf(dtype).category == Category::kComplex; }
bool IsIntegral(DType dtype) {
  const Category c = RowOf(dtype).category;
  return c == Category::kUnsigned || c == Category::kSigned;
}

DType Promote(DType a, DType b) {
  if (a == b || b == DType::kUndefined) return a;
  if (a == DType::kUndefined) return b;
  const Row &ra = RowOf(a), &rb = RowOf(b);
  const auto rank = [](const Row& r) {
    return r.category == Category::kSigned ? static_cast<int>(Category::kUnsigned) : static_cast<int>(r.category);
  };
  if (rank(ra) != rank(rb)) {
    // A complex with a float64 widens; otherwise the higher category wins with its own width.
    if (ra.category == Category::kComplex && b == DType::kFloat64) return DType::kComplex128;
    if (rb.category == Category::kComplex && a == DType::kFloat64) return DType::kComplex128;
    return rank(ra) > rank(rb) ? a : b;
  }
  if (ra.bits == rb.bits && ra.category == Category::kFloat) return DType::kFloat32;  // float16 with bfloat16
  if (ra.category != rb.category && ra.bits == rb.bits) {
    return ra.bits >= 32 ? DType::kInt64 : ra.bits == 16 ? DType::kInt32 : DType::kInt16;  // signed with unsigned
  }
  return ra.bits > rb.bits ? a : b;
}

}  // namespace memcrest
