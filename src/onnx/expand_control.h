// If, Loop and Scan replaced by what they run: the branch taken, the body once per trip.
//
// Takes: a model, and for nodes of its top graph which branch or how many trips (shape decides that: it depends on
// bound sizes).  Gives: a model in which those nodes are gone. Bodies' nodes keep their names, which carry module
// scopes; values get fresh ones. A Loop's or Scan's stacked outputs become Unsqueeze and Concat, a Scan's cut inputs
// Gather. Inner If, Loop, Scan come to the top and are left for another round. Errors: E0214 (a body does not fit its
// node), E0215 (too large).
#ifndef MEMCREST_ONNX_EXPAND_CONTROL_H_
#define MEMCREST_ONNX_EXPAND_CONTROL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/onnx/model.h"
#include "src/onnx/reader.h"

namespace memcrest::onnx {

struct ControlChoice {
  int node = 0;       // index in the top graph
  int64_t count = 0;  // If: 1 then, 0 else; Loop, Scan: trips
  bool known = true;  // false: depends on data; `count` is then the larger branch, or the most trips there can be
};

// `choices` in the order of nodes; nodes without one stay as they are, and so does a Loop that stacks nothing at all.
absl::StatusOr<Model> ExpandControl(const Model& model, absl::Span<const ControlChoice> choices,
                                    const ReadOptions& options = {});

// Whether the top graph has an If, a Loop or a Scan.
bool HasControl(const Model& model);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_EXPAND_CONTROL_H_
