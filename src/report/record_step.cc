#include "src/report/record_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/eager/recorder.h"

namespace memcrest {
namespace {

// Numbers texts in the order in which they are first seen.
class Strings {
 public:
  explicit Strings(std::vector<std::string>& list) : list_(list) { Add(""); }
  int32_t Add(const std::string& text) {
    const auto [at, added] = ids_.try_emplace(text, static_cast<int32_t>(list_.size()));
    if (added) list_.push_back(text);
    return at->second;
  }

 private:
  std::vector<std::string>& list_;
  absl::flat_hash_map<std::string, int32_t> ids_;
};

class StepRecorder {
 public:
  explicit StepRecorder(const ReportSource& source)
      : s_(source), first_(FirstEvent(source)), strings_(record_.strings), modules_(s_.network.calls.size(), kNone) {}

  StepRecord Run() {
    const std::vector<Event>& events = s_.trace.events;
    record_.events = static_cast<int32_t>(events.size() - first_);
    if (record_.events == 0) return StepRecord();
    for (size_t i = 0; i < first_; ++i) Before(events[i], i);
    TakeResidents();
    for (size_t i = first_; i < events.size(); ++i) Within(events[i], i);
    CopySegments();
    CopyClock();
    return std::move(record_);
  }

 private:
  struct Resident {  // alive so far, before the step
    size_t born = 0;
    Category category = Category::kActivations;
    bool alive = false;
  };

  static bool IsStorage(const Event& e) { return e.storage != kNone && e.place == Place::kDevice; }
  int32_t Time(size_t event) const { return static_cast<int32_t>(event - first_); }

  void Before(const Event& e, size_t i) {
    if (!IsStorage(e)) return;
    const size_t id = static_cast<size_t>(e.storage);
    if (residents_.size() <= id) residents_.resize(id + 1);
    if (e.kind == Event::Kind::kAlloc) residents_[id] = {i, e.category, true};
    if (e.kind == Event::Kind::kRetag) residents_[id].category = e.category;
    if (e.kind == Event::Kind::kFree) residents_[id].alive = false;
  }

  void TakeResidents() {
    life_of_.assign(residents_.size(), kNone);
    for (const Resident& r : residents_) {
      if (r.alive) Born(s_.trace.events[r.born], -1, r.category);
    }
  }

  void Within(const Event& e, size_t i) {
    if (e.kind == Event::Kind::kAlloc || e.kind == Event::Kind::kOp || e.kind == Event::Kind::kCollective) NoteSpan(e, Time(i));
    if (!IsStorage(e)) return;
    if (e.kind == Event::Kind::kAlloc) return Born(e, Time(i), e.category);
    const int32_t life = life_of_[static_cast<size_t>(e.storage)];
    if (e.kind == Event::Kind::kFree) record_.lives[static_cast<size_t>(life)].dies = Time(i);
    if (e.kind == Event::Kind::kRetag) record_.changes.push_back({life, Time(i), e.category});
  }

  void Born(const Event& e, int32_t time, Category category) {
    const size_t id = static_cast<size_t>(e.storage);
    if (life_of_.size() <= id) life_of_.resize(id + 1, kNone);
    life_of_[id] = static_cast<int32_t>(record_.lives.size());
    const std::string name = StorageName(s_, e.storage, category, e);
    StorageLife life;
    life.born = time;
    life.dies = record_.events;
    life.bytes = RoundUp(e.bytes, kGranule);
    life.category = category;
    life.seen = e.seen;
    life.name = strings_.Add(name);
    life.module = strings_.Add(StorageModule(s_, category, e, name));
    life.op = strings_.Add(OpName(e));
    if (e.seen != Seen::kDispatcherOnly && id < s_.account.blocks.size()) {
      life.address = s_.account.blocks[id].address;
      life.slack = s_.account.blocks[id].bytes - life.bytes;
    }
    record_.lives.push_back(life);
  }

  int32_t Module(const Event& e) {
    if (e.call == kNone || e.node == kNone) return 0;
    int32_t& module = modules_[static_cast<size_t>(e.call)];
    if (module == kNone) module = strings_.Add(ModulePath(s_.network, e.call));
    return module;
  }

  // Events in a row of one execution of an operator are one span.
  void NoteSpan(const Event& e, int32_t time) {
    const bool same = last_ != nullptr && last_->op == e.op && last_->node == e.node && last_->call == e.call &&
                      last_->pass == e.pass && last_->phase == e.phase && last_->micro == e.micro && last_->stream == e.stream;
    if (same) return;
    last_ = &e;
    record_.spans.push_back({time, strings_.Add(OpName(e)), Module(e), e.phase, e.pass, e.micro, e.stream});
  }

  void CopySegments() {
    for (const AccountedSegment& segment : s_.account.segments) {
      const int32_t event = segment.event < first_ ? -1 : Time(segment.event);
      record_.segments.push_back({event, segment.address, segment.bytes, segment.small});
    }
  }

  void CopyClock() {
    if (s_.moments == nullptr) return;
    for (const Moment& m : *s_.moments) {
      if (m.event < first_) continue;
      const ClockTime time{std::min(Time(m.event), record_.events), std::llround(m.seconds * 1e9)};
      std::vector<ClockTime>& clock = record_.clock;
      if (!clock.empty() && clock.back().event == time.event) clock.back() = time;
      else clock.push_back(time);
    }
  }

  const ReportSource& s_;
  const size_t first_;
  StepRecord record_;
  Strings strings_;
  std::vector<int32_t> modules_;     // by CallId
  std::vector<Resident> residents_;  // by StorageId
  std::vector<int32_t> life_of_;     // by StorageId
  const Event* last_ = nullptr;
};

}  // namespace

StepRecord RecordStep(const ReportSource& source) { return StepRecorder(source).Run(); }

}  // namespace memcrest
