// Arithmetic of single host elements, as ONNX defines it.
//
// Takes: one or two numbers. Gives: a number; for integers nullopt (no host value then) on overflow or division by
// zero.
#ifndef MEMCREST_SHAPE_SCALAR_MATH_H_
#define MEMCREST_SHAPE_SCALAR_MATH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "src/base/bytes.h"

namespace memcrest::shape {

using IntBinary = std::optional<int64_t> (*)(int64_t, int64_t);
using FloatBinary = double (*)(double, double);
using Unary = double (*)(double);

inline std::optional<int64_t> AddInt(int64_t a, int64_t b) { return CheckedAdd(a, b); }
inline std::optional<int64_t> SubInt(int64_t a, int64_t b) { return b == INT64_MIN ? std::nullopt : CheckedAdd(a, -b); }
inline std::optional<int64_t> MulInt(int64_t a, int64_t b) { return CheckedMul(a, b); }
inline std::optional<int64_t> DivInt(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return a / b;  // ONNX truncates toward zero
}
inline std::optional<int64_t> FloorModInt(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? std::nullopt : std::optional<int64_t>(0);
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline std::optional<int64_t> TruncModInt(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? std::nullopt : std::optional<int64_t>(0);
  return a % b;
}
inline std::optional<int64_t> PowInt(int64_t a, int64_t b) {
  if (b < 0 || b > 64) return std::nullopt;
  std::optional<int64_t> r = 1;
  for (int64_t i = 0; i < b && r.has_value(); ++i) r = CheckedMul(*r, a);
  return r;
}
inline std::optional<int64_t> MinInt(int64_t a, int64_t b) { return std::min(a, b); }
inline std::optional<int64_t> MaxInt(int64_t a, int64_t b) { return std::max(a, b); }
inline std::optional<int64_t> AndInt(int64_t a, int64_t b) { return a & b; }
inline std::optional<int64_t> OrInt(int64_t a, int64_t b) { return a | b; }
inline std::optional<int64_t> XorInt(int64_t a, int64_t b) { return a ^ b; }
inline std::optional<int64_t> EqualInt(int64_t a, int64_t b) { return a == b; }
inline std::optional<int64_t> LessInt(int64_t a, int64_t b) { return a < b; }
inline std::optional<int64_t> LessEqualInt(int64_t a, int64_t b) { return a <= b; }
inline std::optional<int64_t> GreaterInt(int64_t a, int64_t b) { return a > b; }
inline std::optional<int64_t> GreaterEqualInt(int64_t a, int64_t b) { return a >= b; }

inline double AddFloat(double a, double b) { return a + b; }
inline double SubFloat(double a, double b) { return a - b; }
inline double MulFloat(double a, double b) { return a * b; }
inline double DivFloat(double a, double b) { return a / b; }
inline double ModFloat(double a, double b) { return std::fmod(a, b); }
inline double PowFloat(double a, double b) { return std::pow(a, b); }
inline double MinFloat(double a, double b) { return std::fmin(a, b); }
inline double MaxFloat(double a, double b) { return std::fmax(a, b); }
inline double EqualFloat(double a, double b) { return a == b; }
inline double LessFloat(double a, double b) { return a < b; }
inline double LessEqualFloat(double a, double b) { return a <= b; }
inline double GreaterFloat(double a, double b) { return a > b; }
inline double GreaterEqualFloat(double a, double b) { return a >= b; }

inline double Negate(double x) { return -x; }
inline double Absolute(double x) { return std::abs(x); }
inline double SignOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
inline double Positive(double x) { return x > 0 ? x : 0; }
inline double Inverse(double x) { return 1 / x; }
inline double FloorOf(double x) { return std::floor(x); }
inline double CeilOf(double x) { return std::ceil(x); }
inline double RoundOf(double x) { return std::nearbyint(x); }  // half to even, as ONNX rounds
inline double SqrtOf(double x) { return std::sqrt(x); }
inline double ExpOf(double x) { return std::exp(x); }
inline double LogOf(double x) { return std::log(x); }

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_SCALAR_MATH_H_
