#include "src/plan/checkpoint_plan.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "src/plan/remedies.h"
#include "src/plan/search.h"
#include "src/step/regions.h"

namespace memcrest {
namespace {

constexpr size_t kCompleteSearch = 4096;  // choices: so many are all looked at
constexpr int kRefinements = 6;
constexpr double kCloseEnough = 0.004;    // of the budget left unused

// Least recomputation first; equal ones by memory.
bool Cheaper(const PlanResult& a, const PlanResult& b) {
  if (a.seconds.recompute != b.seconds.recompute) return a.seconds.recompute < b.seconds.recompute;
  return a.reserved < b.reserved;
}

class Planner {
 public:
  Planner(const PlanEvaluator& evaluator, const PlanOptions& options)
      : evaluator_(evaluator), net_(evaluator.network()), options_(options), start_(std::chrono::steady_clock::now()),
        set_(FindCandidates(evaluator)) {}

  PlanReport Run() {
    PlanReport report;
    report.budget = options_.budget;
    report.none = Simulated(Choice(set_.items.size()), "none");
    base_seconds_ = report.none.result.seconds.step;
    overhead_ = report.none.result.reserved - PeakOf(set_, Choice(set_.items.size()));
    Heuristics();
    Curve(report.none.result.reserved);
    if (options_.budget < std::numeric_limits<Bytes>::max()) Meet(options_.budget);
    Policies();
    Answer(report);
    return report;
  }

 private:
  bool OutOfTime() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    if (spent.count() > options_.seconds) complete_ = false;
    return !complete_;
  }

  // Simulates a choice once and remembers it.
  const Plan& Simulated(const Choice& choice, const std::string& name = "", const SavePolicy& policy = {}) {
    const std::string policy_key = absl::StrCat(policy.save.size(), ":", policy.every.size());
    const auto key = std::make_pair(choice, policy_key);
    if (const auto known = known_.find(key); known != known_.end()) {
      if (known->second.name.empty()) known->second.name = name;
      return known->second;
    }
    Plan plan;
    plan.name = name;
    plan.policy = policy;
    for (size_t i = 0; i < choice.size(); ++i) {
      if (choice[i]) plan.modules.push_back(set_.items[i].path);
    }
    plan.result = evaluator_.Full(RegionsOf(net_, set_, choice), policy);
    plan.slowdown = base_seconds_ > 0 ? plan.result.seconds.step / base_seconds_ - 1 : 0;
    return known_.emplace(key, std::move(plan)).first->second;
  }

  // What people try by hand: every plan must beat these.
  void Heuristics() {
    std::vector<size_t> blocks;
    for (const ModuleId m : RepeatedBlocks(net_)) {
      for (size_t i = 0; i < set_.items.size(); ++i) {
        if (set_.items[i].module == m) blocks.push_back(i);
      }
    }
    if (blocks.empty()) return;
    const size_t root = static_cast<size_t>(std::max(2.0, std::round(std::sqrt(static_cast<double>(blocks.size())))));
    for (const auto& [name, step] : {std::pair<const char*, size_t>{"all blocks", 1}, {"every second block", 2}, {"sqrt-n", root}}) {
      Choice choice(set_.items.size());
      for (size_t b = 0; b < blocks.size(); ++b) choice[blocks[b]] = b % step == 0;
      if (step == root && root > 2) choice.flip(), KeepBlocks(blocks, choice);
      Simulated(choice, name);
    }
    all_blocks_ = Choice(set_.items.size());
    for (const size_t b : blocks) all_blocks_[b] = true;
  }

  void KeepBlocks(const std::vector<size_t>& blocks, Choice& choice) const {
    for (size_t i = 0; i < choice.size(); ++i) {
      choice[i] = choice[i] && std::find(blocks.begin(), blocks.end(), i) != blocks.end();
    }
  }

  // Plans from no checkpointing down to the floor.
  void Curve(Bytes none) {
    Bytes low = none;
    for (const auto& [key, plan] : known_) low = std::min(low, plan.result.reserved);
    // The floor: the model's lowest peak by bisection, simulated.
    Bytes reach = 0, fail = 0;
    reach = PeakOf(set_, Choice(set_.items.size()));
    for (int i = 0; i < 12 && !OutOfTime(); ++i) {
      const Bytes middle = fail + (reach - fail) / 2;
      const Choice choice = Cheapest(set_, middle);
      const Bytes peak = PeakOf(set_, choice);
      if (peak <= middle) {
        reach = peak;
      } else {
        fail = middle;
        reach = std::min(reach, peak);
      }
      if (reach - fail < none / 500) break;
    }
    low = std::min(low, Simulated(Cheapest(set_, reach)).result.reserved);
    for (int i = 1; i <= options_.curve_points && !OutOfTime(); ++i) {
      const Bytes budget = none - (none - low) * i / (options_.curve_points + 1);
      Simulated(Cheapest(set_, budget - overhead_));
    }
  }

  // The cheapest plan whose simulated peak is within the budget.
  void Meet(Bytes budget) {
    if (const std::vector<Choice> all = AllChoices(set_, kCompleteSearch); !all.empty()) return Complete(all, budget);
    Bytes model = budget - overhead_;
    for (int i = 0; i < kRefinements && !OutOfTime(); ++i) {
      const Choice choice = Cheapest(set_, model);
      const Bytes reserved = Simulated(choice).result.reserved;
      const Bytes over = reserved - budget;
      if (over <= 0 && -over < static_cast<Bytes>(static_cast<double>(budget) * kCloseEnough)) break;
      model -= over > 0 ? over + (1 << 20) : over * 3 / 4;
    }
    Tighten(budget);
  }

  // Few choices: in order of their cost, the first that fits is the best.
  void Complete(const std::vector<Choice>& all, Bytes budget) {
    double fits_at = std::numeric_limits<double>::infinity();
    for (const Choice& choice : all) {
      // Costs are the model's; the step's own seconds decide between neighbours.
      if (CostOf(set_, choice) > fits_at * 1.02 + 1e-9 || OutOfTime()) return;
      // Nothing is reserved that is not live, and the model is not off by that much; fragmentation differs from plan to plan.
      if (PeakOf(set_, choice) > budget + budget / 50) continue;
      if (Simulated(choice).result.reserved <= budget) fits_at = std::min(fits_at, CostOf(set_, choice));
    }
  }

  // Leaves out of the best plan what the simulation, not the model, says is not needed.
  void Tighten(Bytes budget) {
    const std::pair<const Key, Plan>* best = Best(budget);
    if (best == nullptr) return;
    Choice choice = best->first.first;
    std::vector<size_t> order;
    for (size_t i = 0; i < choice.size(); ++i) {
      if (choice[i]) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return set_.items[a].cost > set_.items[b].cost; });
    int failures = 0;
    for (const size_t i : order) {
      if (OutOfTime() || failures == 4) return;
      choice[i] = false;
      if (Simulated(choice).result.reserved <= budget) continue;
      choice[i] = true;
      ++failures;
    }
  }

  // Regions that keep the results of chosen operators (torchtitan's selective checkpointing).
  void Policies() {
    if (all_blocks_.empty() || OutOfTime()) return;
    const std::vector<std::string> attention = {
        "aten._scaled_dot_product_flash_attention", "aten._scaled_dot_product_efficient_attention",
        "aten._scaled_dot_product_cudnn_attention"};
    SavePolicy products{attention, {}};
    for (const char* op : {"aten.mm", "aten.addmm", "aten.bmm", "aten.convolution"}) products.save.push_back(op);
    SavePolicy half = products;
    half.every = {{"aten.mm", 2}, {"aten.addmm", 2}};
    Simulated(all_blocks_, "all blocks, keeping attention", {attention, {}});
    Simulated(all_blocks_, "all blocks, keeping attention and every second product", half);
    Simulated(all_blocks_, "all blocks, keeping attention and products", products);
  }

  using Key = std::pair<Choice, std::string>;
  const std::pair<const Key, Plan>* Best(Bytes budget) const {
    const std::pair<const Key, Plan>* best = nullptr;
    for (const auto& known : known_) {
      const PlanResult& e = known.second.result;
      if (e.reserved > budget) continue;
      if (best == nullptr || Cheaper(e, best->second.result)) best = &known;
    }
    return best;
  }

  void Answer(PlanReport& report) {
    std::vector<const Plan*> plans;
    for (const auto& [key, plan] : known_) plans.push_back(&plan);
    std::stable_sort(plans.begin(), plans.end(), [](const Plan* a, const Plan* b) {
      return Cheaper(a->result, b->result);
    });
    for (const Plan* p : plans) {
      if (report.curve.empty() || p->result.reserved < report.curve.back().result.reserved) report.curve.push_back(*p);
    }
    report.floor = report.curve.back();
    report.plan = report.floor;
    for (const Plan& p : report.curve) {
      if (p.result.reserved > options_.budget || p.slowdown > options_.max_slowdown + 1e-9) continue;
      report.plan = p;
      report.fits = true;
      break;
    }
    report.complete = complete_;
    const PlanResult& e = report.floor.result;
    report.floor_reason = absl::StrCat(e.phase, e.module.empty() ? "" : absl::StrCat(" of ", e.module), " (", e.op, ")");
  }

  const PlanEvaluator& evaluator_;
  const Network& net_;
  const PlanOptions options_;
  const std::chrono::steady_clock::time_point start_;
  const CandidateSet set_;
  std::map<Key, Plan> known_;
  Choice all_blocks_;
  double base_seconds_ = 0;
  Bytes overhead_ = 0;  // reserved less the model's peak: rounding, fragmentation
  bool complete_ = true;
};

bool RecomputesBatchNorm(const Network& net, const Plan& plan) {
  return std::any_of(net.nodes.begin(), net.nodes.end(), [&](const Node& n) {
    if (absl::string_view(n.op->name) != "batch_norm") return false;
    const std::string& path = ModulePath(net, n.call);
    return std::any_of(plan.modules.begin(), plan.modules.end(), [&](const std::string& m) {
      return path == m || (path.size() > m.size() && path.compare(0, m.size(), m) == 0 && path[m.size()] == '.');
    });
  });
}

}  // namespace

absl::StatusOr<PlanReport> FindPlan(const NetworkFile& file, const Job& job, const PlanOptions& options) {
  MEMCREST_ASSIGN_OR_RETURN(const std::unique_ptr<BoundJob> bound, BindJob(file, job));
  const PlanEvaluator evaluator(file, *bound, job);
  PlanReport report = Planner(evaluator, options).Run();
  report.batch_norms = RecomputesBatchNorm(file.network, report.plan);
  if (!report.fits) {
    MEMCREST_ASSIGN_OR_RETURN(report.remedies, FindRemedies(file, job, report.floor));
  }
  return report;
}

}  // namespace memcrest
