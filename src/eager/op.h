// One framework operator: everything the simulator knows of it stands in its entry.
//
// An entry is either a primitive that autograd records (forward makes results and says what it saves; backward is its
// derivative formula) or a composite that calls other operators. Entries are registered by their family's file in src/ops.
//
// How to write `forward` of a primitive:
//   1. call.Save(slot, value) for every *input* the formula keeps, guarded by call.Need(i) as autograd guards it;
//   2. make the results: call.Out(0) = rt.Empty(...), rt.Pointwise(...), rt.View(...); hidden temporaries as HiddenBlocks;
//   3. call.Save(slot, call.Out(i)) for results that are kept.
// Saving inputs before making results matters: a checkpoint's early stop ends the recomputation at the last save.
// How to write `backward`: read grad.Grad(i) (null: no gradient arrived), grad.Saved(slot), sizes from grad.In(i) / grad.Out(i);
// for each input with grad.Need(i): grad.Set(i, value). Temporaries are C++ temporaries: they live to the end of the full
// expression exactly as in PyTorch's formulas (derivatives.yaml), so nest calls as the formula nests.
#ifndef MEMCREST_EAGER_OP_H_
#define MEMCREST_EAGER_OP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "src/eager/tape.h"
#include "src/eager/value.h"
#include "src/graph/attrs.h"

namespace memcrest {

class Eager;

// CUDA autocast's lists (aten/src/ATen/autocast_mode.h).
enum class Autocast : uint8_t {
  kPlain,     // runs in its inputs' types
  kLower,     // inputs cast to the low precision type
  kFloat32,   // inputs cast to float32
  kSetDtype,  // runs with dtype=float32 where the first input is eligible: softmax, sum, prod, cumsum, norm ...
  kPromote,   // inputs cast to the widest type among them
};

class OpCall {
 public:
  OpCall(const OpEntry& entry, const Attrs& attributes, absl::Span<const Value> inputs, absl::Span<const Dims* const> hints)
      : op(entry), attrs(attributes), in(inputs), hints_(hints) {}

  const OpEntry& op;
  const Attrs& attrs;
  absl::Span<const Value> in;  // null where absent
  absl::InlinedVector<Value, 2> out;
  absl::InlinedVector<Saved, 4> saved;
  absl::InlinedVector<bool, 4> need;  // per input: a gradient is wanted; empty when nothing is recorded
  uint32_t non_differentiable = 0;    // bit i: output i never requires a gradient (indices, masks, statistics)

  bool Has(size_t i) const { return i < in.size() && static_cast<bool>(in[i]); }
  bool Need(size_t i) const { return i < need.size() && need[i]; }
  bool Recorded() const { return recorded; }
  Value& Out(size_t i) {
    if (out.size() <= i) out.resize(i + 1);
    return out[i];
  }
  // Sizes of output i as the export states them for this binding; null if it has no such value.
  const Dims* Hint(size_t i) const { return i < hints_.size() ? hints_[i] : nullptr; }
  // Keeps a reference for backward (no-op when nothing is recorded). Slots are the entry's own numbering from 0.
  void Save(Eager& rt, size_t slot, const Value& value);

  bool recorded = false;

 private:
  absl::Span<const Dims* const> hints_;
};

class GradCall {
 public:
  GradCall(TapeNode& tape_node, absl::InlinedVector<Value, 1>& arrived) : node(tape_node), grads_(arrived) {
    in_grads.resize(tape_node.next.size());
  }

  TapeNode& node;
  absl::InlinedVector<Value, 4> unpacked;  // saved values brought back, by slot
  absl::InlinedVector<Value, 3> in_grads;  // results, per input

  const Attrs& attrs() const { return *node.attrs; }
  size_t inputs() const { return node.next.size(); }
  bool Need(size_t i) const { return i < node.next.size() && static_cast<bool>(node.next[i].node); }
  // Gradient of output i; null if none arrived. grad.Take(i) moves it out, as formulas that reuse it in place do.
  const Value& Grad(size_t i = 0) const { return grads_[i]; }
  Value Take(size_t i = 0) { return std::move(grads_[i]); }
  bool HasGrad(size_t i = 0) const { return i < grads_.size() && static_cast<bool>(grads_[i]); }
  const Value& Saved(size_t slot) const;  // a null value if the slot was not saved
  const Meta& In(size_t i) const { return *node.in[i]; }
  const Meta& Out(size_t i = 0) const { return *node.out[i]; }
  const Value& Result(size_t i) const { return in_grads[i]; }
  // A gradient that no input waits for is dropped, as autograd drops it.
  void Set(size_t i, Value value) {
    if (i < in_grads.size()) in_grads[i] = std::move(value);
  }

 private:
  absl::InlinedVector<Value, 1>& grads_;
};

using ForwardFn = void (*)(Eager& rt, OpCall& call);
using BackwardFn = void (*)(Eager& rt, GradCall& grad);

struct OpEntry {
  const char* name = "";             // ATen's name: "addmm", "native_layer_norm"
  ForwardFn forward = nullptr;
  BackwardFn backward = nullptr;     // null: composite, view without gradient work, or not differentiable
  Autocast autocast = Autocast::kPlain;
  bool composite = false;            // calls other operators, records nothing itself
  bool differentiable = true;        // false: comparisons, argmax, factories
  bool random = false;
  const char* doc = "";              // one line: what it saves
};

// All entries, by name. Built once by the generated RegisterAllOps; order of registration is the order of listing.
class OpRegistry {
 public:
  void Add(const OpEntry& entry);
  const OpEntry* Find(absl::string_view name) const;  // nullptr if unknown
  std::vector<const OpEntry*> All() const;            // sorted by name

 private:
  std::vector<std::unique_ptr<OpEntry>> entries_;
  absl::flat_hash_map<absl::string_view, const OpEntry*> by_name_;
};

// The process-wide registry of built-in operators (defined in src/ops/registry.cc).
const OpRegistry& Ops();
// The built-in of that name. The name must exist: entries call each other by it, a test checks them all.
const OpEntry& Op(absl::string_view name);

}  // namespace memcrest

#endif  // MEMCREST_EAGER_OP_H_
