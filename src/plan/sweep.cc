#include "src/plan/sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace memcrest {
namespace {

std::string FirstLine(absl::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// One thread's work: keeps the sizes of the binding that it bound last.
class Worker {
 public:
  Worker(const SweepQuestion& question, const SweepOptions& options, PreparedModel& model)
      : question_(question), options_(options), model_(model) {}

  SweepRow Row(int64_t index) {
    SweepRow row;
    row.index = index;
    row.values = SettingOf(question_.axes, index);
    try {
      absl::StatusOr<Outcome> outcome = Run(row.values);
      if (outcome.ok()) row.outcome = *std::move(outcome);
      else row.refused = FirstLine(std::string(outcome.status().message()));
    } catch (const std::exception& error) {
      row.refused = absl::StrCat("error: ", error.what());
    }
    return row;
  }

 private:
  absl::StatusOr<Outcome> Run(const std::vector<std::string>& values) {
    FlagValues flags = question_.flags;
    for (auto& flag : FlagsOf(question_.axes, values)) flags.push_back(std::move(flag));
    MEMCREST_ASSIGN_OR_RETURN(const Job job, LoadJob(question_.job_file, flags));
    MEMCREST_ASSIGN_OR_RETURN(std::shared_ptr<const NetworkFile> file, model_.For(job));
    if (bound_ == nullptr || file != file_ || job.bind != bind_ || job.input != input_) {
      MEMCREST_ASSIGN_OR_RETURN(bound_, BindJob(*file, job));
      file_ = file;
      bind_ = job.bind;
      input_ = job.input;
    } else if (const absl::Status again = RebindJob(*file, job, *bound_); !again.ok()) {
      bound_ = nullptr;
      return again;
    }
    return OutcomeOf(*file, *bound_, job, options_.headroom);
  }

  const SweepQuestion& question_;
  const SweepOptions& options_;
  PreparedModel& model_;
  std::shared_ptr<const NetworkFile> file_;
  std::unique_ptr<BoundJob> bound_;
  std::map<std::string, int64_t> bind_;
  std::map<std::string, std::vector<int64_t>> input_;
};

// Puts rows back in order.
class Sorter {
 public:
  explicit Sorter(const std::function<void(SweepRow)>& take) : take_(take) {}

  void Put(size_t place, SweepRow row) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_[place] = std::move(row);
    for (auto at = waiting_.begin(); at != waiting_.end() && at->first == next_; at = waiting_.erase(at), ++next_) {
      take_(std::move(at->second));
    }
  }

 private:
  const std::function<void(SweepRow)>& take_;
  std::mutex mutex_;
  std::map<size_t, SweepRow> waiting_;
  size_t next_ = 0;
};

}  // namespace

absl::Status Sweep(const SweepQuestion& question, const SweepOptions& options, const std::set<int64_t>& skip,
                   const std::function<void(SweepRow)>& take) {
  MEMCREST_ASSIGN_OR_RETURN(const int64_t count, CountSettings(question.axes));
  std::vector<int64_t> todo;
  for (int64_t i = options.shard; i < count; i += options.shards) {
    if (skip.count(i) == 0) todo.push_back(i);
  }
  PreparedModel model(question.model_path);
  Sorter sorter(take);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    Worker worker(question, options, model);
    for (size_t place = next++; place < todo.size(); place = next++) sorter.Put(place, worker.Row(todo[place]));
  };
  const size_t wanted = options.threads > 0 ? static_cast<size_t>(options.threads) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(wanted, todo.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return absl::OkStatus();
}

}  // namespace memcrest
