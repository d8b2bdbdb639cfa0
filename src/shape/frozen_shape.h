// Sizes that a tracing exporter froze: a Reshape target of which one element is a constant that no longer fits.
//
// Takes: the target's value and how many elements there are. Gives: the element that must be free instead, if exactly
// one is a constant among elements computed from sizes ("[64, 8*batch, 32]" of a graph traced with 64 points).
// Otherwise nullopt: the sizes are wrong and that is an error.
#ifndef MEMCREST_SHAPE_FROZEN_SHAPE_H_
#define MEMCREST_SHAPE_FROZEN_SHAPE_H_

#include <optional>

#include "absl/types/span.h"
#include "src/shape/frame.h"

namespace memcrest::shape {

std::optional<size_t> FindFrozenElement(const Frame& frame, onnx::ValueId target, absl::Span<const int64_t> sizes,
                                        int64_t elements);

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_FROZEN_SHAPE_H_
