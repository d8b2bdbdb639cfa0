// Stored tensor elements as numbers: every ONNX dtype with at most 64 bits that is an integer, bool or float.
//
// Takes: units as the file stores them (one element, or one byte of packed 4- or 2-bit elements).  Gives: int64 or
// double values appended to a Literal. Ignores: strings and complex numbers (HasElements() is false).
#ifndef MEMCREST_ONNX_ELEMENTS_H_
#define MEMCREST_ONNX_ELEMENTS_H_

#include <cstdint>

#include "src/onnx/model.h"

namespace memcrest::onnx {

// Whether elements of `dtype` become Literal::ints or Literal::floats.
bool HasElements(DType dtype);
// Units that hold `elements` elements: as many, or the number of bytes where elements are packed.
int64_t UnitsOf(DType dtype, int64_t elements);
// Bytes that `elements` elements take in raw data or external data; 0 where the dtype has no fixed size.
int64_t StoredBytes(DType dtype, int64_t elements);
// Appends the elements of one unit, given as its bits, as far as `literal` has fewer than `elements`. An uint64 above
// 2^63 keeps its bit pattern.
void AppendUnit(uint64_t bits, int64_t elements, Literal& literal);
// The value of a float of `dtype` given as its bits; NaN where the format says so.
double FloatOf(DType dtype, uint64_t bits);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_ELEMENTS_H_
