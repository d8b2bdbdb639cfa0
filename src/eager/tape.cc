#include "src/eager/tape.h"

#include <utility>
#include <vector>

#include "src/eager/op.h"

namespace memcrest {

void Destroy(TapeNode* node) {
  // A graph of n nodes is a chain of owners n long: unlink with a stack of our own instead of recursing.
  thread_local std::vector<TapeNode*>* pending = nullptr;
  if (pending != nullptr) {
    pending->push_back(node);
    return;
  }
  std::vector<TapeNode*> stack{node};
  pending = &stack;
  while (!stack.empty()) {
    TapeNode* dying = stack.back();
    stack.pop_back();
    if (dying->leaf != nullptr && dying->leaf->accumulate == dying) {
      dying->leaf->accumulate = nullptr;
      if (dying->leaf->activation) dying->leaf->grad.reset();
    }
    delete dying;  // dropping its edges may push more
  }
  pending = nullptr;
}

void Destroy(Region* region) {
  if (region->release != nullptr) region->release(region->state);
  delete region;
}

const Value& GradCall::Saved(size_t slot) const {
  static const Value kNothing;
  return slot < unpacked.size() ? unpacked[slot] : kNothing;
}


}  // namespace memcrest
