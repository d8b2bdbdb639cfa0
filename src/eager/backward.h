// The backward engine: runs tape nodes in PyTorch's order and moves gradients between them.
//
// Order: largest sequence number first among nodes whose gradients have all arrived; a leaf's accumulation at once.
// Inside a node: gradients in, saved tensors unpacked, formula, then saved tensors released, then gradients handed on.
// (torch/csrc/autograd/engine.cpp, input_buffer.cpp, functions/accumulate_grad.h)
#ifndef MEMCREST_EAGER_BACKWARD_H_
#define MEMCREST_EAGER_BACKWARD_H_

#include <vector>

#include "src/eager/eager.h"

namespace memcrest {

class BackwardEngine {
 public:
  explicit BackwardEngine(Eager& rt) : rt_(rt) {}
  // `loss` is a scalar with history; its gradient of ones is made here. The handle is dropped once its node is known.
  void Run(Value loss);
  // From several results with the gradients that arrived there. The caller's handles stay, as Python's arguments do.
  void Run(absl::Span<const Value> results, absl::Span<const Value> gradients);

 private:
  void Prepare(TapeNode& root);                 // counts the gradients each node waits for
  void Displace(TapeNode& leaf);
  void Restore();
  void Drain();
  void RunNode(const Ref<TapeNode>& node);
  void Unpack(TapeNode& node, GradCall& grad);
  void Release(TapeNode& node);
  void HandOn(TapeNode& node, GradCall& grad);
  Value Validated(const TapeNode& node, size_t input, Value gradient);
  void Add(Value& into, Value gradient);        // two gradients of one tensor meet
  void Accumulate(Leaf& leaf, const Meta& want, Value gradient);  // .grad: stolen, copied or added to
  void Push(Ref<TapeNode> node);

  struct Displaced {
    Ref<TapeNode> node;
    uint32_t visit, pending;
    absl::InlinedVector<Value, 1> grads;
  };

  Eager& rt_;
  std::vector<Displaced> displaced_;  // leaves of an outer backward
  std::vector<Ref<TapeNode>> ready_;  // heap by seq
};

}  // namespace memcrest

#endif  // MEMCREST_EAGER_BACKWARD_H_
