// Rules of recurrent layers: RNN, GRU, LSTM, and of operators that carry a state along a sequence.
#include <array>

#include "absl/strings/str_cat.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// X[time, batch, input] (layout 0) or [batch, time, input] (layout 1), W[directions, gates * hidden, input],
// R[directions, gates * hidden, hidden], B, sequence_lens, initial_h, initial_c.
void Recurrent(RuleContext& c) {
  if (c.Rank(0) != 3 || c.Rank(1) != 3 || c.Rank(2) != 3) {
    c.Fail("needs X, W and R of rank 3");
    return;
  }
  if (c.Sizes(0)[2] != c.Sizes(1)[2]) {
    c.Fail(absl::StrCat("X has ", c.Sizes(0)[2], " features, W ", c.Sizes(1)[2]));
    return;
  }
  const bool batch_first = c.node().Int("layout", 0) != 0;
  const int64_t time = c.Sizes(0)[batch_first], batch = c.Sizes(0)[!batch_first];
  const int64_t directions = c.Sizes(1)[0], hidden = c.node().Int("hidden_size", c.Sizes(2)[2]);
  const Dims last = batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  for (int i = 5; i <= 6; ++i) {
    if (!c.Has(i) || c.Sizes(i) == last) continue;
    c.Fail(absl::StrCat("an initial state of ", ToText(c.Sizes(i)), " where ", ToText(last), " is needed"));
    return;
  }
  c.Out(0, c.Type(0), batch_first ? Dims{batch, time, directions, hidden} : Dims{time, directions, batch, hidden});
  for (int i = 1; i < c.outputs() && i < 3; ++i) c.Out(i, c.Type(0), last);
}

// x[batch, channels, time], w[channels, 1, k] -> x's sizes and the last k - 1 positions.
void CausalConvWithState(RuleContext& c) {
  if (c.Rank(0) != 3 || c.Rank(1) != 3) {
    c.Fail("needs x and the kernel of rank 3");
    return;
  }
  c.Out(1, c.Type(0), {c.Sizes(0)[0], c.Sizes(0)[1], c.Sizes(1)[2] - 1});
  c.Same();
}

// query[B, T, Hq * dk], key[B, T, Hkv * dk], value[B, T, Hkv * dv] -> [B, T, Hq * dv], state [B, Hkv, dk, dv].
void LinearAttention(RuleContext& c) {
  const int64_t q_heads = c.node().Int("q_num_heads", 0), kv_heads = c.node().Int("kv_num_heads", 0);
  if (q_heads <= 0 || kv_heads <= 0 || c.Rank(0) != 3 || c.Rank(1) != 3 || c.Rank(2) != 3) {
    c.Fail("needs packed inputs of rank 3 and the head counts");
    return;
  }
  const int64_t key_size = c.Sizes(1)[2] / kv_heads, value_size = c.Sizes(2)[2] / kv_heads, batch = c.Sizes(0)[0];
  c.Out(1, c.Type(c.Has(3) ? 3 : 0), {batch, kv_heads, key_size, value_size});
  c.Out(0, c.Type(0), {batch, c.Sizes(0)[1], Times(q_heads, value_size)});
}

constexpr std::array kRules = {
    Rule{"RNN", Recurrent, 3},
    Rule{"GRU", Recurrent, 3},
    Rule{"LSTM", Recurrent, 3},
    Rule{"CausalConvWithState", CausalConvWithState, 2},
    Rule{"LinearAttention", LinearAttention, 3},
};

}  // namespace

absl::Span<const Rule> RecurrentRules() { return kRules; }

}  // namespace memcrest::shape
