// Which families of language models keep an output head of their own.
//
// An evaluation export that folded the head's transpose holds a nameless [width, vocabulary] tensor, tied or not. Most
// models of this shape tie it to their token table; some families do not by default, and their names tell them apart.
#ifndef MEMCREST_LIFT_TIED_HEADS_H_
#define MEMCREST_LIFT_TIED_HEADS_H_

#include "absl/strings/string_view.h"
#include "src/onnx/model.h"

namespace memcrest {

// `table` and `head`: full names of the two weights ("model.embed_tokens.weight", "lm_head.weight"); sizes of the table.
bool KeepsOwnHead(const onnx::Graph& graph, absl::string_view table, absl::string_view head, int64_t vocabulary, int64_t width);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_TIED_HEADS_H_
