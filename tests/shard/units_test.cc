#include "src/shard/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memcrest {
namespace {

using ::testing::ElementsAre;

// (root) with emb.weight, layers.0 .. layers.2 (each .weight), head.weight tied to emb.weight.
Network Stack() {
  Network net;
  const auto param = [&](const char* fqn) {
    Param p;
    p.fqn = fqn;
    p.dims = {4, 4};
    p.order = static_cast<int>(net.params.size());
    net.params.push_back(p);
  };
  net.modules.push_back({"", "", kNone, {}});
  for (const char* path : {"emb", "layers.0", "layers.1", "layers.2", "head"}) net.modules.push_back({path, "", 0, {}});
  param("emb.weight");
  for (const char* fqn : {"layers.0.weight", "layers.1.weight", "layers.2.weight"}) param(fqn);
  net.params[0].aliases = {"head.weight"};
  return net;
}

TEST(Units, EveryParameterBelongsToOneUnitAndTheRootTakesTheRest) {
  const Network net = Stack();
  const std::vector<Unit> units = MakeUnits(net, RepeatedBlocks(net));
  ASSERT_EQ(units.size(), 4u);
  EXPECT_THAT(units[1].params, ElementsAre(2));
  EXPECT_THAT(units[3].params, ElementsAre(0));
  EXPECT_THAT(units[3].modules, ElementsAre(0));
}

TEST(Units, AParameterSharedBetweenUnitsIsTheRoots) {
  const Network net = Stack();
  const auto chosen = ChosenModules(net, {"emb", "head"});
  ASSERT_TRUE(chosen.ok());
  const std::vector<Unit> units = MakeUnits(net, *chosen);
  EXPECT_TRUE(units[0].params.empty());
  EXPECT_THAT(units.back().params, ElementsAre(0, 1, 2, 3));
}

TEST(Units, SeveralModulesMayFormOneUnit) {
  const Network net = Stack();
  const std::vector<Unit> units = MakeUnits(net, RepeatedBlocks(net), 2);
  ASSERT_EQ(units.size(), 3u);
  EXPECT_THAT(units[0].params, ElementsAre(1, 2));
  EXPECT_THAT(units[1].params, ElementsAre(3));
}

TEST(Units, APatternThatMatchesNothingIsNamed) {
  const auto chosen = ChosenModules(Stack(), {"blocks.*"});
  ASSERT_FALSE(chosen.ok());
  EXPECT_NE(std::string(chosen.status().message()).find("blocks.*"), std::string::npos);
}

}  // namespace
}  // namespace memcrest
