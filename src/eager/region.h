// One execution of a checkpointed module: its saved tensors are not kept, only counted, and made again in backward.
//
// Non-reentrant torch.utils.checkpoint: forward notes how many tensors would have been saved; the first unpack re-runs the
// region, whose saves fill `slots` until all that are needed are there (early stop). A slot is dropped with its tape node.
// With a save policy (create_selective_checkpoint_contexts) results of chosen operators are kept as well, and taken instead of
// run when the region runs again.
#ifndef MEMCREST_EAGER_REGION_H_
#define MEMCREST_EAGER_REGION_H_

#include <cstdint>
#include <vector>

#include "src/eager/value.h"
#include "src/graph/network.h"

namespace memcrest {

class OpCall;

// Which results a region keeps. Asked once for each operator, in order, in the forward pass and again in the recomputation.
class KeepRule {
 public:
  virtual ~KeepRule() = default;
  virtual bool Keeps(const OpCall& call) = 0;
};

struct Region {
  uint32_t refs = 0;
  CallId call = kNone;          // the module execution it covers
  void* state = nullptr;        // the step's record of the region's inputs (owned by `release`)
  void (*release)(void* state) = nullptr;
  uint32_t saved = 0;           // tensors saved in the forward pass
  bool recomputing = false;
  bool recomputed = false;
  bool discard = false;         // an inner region met while its outer one is recomputed: nothing is saved or recorded
  uint32_t filled = 0;          // during the recomputation: saves seen so far
  std::vector<Value> slots;     // what the recomputation brought back, by order of saving
  std::vector<bool> dead;       // slots whose node has already been released: not kept when recomputed
  KeepRule* keep = nullptr;     // not owned; fresh for each run of the region
  std::vector<std::vector<Value>> kept;  // results of operators that the rule keeps, in order
  size_t taken = 0;             // during the recomputation: how many of them have been used
};
void Destroy(Region* region);

}  // namespace memcrest

#endif  // MEMCREST_EAGER_REGION_H_
