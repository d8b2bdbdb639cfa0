// Whether a network exported with a literal batch size gives the right sizes for another one.
//
// Takes: the same graph bound twice, as exported and with the new batch. Gives: nullopt if every batch-dependent value
// follows the new batch, else Problem E0404 naming the node that holds on to the old one. Proof, not guess: what cannot
// be told apart (a Reshape constant that equals the old batch) is refused.
#ifndef MEMCREST_SHAPE_LITERAL_BATCH_H_
#define MEMCREST_SHAPE_LITERAL_BATCH_H_

#include <optional>

#include "src/base/problem.h"
#include "src/shape/frame.h"

namespace memcrest::shape {

std::optional<Problem> FindPinnedBatch(const Frame& exported, const Frame& replaced, int64_t old_batch,
                                       int64_t new_batch);

// E0404 for a graph that cannot be bound with the new batch at all; `cause` is why.
Problem PinnedBatch(const Problem& cause, int64_t old_batch, int64_t new_batch);

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_LITERAL_BATCH_H_
