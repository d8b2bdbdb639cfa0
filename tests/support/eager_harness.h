// Runs operators through the virtual runtime and tells, as text, which storages came and went.
//
// Takes: sizes, operator names, attributes.  Gives: values; Events(): one line an event since the last call:
//   "+16384 relu"  an operator's result or a formula's intermediate was allocated (bytes as requested, operator's name)
//   "-16384 relu"  it was freed
//   "~512 sum"     a kernel's own temporary (the allocator's alone; its end is not printed)
//   "?512 topk"    what only a dispatcher sees (its end is not printed)
// Leaves, inputs and their ends are not printed. Retags neither.
#ifndef MEMCREST_TESTS_SUPPORT_EAGER_HARNESS_H_
#define MEMCREST_TESTS_SUPPORT_EAGER_HARNESS_H_

#include <deque>
#include <string>

#include "src/eager/eager.h"

namespace memcrest {

class EagerHarness {
 public:
  explicit EagerHarness(KernelDevice device = {});
  ~EagerHarness();

  Eager& rt() { return rt_; }
  // A parameter: it needs a gradient.
  Value Leaf(DimSpan sizes, DType dtype = DType::kFloat32);
  // An input, label or mask: it needs none.
  Value Input(DimSpan sizes, DType dtype = DType::kFloat32);
  // An input whose memory order of dimensions is `order`, outermost first.
  Value Permuted(DimSpan sizes, DimSpan order, DType dtype = DType::kFloat32);

  Value Run(absl::string_view op, std::initializer_list<Value> inputs, Attrs attrs = {}, const Dims* hint = nullptr);
  // Differentiates `value` (any size; the gradient that arrives is one fresh tensor "ones_like"), drops it, drops all
  // gradients.
  void Backward(Value value);
  std::string Events();
  // The same for one operator of one or more leaves, forward, then "backward" on a line of its own, then its backward.
  std::string Trace(absl::string_view op, std::initializer_list<Value> inputs, Attrs attrs = {},
                    const Dims* hint = nullptr);

 private:
  Eager rt_;
  std::deque<memcrest::Leaf> leaves_;
  size_t told_ = 0;
};

}  // namespace memcrest

#endif  // MEMCREST_TESTS_SUPPORT_EAGER_HARNESS_H_
