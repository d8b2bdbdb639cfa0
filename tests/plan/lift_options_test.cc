#include "src/plan/lift_options.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

TEST(LiftOptions, AJobSaysWhatIsRestoredAndTied) {
  Job job;
  job.restore = {"batchnorm"};
  job.tie["head.weight"] = "embed.weight";
  job.untie = {"output.weight"};
  const LiftOptions options = LiftOptionsOf(job);
  EXPECT_TRUE(options.restore_batch_norm);
  EXPECT_FALSE(options.restore_dropout);
  EXPECT_EQ(options.tie, (std::vector<std::string>{"head.weight=embed.weight"}));
  EXPECT_EQ(options.untie, (std::vector<std::string>{"output.weight"}));
}

}  // namespace
}  // namespace memcrest
