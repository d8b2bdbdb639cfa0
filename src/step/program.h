// A network made ready to run on one set of bound sizes: flat tables, so that a step costs no look-ups.
//
// Takes: Network, BoundShapes.  Gives: Program: sizes of every tensor that the file knows, operands of each node, and which
// tensors Python drops after each node. Cheap to make again for another binding or job; independent of checkpointing and optimizer.
#ifndef MEMCREST_STEP_PROGRAM_H_
#define MEMCREST_STEP_PROGRAM_H_

#include <deque>
#include <vector>

#include "absl/types/span.h"
#include "src/graph/network.h"
#include "src/job/job.h"
#include "src/shape/shapes.h"

namespace memcrest {

struct Program {
  const Network* network = nullptr;
  std::vector<const Node*> nodes;           // as the job runs them: the network's, or one of `adapted`; null: not run
  std::deque<Node> adapted;                 // nodes that the job changes
  std::vector<Dims> sizes;                  // by TensorId; meaningful where `known`
  std::vector<bool> known;
  std::vector<DType> dtypes;                // by TensorId: as exported
  std::vector<const Dims*> hints;           // of all nodes' outputs, flat
  std::vector<int32_t> hint_begin;          // by NodeId (+1)
  std::vector<TensorId> released;           // flat, grouped by node
  std::vector<int32_t> released_begin;      // by NodeId (+1)

  absl::Span<const Dims* const> Hints(NodeId n) const {
    const size_t i = static_cast<size_t>(n);
    return absl::MakeConstSpan(hints).subspan(static_cast<size_t>(hint_begin[i]), static_cast<size_t>(hint_begin[i + 1] - hint_begin[i]));
  }
  absl::Span<const TensorId> Released(NodeId n) const {
    const size_t i = static_cast<size_t>(n);
    return absl::MakeConstSpan(released).subspan(static_cast<size_t>(released_begin[i]),
                                                 static_cast<size_t>(released_begin[i + 1] - released_begin[i]));
  }
};

// `network` must outlive the program. What the job changes in the network's nodes: adapt.h.
enum class Mode { kTraining, kEvaluation };  // of the modules: model.train(), model.eval()
Program MakeProgram(const Network& network, const BoundShapes& shapes, const Job& job, Mode mode = Mode::kTraining);

}  // namespace memcrest

#endif  // MEMCREST_STEP_PROGRAM_H_
