#include "src/clock/clock.h"

#include <algorithm>

namespace memcrest {

void Clock::StartStep() {
  step_ = recorder_.step;
  host_ = device_ = 0;
  busy_ = StepSeconds();
  recompute_by_node_.clear();
}

void Clock::Issue(bool backward) {
  if (recorder_.step != step_) StartStep();
  const double seconds = rates_.IssueSeconds(backward);
  host_ += seconds;
  busy_.host += seconds;
}

void Clock::Run(double seconds) {
  if (seconds <= 0) return;
  device_ = std::max(device_, host_) + seconds;
  busy_.device += seconds;
  double& pass = recorder_.phase == Phase::kOptimizer ? busy_.optimizer
                 : recorder_.pass == Pass::kRecompute ? busy_.recompute
                 : recorder_.phase == Phase::kBackward ? busy_.backward
                                                       : busy_.forward;
  pass += seconds;
  if (recorder_.pass != Pass::kRecompute || recorder_.node == kNone) return;
  const size_t node = static_cast<size_t>(recorder_.node);
  if (recompute_by_node_.size() <= node) recompute_by_node_.resize(node + 1);
  recompute_by_node_[node] += seconds;
}

void Clock::Forward(const OpCall& call) {
  Issue(false);
  Run(rates_.KernelSeconds(ForwardWork(call)));
}

void Clock::Backward(const GradCall& grad) {
  Issue(true);
  Run(rates_.KernelSeconds(BackwardWork(grad)));
}

void Clock::Move(Bytes bytes) {
  Issue(true);
  Run(rates_.KernelSeconds({.bytes = static_cast<double>(bytes), .kernels = 1}));
}

void Clock::HostCopy(Bytes bytes) {  // the host waits for it
  Issue(false);
  Run(rates_.HostCopySeconds(static_cast<double>(bytes)));
  host_ = std::max(host_, device_);
}

StepSeconds Clock::seconds() const {
  StepSeconds s = busy_;
  s.step = std::max(host_, device_);
  return s;
}

}  // namespace memcrest
