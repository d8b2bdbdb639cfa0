// Someone who is told of every kernel as it runs: the clock.
//
// Called after an operator's forward or formula has run, with its operands and results; composites, what an early stop skipped
// and results that a save policy kept are not told. Phase, pass and node: the runtime's recorder.
#ifndef MEMCREST_EAGER_OBSERVER_H_
#define MEMCREST_EAGER_OBSERVER_H_

#include "src/base/bytes.h"

namespace memcrest {

class OpCall;
class GradCall;

class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  virtual void Forward(const OpCall& call) = 0;
  virtual void Backward(const GradCall& grad) = 0;
  virtual void Move(Bytes bytes) = 0;          // an element-wise kernel of the engine itself: sums, casts, clones; read + written
  virtual void HostCopy(Bytes bytes) = 0;      // to or from host memory
};

}  // namespace memcrest

#endif  // MEMCREST_EAGER_OBSERVER_H_
