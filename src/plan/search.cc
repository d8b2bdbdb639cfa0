#include "src/plan/search.h"

#include <algorithm>
#include <numeric>

namespace memcrest {
namespace {

constexpr double kSlack = 1e-12;  // seconds: differences below are rounding

// A choice with its peaks by segment, changed one candidate at a time.
class State {
 public:
  State(const CandidateSet& set, Bytes budget)
      : set_(&set), budget_(budget), peaks_(set.base), choice_(set.items.size()), children_(set.items.size()) {
    for (size_t i = 0; i < set.items.size(); ++i) {
      if (set.items[i].parent != kNone) children_[static_cast<size_t>(set.items[i].parent)].push_back(i);
    }
  }

  const Choice& choice() const { return choice_; }
  double cost() const { return cost_; }
  bool Has(size_t i) const { return choice_[i]; }

  void Toggle(size_t i) {
    const Candidate& c = set_->items[i];
    const Bytes sign = choice_[i] ? -1 : 1;
    for (size_t s = 0; s < peaks_.size(); ++s) peaks_[s] += sign * c.change[s];
    cost_ += static_cast<double>(sign) * c.cost;
    choice_[i] = !choice_[i];
  }

  // Adds a candidate in place of those inside it.
  void Take(size_t i) {
    for (const size_t d : ChosenInside(i)) Toggle(d);
    Toggle(i);
  }

  bool InsideChosen(size_t i) const {
    for (int p = set_->items[i].parent; p != kNone; p = set_->items[static_cast<size_t>(p)].parent) {
      if (choice_[static_cast<size_t>(p)]) return true;
    }
    return false;
  }

  std::vector<size_t> ChosenInside(size_t i) const {
    std::vector<size_t> found, stack(children_[i]);
    while (!stack.empty()) {
      const size_t c = stack.back();
      stack.pop_back();
      if (choice_[c]) {
        found.push_back(c);
      } else {
        stack.insert(stack.end(), children_[c].begin(), children_[c].end());
      }
    }
    return found;
  }

  // Bytes above the budget, summed over segments: falls with every step in the right direction.
  double Excess() const {
    double sum = 0;
    for (const Bytes p : peaks_) sum += p > budget_ ? static_cast<double>(p - budget_) : 0;
    return sum;
  }
  double ExcessWith(size_t i, const std::vector<size_t>& without) const {
    double sum = 0;
    for (size_t s = 0; s < peaks_.size(); ++s) {
      Bytes p = peaks_[s] + set_->items[i].change[s];
      for (const size_t w : without) p -= set_->items[w].change[s];
      sum += p > budget_ ? static_cast<double>(p - budget_) : 0;
    }
    return sum;
  }
  bool Fits() const {
    return std::all_of(peaks_.begin(), peaks_.end(), [&](Bytes p) { return p <= budget_; });
  }

 private:
  const CandidateSet* set_;
  Bytes budget_;
  std::vector<Bytes> peaks_;
  Choice choice_;
  double cost_ = 0;
  std::vector<std::vector<size_t>> children_;
};

// Adds what lowers the excess most for its cost, until it fits, nothing helps or the cost limit is reached.
void Fill(const CandidateSet& set, State& state, double cost_limit, size_t banned) {
  double excess = state.Excess();
  while (excess > 0) {
    size_t best = set.items.size();
    double best_ratio = 0, best_excess = excess;
    for (size_t i = 0; i < set.items.size(); ++i) {
      if (i == banned || state.Has(i) || state.InsideChosen(i)) continue;
      const std::vector<size_t> inside = state.ChosenInside(i);
      double cost = set.items[i].cost;
      for (const size_t d : inside) cost -= set.items[d].cost;
      if (state.cost() + cost >= cost_limit) continue;
      const double after = state.ExcessWith(i, inside), gain = excess - after;
      if (gain <= 0) continue;
      const double ratio = gain / std::max(cost, 1e-9);
      if (ratio > best_ratio) best = i, best_ratio = ratio, best_excess = after;
    }
    if (best == set.items.size()) return;
    state.Take(best);
    excess = best_excess;
  }
}

// Leaves out what is not needed, dearest first.
void Prune(const CandidateSet& set, State& state) {
  std::vector<size_t> order;
  for (size_t i = 0; i < set.items.size(); ++i) {
    if (state.Has(i)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return set.items[a].cost > set.items[b].cost; });
  for (const size_t i : order) {
    state.Toggle(i);
    if (!state.Fits()) state.Toggle(i);
  }
}

// Exchanges one chosen candidate for cheaper ones as long as that helps.
void Exchange(const CandidateSet& set, State& state) {
  for (int round = 0; round < 3; ++round) {
    bool better = false;
    for (size_t i = 0; i < set.items.size(); ++i) {
      if (!state.Has(i)) continue;
      State trial = state;
      trial.Toggle(i);
      Fill(set, trial, state.cost() - kSlack, i);
      if (!trial.Fits()) continue;
      Prune(set, trial);
      if (trial.cost() >= state.cost() - kSlack) continue;
      state = trial;
      better = true;
    }
    if (!better) return;
  }
}

// All antichains of the forest below `roots`, as lists of candidates.
bool Antichains(const CandidateSet& set, size_t next, Choice& choice, std::vector<Choice>& all, size_t limit) {
  if (next == set.items.size()) {
    if (all.size() >= limit) return false;
    all.push_back(choice);
    return true;
  }
  if (!Antichains(set, next + 1, choice, all, limit)) return false;
  for (int p = set.items[next].parent; p != kNone; p = set.items[static_cast<size_t>(p)].parent) {
    if (choice[static_cast<size_t>(p)]) return true;  // parents come first: already inside a chosen one
  }
  choice[next] = true;
  const bool more = Antichains(set, next + 1, choice, all, limit);
  choice[next] = false;
  return more;
}

}  // namespace

double CostOf(const CandidateSet& set, const Choice& choice) {
  double cost = 0;
  for (size_t i = 0; i < choice.size(); ++i) cost += choice[i] ? set.items[i].cost : 0;
  return cost;
}

Bytes PeakOf(const CandidateSet& set, const Choice& choice) {
  std::vector<Bytes> peaks = set.base;
  for (size_t i = 0; i < choice.size(); ++i) {
    if (!choice[i]) continue;
    for (size_t s = 0; s < peaks.size(); ++s) peaks[s] += set.items[i].change[s];
  }
  return *std::max_element(peaks.begin(), peaks.end());
}

std::vector<Choice> AllChoices(const CandidateSet& set, size_t limit) {
  std::vector<Choice> all;
  Choice choice(set.items.size());
  if (set.items.size() > 24 || !Antichains(set, 0, choice, all, limit)) return {};
  std::vector<double> cost(all.size());
  for (size_t i = 0; i < all.size(); ++i) cost[i] = CostOf(set, all[i]);
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost[a] < cost[b]; });
  std::vector<Choice> sorted;
  sorted.reserve(all.size());
  for (const size_t i : order) sorted.push_back(std::move(all[i]));
  return sorted;
}

Choice Cheapest(const CandidateSet& set, Bytes budget) {
  State state(set, budget);
  Fill(set, state, 1e30, set.items.size());
  if (!state.Fits()) return state.choice();
  Prune(set, state);
  Exchange(set, state);
  return state.choice();
}

}  // namespace memcrest
