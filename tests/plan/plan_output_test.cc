#include "src/plan/plan_output.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

Plan TwoModules() {
  Plan p;
  p.modules = {"model.h.0", "model.h.1"};
  return p;
}

TEST(Summary, NumbersThatFollowEachOtherAreOneLine) {
  const std::vector<std::string> paths = {"m.h.0", "m.h.1", "m.h.2", "m.h.5", "m.head", "m.h.7.mlp"};
  EXPECT_EQ(Summary(paths), (std::vector<std::string>{"m.h.[0-2,5]  (4)", "m.head", "m.h.7.mlp"}));
}

TEST(PlanFile, IsTheCheckpointMessageOfAJob) {
  EXPECT_NE(PlanFile(TwoModules()).find("\"modules\""), std::string::npos);
  EXPECT_NE(PlanFile(TwoModules()).find("\"model.h.1\""), std::string::npos);
  EXPECT_EQ(PlanFile(TwoModules()).find("policy"), std::string::npos);
}

TEST(PlanPython, WrapsTheForwardOfEachModule) {
  EXPECT_EQ(PlanPython(TwoModules()),
            "# Made by memcrest plan: paste after building `model`, whose modules have the names of the export.\n"
            "import functools\n"
            "from torch.utils.checkpoint import checkpoint\n"
            "\n"
            "CHECKPOINTED = [\n"
            "    \"model.h.0\",\n"
            "    \"model.h.1\",\n"
            "]\n"
            "\n"
            "for name in CHECKPOINTED:\n"
            "    module = model.get_submodule(name)\n"
            "    module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)\n");
}

}  // namespace
}  // namespace memcrest
