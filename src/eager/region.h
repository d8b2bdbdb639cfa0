// One execution of a checkpointed module: its saved tensors are not kept, only counted, and made again in backward.
//
// Non-reentrant torch.utils.checkpoint: forward notes how many tensors would have been saved; the first unpack re-runs the
// region, whose saves fill `slots` until all that are needed are there (early stop). A slot is dropped with its tape node.
#ifndef MEMCREST_EAGER_REGION_H_
#define MEMCREST_EAGER_REGION_H_

#include <cstdint>
#include <vector>

#include "src/eager/value.h"
#include "src/graph/network.h"

namespace memcrest {

struct Region {
  uint32_t refs = 0;
  CallId call = kNone;          // the module execution it covers
  void* state = nullptr;        // the step's record of the region's inputs (owned by `release`)
  void (*release)(void* state) = nullptr;
  uint32_t saved = 0;           // tensors saved in the forward pass
  bool recomputing = false;
  bool recomputed = false;
  uint32_t filled = 0;          // during the recomputation: saves seen so far
  std::vector<Value> slots;     // what the recomputation brought back, by order of saving
  std::vector<bool> dead;       // slots whose node has already been released: not kept when recomputed
};
void Destroy(Region* region);

}  // namespace memcrest

#endif  // MEMCREST_EAGER_REGION_H_
