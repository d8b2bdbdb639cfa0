// What a job changes in how the network's nodes run.
//
//   precision bf16/fp16  a float32 cast or factory of a float32 export follows the model's type: in PyTorch it was written as
//                        x.to(other.dtype) or zeros(..., dtype=x.dtype); a real upcast carries Key::kExplicit
//   unpadded rows        attention masks marked by lift are not passed, and what only they needed is not run
//   eval modules         dropout is off and batch norms use their running statistics there
#ifndef MEMCREST_STEP_ADAPT_H_
#define MEMCREST_STEP_ADAPT_H_

#include "src/graph/network.h"
#include "src/job/job.h"

namespace memcrest {

struct Program;

// Fills program.nodes and program.adapted.
// `evaluation`: all modules are in eval mode.
void AdaptNodes(const Network& network, const Job& job, bool evaluation, Program& program);

}  // namespace memcrest

#endif  // MEMCREST_STEP_ADAPT_H_
