// Which kernel scaled_dot_product_attention runs, as PyTorch 2.14 chooses it
// (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp).
//
// Takes: queries, keys, values [B, H, S, D], what is asked of them, the device.  Gives: a backend.
// A backend asked for by the job (--attention) is taken where it can run, the usual order applies otherwise.
#ifndef MEMCREST_OPS_ATTENTION_BACKENDS_H_
#define MEMCREST_OPS_ATTENTION_BACKENDS_H_

#include "src/eager/eager.h"

namespace memcrest {

enum class AttentionBackend : uint8_t { kCudnn, kFlash, kEfficient, kMath };

struct AttentionRequest {
  const Value& query;
  const Value& key;
  const Value& value;
  bool masked = false;
  bool mask_trains = false;  // the mask wants a gradient
  bool trains = false;       // any of query, key, value does
  bool causal = false;
  double dropout = 0;
};

AttentionBackend ChooseBackend(const KernelDevice& device, const AttentionRequest& request);

}  // namespace memcrest

#endif  // MEMCREST_OPS_ATTENTION_BACKENDS_H_
