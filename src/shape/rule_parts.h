// Size arithmetic that several families share: matrix products, sliding windows, axis lists.
//
// Takes: a RuleContext. Gives: sizes; false after the node has been failed.
#ifndef MEMCREST_SHAPE_RULE_PARTS_H_
#define MEMCREST_SHAPE_RULE_PARTS_H_

#include <vector>

#include "src/base/bytes.h"
#include "src/base/dims.h"
#include "src/shape/rule.h"

namespace memcrest::shape {

// numpy.matmul of inputs `a` and `b`.
bool MatMulSizes(RuleContext& c, int a, int b, Dims* sizes);

// One sliding window per spatial dimension, from attributes kernel_shape, strides, pads, dilations, auto_pad.
struct Window {
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;
  bool ceil = false;  // round the last, partial window up (pools)
  bool same = false;  // auto_pad SAME_*: result is ceil(size / stride)
};
// `kernel` overrides kernel_shape unless it is empty.
bool ReadWindow(RuleContext& c, int spatial_rank, DimSpan kernel, Window* window);
// Spatial sizes after sliding `window` over the last dimensions of `sizes`, appended to `out`.
bool SlideWindow(RuleContext& c, const Window& window, DimSpan spatial, Dims* out);

// Sums and products of sizes and attributes, kept at the ends of the range instead of overflowing: Out refuses such a
// size.
inline int64_t Plus(int64_t a, int64_t b) { return CheckedAdd(a, b).value_or(a < 0 ? INT64_MIN : INT64_MAX); }
inline int64_t Minus(int64_t a, int64_t b) { return b == INT64_MIN ? INT64_MAX : Plus(a, -b); }
inline int64_t Times(int64_t a, int64_t b) {
  return CheckedMul(a, b).value_or((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN);
}
// A size computed in floating point.
int64_t FromDouble(double size);

// The axes in `list`, normalized for `rank`, as flags; false after failing the node (out of range).
bool AxisFlags(RuleContext& c, absl::Span<const int64_t> list, int rank, std::vector<bool>* flags);

// DType of a number in ONNX's numbering; kUndefined if there is none.
inline DType DTypeOf(int64_t number) {
  return number > 0 && number < kDTypeCount ? static_cast<DType>(number) : DType::kUndefined;
}

// Adds [begin, end) to `sizes`.
template <typename Iterator>
void Append(Dims* sizes, Iterator begin, Iterator end) {
  for (; begin != end; ++begin) sizes->push_back(*begin);
}

// Output 0 like input 0; for tables.
inline void LikeFirst(RuleContext& c) { c.Same(); }

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_RULE_PARTS_H_
