// Undoes call splits that were none: a module whose first layer runs twice inside one execution is not called twice.
//
// Two executions that touch each other and run different sequences of parameter-reading operators are one (a layer that
// projects two things with the same weights); equal sequences are a loop over a shared layer and stay apart. Executions
// of one inner call each, with unequal operators around it, are one too: the loop runs inside (an ODE solver around its
// function).
#ifndef MEMCREST_LIFT_CALL_MERGE_H_
#define MEMCREST_LIFT_CALL_MERGE_H_

#include "src/graph/network.h"

namespace memcrest {

void MergeSplitCalls(Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_CALL_MERGE_H_
