// How fast a device runs work: a roofline with launch overhead.
//
// Takes: Device, Work.  Gives: seconds of one operator on the device's stream, and what the host needs to issue it. Every
// coefficient stands in rates.cc with its source. Seconds are estimates (assumption A0801), never exact.
#ifndef MEMCREST_CLOCK_RATES_H_
#define MEMCREST_CLOCK_RATES_H_

#include "src/clock/work.h"
#include "src/job/device.h"

namespace memcrest {

class Rates {
 public:
  explicit Rates(const Device& device);
  double KernelSeconds(const Work& work) const;
  double HostCopySeconds(double bytes) const;
  // What the host spends to issue one operator: Python and dispatch in forward, the engine in backward.
  double IssueSeconds(bool backward) const;

 private:
  double PeakFlops(ComputeUnit unit, DType dtype) const;
  double Utilisation(const Work& work) const;

  PeakTflops peak_;
  double bandwidth_, host_bandwidth_;  // bytes per second
  int sm_;
  double multiprocessors_;
};

}  // namespace memcrest

#endif  // MEMCREST_CLOCK_RATES_H_
