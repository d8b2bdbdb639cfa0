// The two halves of a transformers model: its base, and the head that turns hidden states into logits.
//
// Takes: Network.  Gives: where the base ends, its output, and the head's weight. Losses that apply the head themselves
// (chunked cross-entropy) or never (contrastive) need them. The base is the wrapped model's largest child, as base_model_prefix
// names it; the head is the linear layer that makes the first output.
#ifndef MEMCREST_STEP_HEADS_H_
#define MEMCREST_STEP_HEADS_H_

#include "src/graph/network.h"

namespace memcrest {

struct BaseModel {
  NodeId end = kNone;       // first node after it; kNone: not found
  TensorId hidden = kNone;  // its output
};
BaseModel FindBaseModel(const Network& network);

struct Head {
  TensorId weight = kNone, bias = kNone;  // parameters' tensors; kNone: none
};
Head FindHead(const Network& network);

}  // namespace memcrest

#endif  // MEMCREST_STEP_HEADS_H_
