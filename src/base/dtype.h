// Element types: the ones ONNX can store and the ones a PyTorch step computes in.
//
// Takes: nothing.  Gives: DType, bits per element, byte sizes of packed tensors, classification and promotion.
// Sizes come from this table only (sub-byte types are packed); strings have no device size.
#ifndef MEMCREST_BASE_DTYPE_H_
#define MEMCREST_BASE_DTYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace memcrest {

// The values are ONNX's TensorProto.DataType numbers (onnx.proto), so that reading a file is a cast with a range check.
enum class DType : uint8_t {
  kUndefined = 0, kFloat32 = 1, kUInt8 = 2, kInt8 = 3, kUInt16 = 4, kInt16 = 5, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9,
  kFloat16 = 10, kFloat64 = 11, kUInt32 = 12, kUInt64 = 13, kComplex64 = 14, kComplex128 = 15, kBFloat16 = 16,
  kFloat8E4M3FN = 17, kFloat8E4M3FNUZ = 18, kFloat8E5M2 = 19, kFloat8E5M2FNUZ = 20, kUInt4 = 21, kInt4 = 22, kFloat4E2M1 = 23,
  kFloat8E8M0 = 24, kUInt2 = 25, kInt2 = 26,
};
inline constexpr int kDTypeCount = 27;

// Bits of one element; 0 for kUndefined and kString.
int BitsOf(DType dtype);
// Bytes of one element, rounded up to a whole byte (int4: 1).
inline int BytesOf(DType dtype) { return (BitsOf(dtype) + 7) / 8; }
// "float32", "bfloat16", "int64" ...; "undefined" for what is out of range.
absl::string_view NameOf(DType dtype);
// The inverse of NameOf, also accepting PyTorch's spelling ("torch.float32"); kUndefined if unknown.
DType DTypeFromName(absl::string_view name);

bool IsFloating(DType dtype);  // float64/32/16, bfloat16, the float8 kinds
bool IsComplex(DType dtype);
bool IsIntegral(DType dtype);  // signed and unsigned integers, not bool
inline bool IsDifferentiable(DType dtype) { return IsFloating(dtype) || IsComplex(dtype); }
inline bool IsLowPrecision(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// PyTorch's result type of two tensors of equal priority (c10/core/ScalarType.cpp, promoteTypes): category
// bool < integral < floating < complex; float16 with bfloat16 gives float32.
DType Promote(DType a, DType b);

}  // namespace memcrest

#endif  // MEMCREST_BASE_DTYPE_H_
