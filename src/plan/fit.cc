#include "src/plan/fit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace memcrest {
namespace {

// Counts in multiples: the k-th size is k * options.multiple.
class Search {
 public:
  Search(const SizeOutcome& outcome_of, const FitOptions& options)
      : outcome_of_(outcome_of), multiple_(options.multiple), most_(std::max<int64_t>(1, options.most / options.multiple)) {}

  absl::StatusOr<Fit> Run() {
    if (absl::StatusOr<Outcome> smallest = outcome_of_(multiple_); !smallest.ok()) return smallest.status();
    else tried_[1] = FitProbe{multiple_, *std::move(smallest), ""};
    int64_t edge = 0;
    if (Fits(1)) {
      const auto [low, high] = Gallop(1, most_, [this](int64_t k) { return !Fits(k); });
      edge = Bisect(low, high, [this](int64_t k) { return !Fits(k); });
    }
    edge = AboveEdge(edge);
    return Result(edge);
  }

 private:
  const FitProbe& Try(int64_t k) {
    const auto [at, is_new] = tried_.try_emplace(k);
    FitProbe& probe = at->second;
    if (!is_new) return probe;
    probe.size = k * multiple_;
    if (absl::StatusOr<Outcome> outcome = outcome_of_(probe.size); outcome.ok()) probe.outcome = *std::move(outcome);
    else probe.refused = std::string(outcome.status().message());
    return probe;
  }
  bool Fits(int64_t k) { return Try(k).fits(); }
  bool Impossible(int64_t k) { return !Try(k).refused.empty() || Try(k).outcome.impossible(); }

  // (low, high): the predicate is false at low and true at high; high is `most` + 1 if it is false up to there.
  template <class Predicate>
  std::pair<int64_t, int64_t> Gallop(int64_t from, int64_t most, const Predicate& predicate) {
    int64_t low = from;
    for (int64_t stride = 1; low < most; stride *= 2) {
      const int64_t next = std::min(most, from + stride);
      if (predicate(next)) return {low, next};
      low = next;
    }
    return {low, most + 1};
  }

  // The last at which the predicate is false; needs false at low, true at high.
  template <class Predicate>
  int64_t Bisect(int64_t low, int64_t high, const Predicate& predicate) {
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (predicate(middle) ? high : low) = middle;
    }
    return low;
  }

  // The largest that fits in spite of a smaller one that does not.
  int64_t AboveEdge(int64_t edge) {
    if (edge >= most_ || Impossible(edge + 1)) return edge;
    const auto impossible = [this](int64_t k) { return Impossible(k); };
    const auto [low, high] = Gallop(edge + 1, most_, impossible);
    const int64_t last = Bisect(low, high, impossible);
    for (int64_t k = std::min(last, edge + kAboveEdge); k > edge; --k) {
      if (Fits(k)) return k;
    }
    return edge;
  }

  Fit Result(int64_t edge) {
    Fit fit;
    fit.size = edge * multiple_;
    fit.bounded = edge < most_;
    for (auto& [k, probe] : tried_) fit.tried.push_back(std::move(probe));
    const FitProbe* at = fit.Find(fit.size);
    const FitProbe* below = nullptr;  // the tried one nearest to half the answer: far enough to average out rounding
    for (const FitProbe& p : fit.tried) {
      if (p.fits() && p.size <= std::max(multiple_, fit.size / 2)) below = &p;
    }
    if (at != nullptr && below != nullptr && below->size < at->size) {
      fit.per_unit = (at->outcome.allocated - below->outcome.allocated) / (at->size - below->size);
    }
    return fit;
  }

  const SizeOutcome& outcome_of_;
  const int64_t multiple_, most_;
  std::map<int64_t, FitProbe> tried_;
};

}  // namespace

const FitProbe* Fit::Find(int64_t wanted) const {
  for (const FitProbe& p : tried) {
    if (p.size == wanted) return &p;
  }
  return nullptr;
}

const FitProbe* Fit::Next() const {
  for (const FitProbe& p : tried) {
    if (p.size > size) return &p;
  }
  return nullptr;
}

absl::StatusOr<Fit> LargestThatFits(const SizeOutcome& outcome_of, const FitOptions& options) {
  return Search(outcome_of, options).Run();
}

absl::StatusOr<Fit> LargestThatFits(const std::string& model_path, const Job& job, const std::string& symbol, double headroom,
                                    const FitOptions& options) {
  PreparedModel model(model_path);
  const auto outcome_of = [&](int64_t size) -> absl::StatusOr<Outcome> {
    Job sized = job;
    sized.bind[symbol] = size;
    MEMCREST_ASSIGN_OR_RETURN(const std::shared_ptr<const NetworkFile> file, model.For(sized));
    MEMCREST_ASSIGN_OR_RETURN(const std::unique_ptr<BoundJob> bound, BindJob(*file, sized));
    return OutcomeOf(*file, *bound, sized, headroom);
  };
  return LargestThatFits(outcome_of, options);
}

}  // namespace memcrest
