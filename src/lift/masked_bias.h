// Attention biases that every call masks for itself.
//
// transformers' attention function turns a trained position bias and a bool mask into one tensor, in every layer anew:
// torch.where(mask, bias, finfo.min).contiguous(). Both exporters merge the equal `where`s of all layers into the first
// one; the TorchScript exporter drops the copy as well.
#ifndef MEMCREST_LIFT_MASKED_BIAS_H_
#define MEMCREST_LIFT_MASKED_BIAS_H_

#include "src/graph/network.h"

namespace memcrest {

// Gives each attention call its own masked bias again.
void RestoreMaskedBiases(Network& network);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_MASKED_BIAS_H_
