// Simulates a training step of the ResNet-50 named on the command line with the installed library.
#include <cstdio>

#include "src/base/bytes.h"
#include "src/job/job.h"
#include "src/plan/simulate.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  memcrest::Job job;
  job.bind = {{"batch", 32}, {"height", 224}, {"width", 224}};
  const auto report = memcrest::Simulate(argv[1], job);
  if (!report.ok()) {
    std::fprintf(stderr, "%s\n", report.status().ToString().c_str());
    return 1;
  }
  const memcrest::PeakReport& at = report->devices.front().peak;
  const memcrest::Bytes peak = at.live.allocated;
  std::printf("peak %s in %s\n", memcrest::HumanBytes(peak).c_str(), at.phase.c_str());
  return peak > 0 ? 0 : 1;
}
