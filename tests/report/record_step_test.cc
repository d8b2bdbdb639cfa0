#include "src/report/record_step.h"

#include <gtest/gtest.h>

#include "src/graph/network.h"

namespace memcrest {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

// Two steps of one call: step 0 leaves storage 0 ("w") and storage 1; in step 1 storage 1 dies, 2 is born, becomes a gradient and
// stays, 3 is scratch that only the allocator sees.
class RecordStepTest : public ::testing::Test {
 protected:
  RecordStepTest() {
    network_.modules = {{"", "", kNone, {}}, {"model.fc", "", 0, {}}};
    network_.calls = {{0, kNone, 0, 0, 1}, {1, 0, 0, 0, 1}};
    trace_.steps = 2;
    Add(Event::Kind::kAlloc, 0, 0, Category::kParameters, Phase::kInit, "init");
    trace_.marks.push_back({"step_start", 0, 1, 0});
    Add(Event::Kind::kAlloc, 0, 1, Category::kActivations, Phase::kForward, "relu");
    trace_.marks.push_back({"step_start", 1, 2, 0});
    Add(Event::Kind::kAlloc, 1, 2, Category::kTemporaries, Phase::kBackward, "mm");
    Add(Event::Kind::kAlloc, 1, 3, Category::kTemporaries, Phase::kBackward, "mm").seen = Seen::kAllocatorOnly;
    Add(Event::Kind::kFree, 1, 3, Category::kTemporaries, Phase::kBackward, "mm").seen = Seen::kAllocatorOnly;
    Add(Event::Kind::kRetag, 1, 2, Category::kGradients, Phase::kBackward, "mm");
    Add(Event::Kind::kFree, 1, 1, Category::kActivations, Phase::kOptimizer, "step");
    Add(Event::Kind::kOp, 1, kNone, Category::kActivations, Phase::kOptimizer, "step");
    account_ = AccountFor(trace_, {});
    record_ = RecordStep({network_, trace_, account_, device_, names_, &moments_});
  }

  Event& Add(Event::Kind kind, int16_t step, StorageId storage, Category category, Phase phase, const char* op) {
    Event& e = trace_.events.emplace_back();
    e.kind = kind;
    e.step = step;
    e.storage = storage;
    e.category = category;
    e.phase = phase;
    e.op = op;
    e.bytes = storage == kNone ? 0 : 2 * kMiB + 1;
    e.node = phase == Phase::kBackward ? 0 : kNone;
    e.call = 1;
    return e;
  }

  Network network_;
  Trace trace_;
  Device device_;
  StorageNames names_ = {{0, "model.fc.weight"}};
  std::vector<Moment> moments_ = {{1, 0.5}, {2, 0}, {4, 1e-6}, {4, 2e-6}, {8, 3e-6}};  // the first is of the step before
  Account account_;
  StepRecord record_;
};

TEST_F(RecordStepTest, StoragesAreCountedFromTheStartOfTheReportedStep) {
  ASSERT_EQ(record_.events, 6);
  ASSERT_EQ(record_.lives.size(), 4u);
  const StorageLife& weight = record_.lives[0];
  EXPECT_EQ(weight.born, -1);
  EXPECT_EQ(weight.dies, 6);  // outlives the step
  EXPECT_EQ(weight.bytes, 2 * kMiB + 512);
  EXPECT_EQ(record_.strings[static_cast<size_t>(weight.name)], "model.fc.weight");
  EXPECT_EQ(record_.strings[static_cast<size_t>(weight.module)], "model.fc");
  EXPECT_EQ(record_.lives[1].born, -1);
  EXPECT_EQ(record_.lives[1].dies, 4);
  EXPECT_EQ(record_.lives[2].born, 0);
  EXPECT_EQ(record_.lives[2].dies, 6);
  EXPECT_EQ(record_.lives[3].seen, Seen::kAllocatorOnly);
}

TEST_F(RecordStepTest, ACategoryThatChangesIsNoted) {
  ASSERT_EQ(record_.changes.size(), 1u);
  EXPECT_EQ(record_.changes[0].life, 2);
  EXPECT_EQ(record_.changes[0].event, 3);
  EXPECT_EQ(record_.changes[0].category, Category::kGradients);
}

TEST_F(RecordStepTest, EventsOfOneOperatorAreOneSpan) {
  ASSERT_EQ(record_.spans.size(), 2u);
  EXPECT_EQ(record_.spans[0].begin, 0);
  EXPECT_EQ(record_.strings[static_cast<size_t>(record_.spans[0].op)], "mm");
  EXPECT_EQ(record_.strings[static_cast<size_t>(record_.spans[0].module)], "model.fc");
  EXPECT_EQ(record_.spans[1].begin, 5);
  EXPECT_EQ(record_.spans[1].phase, Phase::kOptimizer);
}

// The last of several at one event counts.
TEST_F(RecordStepTest, SecondsAreTiedToEventsOfTheStep) {
  ASSERT_EQ(record_.clock.size(), 3u);
  EXPECT_EQ(record_.clock[0].event, 0);
  EXPECT_EQ(record_.clock[1].event, 2);
  EXPECT_EQ(record_.clock[1].nanoseconds, 2000);
  EXPECT_EQ(record_.clock[2].event, 6);
}

// A request of 2 MiB + 1 comes from a segment of 20 MiB, which serves eight more: all four storages fit into the one.
TEST_F(RecordStepTest, BlocksStandInTheSegmentsOfTheAllocator) {
  ASSERT_EQ(record_.segments.size(), 1u);
  EXPECT_EQ(record_.segments[0].event, -1);
  EXPECT_EQ(record_.segments[0].bytes, 20 * kMiB);
  const int64_t start = record_.segments[0].address;
  EXPECT_EQ(record_.lives[0].address, start);
  EXPECT_EQ(record_.lives[2].address, start + 2 * (2 * kMiB + 512));
}

}  // namespace
}  // namespace memcrest
