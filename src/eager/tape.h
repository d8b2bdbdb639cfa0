// The tape: what autograd remembers of one executed operator until its backward has run.
//
// A node owns edges to the nodes of its inputs and the saved tensors its formula will read. `saved` entries are values, or
// placeholders of a checkpointed region that is run again when the first of them is asked for.
#ifndef MEMCREST_EAGER_TAPE_H_
#define MEMCREST_EAGER_TAPE_H_

#include <cstdint>
#include <memory>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "src/eager/region.h"
#include "src/eager/value.h"
#include "src/graph/attrs.h"

namespace memcrest {

struct OpEntry;

// A trainable parameter as autograd sees it: the tensor, its gradient, its hook order.
struct Leaf {
  ParamId param = kNone;
  Value value;
  Value grad;                            // .grad
  TapeNode* accumulate = nullptr;        // not owned: alive as long as a graph refers to it
  bool activation = false;               // made by requires_grad_() in the forward; owned, with .grad, by `accumulate`
};

struct Edge {
  Ref<TapeNode> node;   // null: no gradient wanted
  uint16_t input = 0;   // which of its outputs (= gradient inputs) this feeds
};

struct Recompute {  // the k-th tensor saved inside a region
  Ref<Region> region;
  uint32_t slot = 0;
};
struct Offloaded {  // a host copy that backward brings back
  Value host;
  MetaRef device_meta;
};
using Saved = std::variant<std::monostate, Value, Recompute, Offloaded>;

struct TapeNode {
  uint32_t refs = 0;
  uint32_t pending = 0;  // engine: gradients still to come
  uint32_t visit = 0;    // engine: the backward that last prepared it
  uint64_t seq = 0;      // larger runs first
  bool hooked = false;   // Eager::before_node is told before it runs
  const OpEntry* op = nullptr;
  const Attrs* attrs = nullptr;  // owned by the network or by `own_attrs`
  std::shared_ptr<const Attrs> own_attrs;
  Leaf* leaf = nullptr;          // AccumulateGrad
  NodeId node = kNone;
  CallId call = kNone;
  absl::InlinedVector<Edge, 3> next;      // one per forward input
  absl::InlinedVector<Saved, 4> saved;
  absl::InlinedVector<MetaRef, 3> in;     // one per forward input; null where absent
  absl::InlinedVector<MetaRef, 1> out;    // one per forward output
  absl::InlinedVector<Value, 1> grads;    // engine: gradients that have arrived
};
void Destroy(TapeNode* node);  // iterative: long chains do not recurse

}  // namespace memcrest

#endif  // MEMCREST_EAGER_TAPE_H_
