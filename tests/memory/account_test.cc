#include "src/memory/account.h"

#include <gtest/gtest.h>

namespace memcrest {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

Trace OneStep() {
  Trace trace;
  trace.steps = 1;
  trace.marks.push_back({"step_start", 0, 0, 0});
  return trace;
}

void Add(Trace& trace, Event::Kind kind, StorageId storage, Bytes bytes, StreamId stream = 0) {
  Event& e = trace.events.emplace_back();
  e.kind = kind;
  e.storage = storage;
  e.bytes = bytes;
  e.stream = stream;
}

// 40 MiB are cached when 50 are asked for: 90 reserved without a limit.
Trace Fragmenting() {
  Trace trace = OneStep();
  Add(trace, Event::Kind::kAlloc, 0, 40 * kMiB);
  Add(trace, Event::Kind::kFree, 0, 40 * kMiB);
  Add(trace, Event::Kind::kAlloc, 1, 50 * kMiB);
  return trace;
}

TEST(Account, TheCacheIsGivenBackAtTheLimit) {
  EXPECT_EQ(AccountFor(Fragmenting(), {}).reserved, 90 * kMiB);
  AllocatorOptions options;
  options.memory = 64 * kMiB;
  const Account account = AccountFor(Fragmenting(), options);
  EXPECT_EQ(account.reserved, 50 * kMiB);
  EXPECT_EQ(account.retries, 1);
  EXPECT_FALSE(account.breaks.has_value());
}

TEST(Account, OutOfMemoryIsAResult) {
  AllocatorOptions options;
  options.memory = 45 * kMiB;
  const Account account = AccountFor(Fragmenting(), options);
  ASSERT_TRUE(account.breaks.has_value());
  EXPECT_EQ(account.breaks->event, 2u);
  EXPECT_EQ(account.breaks->requested, 50 * kMiB);
  EXPECT_EQ(account.reserved, 90 * kMiB);  // the figures are those of a run without limit
  const std::vector<AllocatorRemedy> remedies = TryRemedies(Fragmenting(), options);
  ASSERT_EQ(remedies.size(), 1u);  // 50 MiB alone are too much: no setting is worth trying
  EXPECT_FALSE(remedies[0].runs);
}

// Every second block of ten segments lives: none can be given back whole,
// and no hole takes 40 MiB. Expandable segments map just what is missing.
TEST(Account, ExpandableSegmentsAreFoundToHelp) {
  Trace trace = OneStep();
  for (StorageId i = 0; i < 20; ++i) Add(trace, Event::Kind::kAlloc, i, 9 * kMiB);   // 20 MiB segments hold two: 200 MiB
  for (StorageId i = 0; i < 20; i += 2) Add(trace, Event::Kind::kFree, i, 9 * kMiB);  // 90 MiB live in ten segments
  Add(trace, Event::Kind::kAlloc, 20, 40 * kMiB);
  AllocatorOptions options;
  options.memory = 220 * kMiB;
  const Account account = AccountFor(trace, options);
  ASSERT_TRUE(account.breaks.has_value());
  EXPECT_EQ(account.breaks->largest_free, 9 * kMiB);  // between its segment's start and a live block
  const std::vector<AllocatorRemedy> remedies = TryRemedies(trace, options);
  ASSERT_EQ(remedies.size(), 3u);
  EXPECT_EQ(remedies[0].setting, "expandable_segments:True");
  EXPECT_TRUE(remedies[0].runs);
  EXPECT_TRUE(remedies[2].runs);
}

TEST(Account, AnIdealAllocatorReservesWhatLives) {
  AllocatorOptions options;
  options.ideal = true;
  const Account account = AccountFor(Fragmenting(), options);
  EXPECT_EQ(account.reserved, 50 * kMiB);
  EXPECT_EQ(account.ideal_reserved, 50 * kMiB);
  EXPECT_EQ(AccountFor(Fragmenting(), {}).ideal_reserved, 50 * kMiB);  // always beside the real one
}

TEST(Account, ABlockUsedElsewhereWaitsForTheStream) {
  Trace trace = OneStep();
  Add(trace, Event::Kind::kAlloc, 0, 30 * kMiB);
  Add(trace, Event::Kind::kUseOn, 0, 30 * kMiB, 1);
  Add(trace, Event::Kind::kFree, 0, 30 * kMiB);
  Add(trace, Event::Kind::kAlloc, 1, 30 * kMiB);  // cannot have the block yet
  Add(trace, Event::Kind::kWait, kNone, 0);
  Add(trace, Event::Kind::kAlloc, 2, 30 * kMiB);
  EXPECT_EQ(AccountFor(trace, {}).reserved, 60 * kMiB);
}

}  // namespace
}  // namespace memcrest
