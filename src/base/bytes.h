// Memory as exact integers: checked 64-bit arithmetic that cannot wrap silently.
//
// Takes: integers.  Gives: Bytes, CheckedMul / CheckedAdd (nullopt on overflow), rounding up, and a human-readable text.
#ifndef MEMCREST_BASE_BYTES_H_
#define MEMCREST_BASE_BYTES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memcrest {

using Bytes = int64_t;  // never negative in a finished figure; differences may be

inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
// n up to the next multiple of step (step > 0).
inline constexpr int64_t RoundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
inline constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// "71.3 GiB", "512 B": three significant places, binary units. The only place where bytes are rounded for people.
std::string HumanBytes(Bytes bytes);

}  // namespace memcrest

#endif  // MEMCREST_BASE_BYTES_H_
