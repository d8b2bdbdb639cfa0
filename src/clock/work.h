// How much an operator computes and moves: what a roofline needs.
//
// Takes: one executed operator, forward or backward.  Gives: Work. Matrix products, convolutions, attention and recurrent networks
// compute; everything else moves its operands and results once. Views do nothing. Ignores: caches, and what a kernel reads twice.
#ifndef MEMCREST_CLOCK_WORK_H_
#define MEMCREST_CLOCK_WORK_H_

#include <cstdint>

#include "src/base/dtype.h"
#include "src/eager/op.h"

namespace memcrest {

enum class ComputeUnit : uint8_t { kMemory, kProduct, kConvolution, kAttention };

struct Work {
  ComputeUnit unit = ComputeUnit::kMemory;
  DType dtype = DType::kFloat32;  // of the operands
  double flops = 0;               // multiply and add are two
  double bytes = 0;               // read and written
  int kernels = 0;                // launches; 0: a view
  int64_t rows = 0, columns = 0, depth = 0, batch = 1;  // of a product or convolution, as a matrix product
};

Work ForwardWork(const OpCall& call);
Work BackwardWork(const GradCall& grad);

}  // namespace memcrest

#endif  // MEMCREST_CLOCK_WORK_H_
