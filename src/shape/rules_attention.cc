// Rules of fused attention: ai.onnx Attention (23 on), RotaryEmbedding, TensorScatter, FlexAttention.
#include <array>

#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// Q, K or V as batch, heads, length, head size; rank 3 packs the heads into the last dimension.
struct Heads {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
};

bool ReadHeads(RuleContext& c, int input, int64_t heads, Heads* out) {
  const Dims& sizes = c.Sizes(input);
  if (sizes.size() == 4) {
    *out = {sizes[0], sizes[1], sizes[2], sizes[3]};
    return true;
  }
  if (sizes.size() != 3 || heads <= 0) return c.Fail("Q, K and V need rank 4, or rank 3 and the head counts");
  if (sizes[2] % heads != 0) return c.Fail("the hidden size is no multiple of the head count");
  *out = {sizes[0], heads, sizes[1], sizes[2] / heads};
  return true;
}

// Q, K, V, attn_mask, past_key, past_value -> Y, present_key, present_value, qk.
void Attention(RuleContext& c) {
  const int64_t q_heads = c.node().Int("q_num_heads", 0), kv_heads = c.node().Int("kv_num_heads", 0);
  Heads q, k, v;
  if (!ReadHeads(c, 0, q_heads, &q) || !ReadHeads(c, 1, kv_heads, &k) || !ReadHeads(c, 2, kv_heads, &v)) return;
  if (q.batch != k.batch || k.length != v.length || q.size != k.size) {
    c.Fail("Q, K and V do not fit each other");
    return;
  }
  const int64_t past = c.Has(4) && c.Rank(4) == 4 ? c.Sizes(4)[2] : 0;
  const int64_t keys = Plus(past, k.length);
  c.Out(1, c.Type(1), {k.batch, k.heads, keys, k.size});
  c.Out(2, c.Type(2), {v.batch, v.heads, keys, v.size});
  c.Out(3, c.Type(0), {q.batch, q.heads, q.length, keys});
  const bool packed = c.Rank(0) == 3;
  c.Out(0, c.Type(0),
        packed ? Dims{q.batch, q.length, Times(q.heads, v.size)} : Dims{q.batch, q.heads, q.length, v.size});
}

void FlexAttention(RuleContext& c) {
  if (c.Rank(0) != 4 || c.Rank(1) != 4 || c.Rank(2) != 4) {
    c.Fail("needs Q, K and V of rank 4");
    return;
  }
  Dims sizes = c.Sizes(0);
  sizes[3] = c.Sizes(2)[3];
  c.Out(0, c.Type(0), std::move(sizes));
}

constexpr std::array kRules = {
    Rule{"Attention", Attention, 3},
    Rule{"FlexAttention", FlexAttention, 3},
    Rule{"RotaryEmbedding", LikeFirst, 3},
    Rule{"TensorScatter", LikeFirst, 2},
};

}  // namespace

absl::Span<const Rule> AttentionRules() { return kRules; }

}  // namespace memcrest::shape
