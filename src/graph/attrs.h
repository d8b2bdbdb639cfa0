// Named, typed arguments of a framework operator: what is neither a tensor nor derived from bound sizes.
//
// Takes: pairs of key and value.  Gives: typed look-up with defaults. Keys are one closed list so that lift and ops
// cannot spell the same thing in two ways. Few per node: a sorted small vector.
#ifndef MEMCREST_GRAPH_ATTRS_H_
#define MEMCREST_GRAPH_ATTRS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "src/base/dims.h"
#include "src/base/dtype.h"

namespace memcrest {

enum class Key : uint8_t {
  kAxis,            // int: one dimension (dim)
  kAxes,            // ints: reduced or moved dimensions; absent: all
  kKeepDims,        // bool
  kPerm,            // ints: permutation; for roll/flip the dims
  kSizes,           // ints: target sizes where they are literal (view, expand, zeros); the bound sizes win
  kNormalizedRank,  // int: trailing dimensions a layer/rms norm covers
  kStride, kPadding, kDilation, kKernel, kOutputPadding,  // ints
  kGroups,          // int
  kTransposed,      // bool
  kCeilMode, kCountIncludePad,                            // bool
  kP,               // float: dropout probability
  kTraining,        // bool: norms and dropout
  kEps, kAlpha, kBeta, kScale,  // float
  kCausal,          // bool: attention
  kGqa,             // bool: attention with fewer key heads
  kApproximate,     // string: gelu "none" | "tanh"
  kMode,            // string: interpolate, pad, grid_sample, reduction
  kDtype,           // dtype: result type asked for (to, softmax dtype, factory functions)
  kScalar,          // float: the Python-number operand (mul, add, pow exponent, fill value)
  kScalarFirst,     // bool: number on the left (2 - x, 1 / x)
  kInplace,         // bool: result is written into input 0
  kEquation,        // string: einsum
  kHidden, kLayers, kBidirectional, kBatchFirst, kGates,  // recurrent: ints / bools
  kStart, kStep,    // int: slices where literal
  kCount,           // int: number of results (split, chunk, unbind) or inputs (cat)
  kMemoryFormat,    // string: "contiguous", "channels_last", "preserve"
  kUnsafe,          // bool: _unsafe_view
  kAccumulate,      // bool: index_put
  kIgnoreIndex,     // int
  kReduction,       // string: "mean" | "sum" | "none"
  kSmoothing,       // float
  kPaddingIndex,    // int: embedding
  kReplaces,        // string: reserved words of rewriting passes ("lora_A", ...)
  kFilled,          // bool: some indices of index/index_put are None
  kMaskKind,        // string: attention whose mask is only "causal" or "padding": not needed for unpadded rows
  kExplicit,        // bool: a cast that ran whatever the job's precision is
  kKeyCount,        // not a key
};

using AttrValue = std::variant<bool, int64_t, double, DType, std::string, Dims>;

class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<Key, AttrValue>> items) {
    for (const auto& item : items) Set(item.first, item.second);
  }
  void Set(Key key, AttrValue value);
  const AttrValue* Find(Key key) const;
  bool Has(Key key) const { return Find(key) != nullptr; }
  // Typed look-up. Integers and floats convert into each other; a wrong kind gives `otherwise`.
  bool Bool(Key key, bool otherwise = false) const;
  int64_t Int(Key key, int64_t otherwise = 0) const;
  double Float(Key key, double otherwise = 0) const;
  absl::string_view Text(Key key, absl::string_view otherwise = "") const;
  DType Type(Key key, DType otherwise = DType::kUndefined) const;
  const Dims* Ints(Key key) const;  // nullptr if absent
  const absl::InlinedVector<std::pair<Key, AttrValue>, 2>& items() const { return items_; }

 private:
  absl::InlinedVector<std::pair<Key, AttrValue>, 2> items_;  // in the order they were set
};

// "axis", "keepdims" ...: the spelling of the text form.
absl::string_view NameOf(Key key);

}  // namespace memcrest

#endif  // MEMCREST_GRAPH_ATTRS_H_
