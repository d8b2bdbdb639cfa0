// Which calls a job checkpoints.
#include "src/step/regions.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

// (root) -> layers.0, layers.1 (each with .mlp), head; one call each.
Network TwoLayers() {
  Network net;
  const auto add = [&](const char* path, ModuleId parent) {
    net.modules.push_back({path, "", parent, {}});
    const CallId id = static_cast<CallId>(net.calls.size());
    net.calls.push_back({id, parent, 0, 0, 1});
    return id;
  };
  add("", kNone);
  const ModuleId first = add("layers.0", 0);
  add("layers.0.mlp", first);
  const ModuleId second = add("layers.1", 0);
  add("layers.1.mlp", second);
  add("head", 0);
  return net;
}

TEST(RepeatedBlocks, AreTheMembersOfModuleLists) {
  EXPECT_EQ(RepeatedBlocks(TwoLayers()), (std::vector<ModuleId>{1, 3}));
}

TEST(CheckpointedCalls, MatchSegmentBySegment) {
  Checkpoint c;
  c.modules = {"layers.*"};
  const auto calls = CheckpointedCalls(TwoLayers(), c);
  ASSERT_TRUE(calls.ok());
  EXPECT_EQ(*calls, (std::vector<bool>{false, true, false, true, false, false}));
}

TEST(CheckpointedCalls, EverySecondBlock) {
  Checkpoint c;
  c.all_blocks = true;
  c.every = 2;
  const auto calls = CheckpointedCalls(TwoLayers(), c);
  ASSERT_TRUE(calls.ok());
  EXPECT_EQ(*calls, (std::vector<bool>{false, true, false, false, false, false}));
}

TEST(CheckpointedCalls, APatternThatMatchesNothingIsAnError) {
  Checkpoint c;
  c.modules = {"blocks.*", "layers.*"};
  const auto calls = CheckpointedCalls(TwoLayers(), c);
  ASSERT_FALSE(calls.ok());
  EXPECT_EQ(calls.status().message(),
            "error E0501: no module matches 'blocks.*'\n"
            "  where: --checkpoint\n"
            "  why: patterns are dotted module paths, matched segment by segment\n"
            "  fix: see `memcrest inspect` for the module tree\n");
}

}  // namespace
}  // namespace memcrest
