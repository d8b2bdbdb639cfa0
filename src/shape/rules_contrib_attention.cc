// Rules of ONNX Runtime's contributed attention operators (com.microsoft), which differ from ai.onnx's of the same
// name.
#include <array>

#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// input[B, S, hidden], weights[hidden, q + k + v], bias, mask_index, past[2, B, heads, P, size] -> [B, S, v], present.
void Attention(RuleContext& c) {
  const int64_t heads = c.node().Int("num_heads", 0);
  if (c.Rank(0) != 3 || c.Rank(1) != 2 || heads <= 0) {
    c.Fail("needs an input of rank 3, weights of rank 2 and num_heads");
    return;
  }
  const std::vector<int64_t>* hidden = c.node().Ints("qkv_hidden_sizes");
  const int64_t value = hidden != nullptr && hidden->size() == 3 ? (*hidden)[2] : c.Sizes(1)[1] / 3;
  const int64_t batch = c.Sizes(0)[0], length = c.Sizes(0)[1], past = c.Has(4) && c.Rank(4) == 5 ? c.Sizes(4)[3] : 0;
  c.Out(1, c.Type(0), {2, batch, heads, past + length, value / heads});
  c.Out(0, c.Type(0), {batch, length, value});
}

// Length of a key of [B, L, hidden] or [B, heads, L, size].
int64_t KeyLength(const Dims& key) { return key.size() == 4 ? key[2] : key.size() >= 2 ? key[1] : 0; }

// query[B, S, hidden] (or packed [B, S, heads, 3, size]), key, value, bias, masks, past_key, past_value.
void MultiHeadAttention(RuleContext& c) {
  const int64_t heads = c.node().Int("num_heads", 0);
  const Dims &query = c.Sizes(0), &value = c.Sizes(2);
  if (heads <= 0 || (query.size() != 3 && query.size() != 5)) return c.Fallback();
  const int64_t batch = query[0], length = query[1];
  int64_t hidden = query.size() == 5 ? query[2] * query[4] : query[2], keys = length;
  if (c.Has(1)) keys = KeyLength(c.Sizes(1));
  if (c.Has(2) && value.size() >= 3) hidden = value.size() == 4 ? value[1] * value[3] : value[2];
  const int64_t past = c.Has(6) && c.Rank(6) == 4 ? c.Sizes(6)[2] : 0;
  c.Out(1, c.Type(0), {batch, heads, past + keys, query.back() / (query.size() == 5 ? 1 : heads)});
  c.Out(2, c.Type(0), {batch, heads, past + keys, hidden / heads});
  c.Out(0, c.Type(0), {batch, length, hidden});
}

// query[B, S, heads * size], or packed with key and value; key, value, past_key[B, kv, P, size], past_value.
void GroupQueryAttention(RuleContext& c) {
  const int64_t heads = c.node().Int("num_heads", 0), kv_heads = c.node().Int("kv_num_heads", 0);
  if (c.Rank(0) != 3 || heads <= 0 || kv_heads <= 0) {
    c.Fail("needs a query of rank 3, num_heads and kv_num_heads");
    return;
  }
  const bool packed = !c.Has(1);
  const int64_t batch = c.Sizes(0)[0], length = c.Sizes(0)[1];
  const int64_t size = c.Sizes(0)[2] / (packed ? heads + 2 * kv_heads : heads);
  // The cache may be one buffer of the largest length; then it does not grow.
  const int64_t past = c.Has(3) && c.Rank(3) == 4 ? c.Sizes(3)[2] : 0;
  const int64_t total = c.Scalar(6).value_or(past + length);
  for (int i = 1; i <= 2; ++i) c.Out(i, c.Type(0), {batch, kv_heads, std::max(total, past), size});
  c.Out(0, c.Type(0), {batch, length, heads * size});
}

constexpr std::array kRules = {
    Rule{"Attention", Attention, 2},
    Rule{"MultiHeadAttention", MultiHeadAttention},
    Rule{"DecoderMaskedMultiHeadAttention", MultiHeadAttention},
    Rule{"GroupQueryAttention", GroupQueryAttention},
    Rule{"SparseAttention", GroupQueryAttention},
    Rule{"LongformerAttention", LikeFirst},
    Rule{"RotaryEmbedding", LikeFirst},
    Rule{"GemmaRotaryEmbedding", LikeFirst},
};

}  // namespace

absl::Span<const Rule> ContribAttentionRules() { return kRules; }

}  // namespace memcrest::shape
