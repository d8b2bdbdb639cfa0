// Nodes in topological order, in linear time, without moving any that need not move.
//
// Takes: a graph whose values know their defining node.  Gives: the nodes reordered if they must be, or the nodes of a
// cycle. Guarantees: an order that is already topological stays as it is; otherwise each node is placed where the file
// has it, behind the nodes that it needs, which are pulled forward in the order of their use.
#ifndef MEMCREST_ONNX_SORT_H_
#define MEMCREST_ONNX_SORT_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "src/onnx/model.h"

namespace memcrest::onnx {

// (node, value): what a node needs beside its inputs, for its sub-graphs. Ascending by node.
using HiddenUse = std::pair<int, ValueId>;

struct SortResult {
  bool moved = false;
  std::vector<int> cycle;  // nodes that wait for each other, in order; the graph is unchanged if not empty
};
// Also updates Value::node.
SortResult SortNodes(absl::Span<const HiddenUse> hidden_uses, Graph& graph);

// Sets Value::node of every value from the nodes' outputs, -1 where no node makes it.
void LinkDefinitions(Graph& graph);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_SORT_H_
