// Seconds of a training step: listens to the runtime and advances two clocks, the host's and the device's stream.
//
// The host issues operators one after the other; the device runs them in order, never before they are issued. A step takes until
// both are done. Attach with Eager::observer; the figures are those of the last step that ran. Estimates (A0801).
#ifndef MEMCREST_CLOCK_CLOCK_H_
#define MEMCREST_CLOCK_CLOCK_H_

#include <vector>

#include "src/clock/rates.h"
#include "src/eager/observer.h"
#include "src/eager/recorder.h"

namespace memcrest {

struct StepSeconds {
  double step = 0;                       // from its start to the end of its last kernel
  double device = 0, host = 0;           // busy time of the stream; time the host needs to issue everything
  double forward = 0, recompute = 0, backward = 0, optimizer = 0;  // busy time of the stream, by pass
};

class Clock : public KernelObserver {
 public:
  // Both must outlive the clock.
  Clock(const Device& device, const Recorder& recorder) : rates_(device), recorder_(recorder) {}

  void Forward(const OpCall& call) override;
  void Backward(const GradCall& grad) override;
  void Move(Bytes bytes) override;
  void HostCopy(Bytes bytes) override;

  StepSeconds seconds() const;
  // Device seconds of recomputations of the step, by NodeId; may be shorter than the network.
  const std::vector<double>& recompute_by_node() const { return recompute_by_node_; }

 private:
  void Issue(bool backward);
  void Run(double seconds);
  void StartStep();

  Rates rates_;
  const Recorder& recorder_;
  int16_t step_ = -1;
  double host_ = 0, device_ = 0;         // where the two clocks stand
  StepSeconds busy_;
  std::vector<double> recompute_by_node_;
};

}  // namespace memcrest

#endif  // MEMCREST_CLOCK_CLOCK_H_
