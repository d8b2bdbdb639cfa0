#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/eager_harness.h"

namespace memcrest {
namespace {

using ::testing::HasSubstr;

// Sequences were recorded from the lab: batch 4, 10 steps, 32 features, 64 hidden units. The gates of all steps are
// 4 * 10 * 4 * 64 floats = 40960 bytes, the reserve 6 * 10 * 4 * 64 floats = 61440; all weights have 25088 elements.

std::string Unroll(EagerHarness& h, DType type, bool batch_first) {
  const Value x = h.Leaf(batch_first ? Dims{4, 10, 32} : Dims{10, 4, 32}, type);
  return h.Trace("lstm",
                 {x, h.Leaf({256, 32}, type), h.Leaf({256, 64}, type), h.Leaf({256}, type), h.Leaf({256}, type)},
                 {{Key::kBatchFirst, batch_first}});
}

TEST(Recurrent, LstmSavesItsReserveAndFlattensWeightGradients) {
  // Zero states (1024 each), result, last states; backward: zeros for unused states, one buffer for all weight
  // gradients.
  EagerHarness h;
  EXPECT_EQ(Unroll(h, DType::kFloat32, false),
            "+1024 lstm\n+1024 lstm\n+10240 _cudnn_rnn\n+1024 _cudnn_rnn\n+1024 _cudnn_rnn\n~40960 _cudnn_rnn\n"
            "+61440 _cudnn_rnn\n-1024 \n-1024 \nbackward\n+10240 ones_like\n+1024 _cudnn_rnn\n+1024 _cudnn_rnn\n"
            "+5120 _cudnn_rnn\n+1024 _cudnn_rnn\n+1024 _cudnn_rnn\n~40960 _cudnn_rnn\n+100352 _cudnn_rnn\n"
            "~40960 _cudnn_rnn\n-1024 _cudnn_rnn\n-1024 _cudnn_rnn\n-1024 _cudnn_rnn\n-1024 _cudnn_rnn\n"
            "-10240 _cudnn_rnn\n-1024 _cudnn_rnn\n-1024 _cudnn_rnn\n-10240 _cudnn_rnn\n-61440 _cudnn_rnn\n"
            "-5120 accumulate_grad\n-100352 accumulate_grad\n");
}

TEST(Recurrent, BatchFirstInputIsReordered) {
  EagerHarness h;
  EXPECT_EQ(Unroll(h, DType::kFloat32, true),
            "+1024 lstm\n+1024 lstm\n~5120 _cudnn_rnn\n+10240 _cudnn_rnn\n+1024 _cudnn_rnn\n+1024 _cudnn_rnn\n"
            "~40960 _cudnn_rnn\n+61440 _cudnn_rnn\n-1024 \n-1024 \nbackward\n+10240 ones_like\n+1024 _cudnn_rnn\n"
            "+1024 _cudnn_rnn\n~5120 _cudnn_rnn\n+5120 _cudnn_rnn\n+1024 _cudnn_rnn\n+1024 _cudnn_rnn\n"
            "~40960 _cudnn_rnn\n~5120 _cudnn_rnn\n+100352 _cudnn_rnn\n~40960 _cudnn_rnn\n-1024 _cudnn_rnn\n"
            "-1024 _cudnn_rnn\n-1024 _cudnn_rnn\n-1024 _cudnn_rnn\n-10240 _cudnn_rnn\n-1024 _cudnn_rnn\n"
            "-1024 _cudnn_rnn\n-10240 _cudnn_rnn\n-61440 _cudnn_rnn\n+5120 clone\n-5120 clone\n"
            "-5120 accumulate_grad\n-100352 accumulate_grad\n");
}

TEST(Recurrent, Bfloat16WeightsAreCompactedAtEveryCall) {
  // 25088 elements of 2 bytes, kept until backward.
  EagerHarness h;
  EXPECT_THAT(Unroll(h, DType::kBFloat16, true),
              HasSubstr("+50176 _cudnn_rnn\n~20480 _cudnn_rnn\n+30720 _cudnn_rnn\n"));
}

TEST(Recurrent, StatesOfGruAndLstmHaveTheirPlaces) {
  EagerHarness h;
  const Value x = h.Input({10, 4, 32}), state = h.Input({1, 4, 64});
  const Values gru = h.rt().CallAll("gru", {x, state, h.Input({192, 32}), h.Input({192, 64})});
  ASSERT_EQ(gru.size(), 2u);
  const Values lstm = h.rt().CallAll("lstm", {x, state, state, h.Input({256, 32}), h.Input({256, 64})});
  ASSERT_EQ(lstm.size(), 3u);
  EXPECT_EQ(lstm[0].sizes(), (Dims{10, 4, 64}));
  EXPECT_EQ(lstm[2].sizes(), (Dims{1, 4, 64}));
}

}  // namespace
}  // namespace memcrest
