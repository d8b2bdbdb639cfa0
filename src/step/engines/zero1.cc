// ZeroRedundancyOptimizer over DDP: parameters, gradients and buckets whole, optimizer state of the rank's own parameters only
// (torch/distributed/optim/zero_redundancy_optimizer.py). Whole parameters are dealt out by size, so ranks differ.
// parameters_as_bucket_view: parameters become views of one flat tensor per rank and type.
#include <map>

#include "absl/strings/str_cat.h"
#include "src/shard/partition.h"
#include "src/step/engines/ddp.h"

namespace memcrest {
namespace {

class Zero1 final : public Ddp {
 public:
  using Ddp::Ddp;

  std::vector<Leaf*> Optimized() override {
    std::vector<int64_t> elements;
    for (const auto& leaf : c_.leaves) elements.push_back(leaf->value.elements());
    rank_of_ = GreedyPartition(elements, parallel().data);
    if (parallel().parameters_as_bucket_view) MoveIntoBuckets();
    std::vector<Leaf*> own;
    for (size_t i = 0; i < c_.leaves.size(); ++i) {
      if (rank_of_[i] == c_.rank % parallel().data) own.push_back(c_.leaves[i].get());
    }
    return own;
  }

  void ZeroGrad() override {
    for (const auto& leaf : c_.leaves) leaf->grad.reset();
  }

 private:
  void MoveIntoBuckets() {
    std::map<std::pair<DType, int64_t>, int64_t> sizes;
    for (size_t i = 0; i < c_.leaves.size(); ++i) {
      sizes[{c_.leaves[i]->value.dtype(), rank_of_[i]}] += c_.leaves[i]->value.elements();
    }
    for (const auto& [key, elements] : sizes) {
      const Value flat = Flat(elements, key.first, Category::kParameters, absl::StrCat("parameters updated by rank ", key.second));
      for (size_t i = 0; i < c_.leaves.size(); ++i) {
        Value& v = c_.leaves[i]->value;
        if (v.dtype() == key.first && rank_of_[i] == key.second) v.impl()->storage = flat.impl()->storage;
      }
    }
  }

  std::vector<int64_t> rank_of_;
};

// Ranks that hold parameters of the same sizes have the same figures.
std::vector<std::vector<int64_t>> Signatures(const Network& network, const Job& job) {
  std::vector<int64_t> elements;
  for (const ParamId p : TrainableParams(network, job)) elements.push_back(NumElements(network.params[static_cast<size_t>(p)].dims));
  const std::vector<int64_t> rank_of = GreedyPartition(elements, job.parallel.data);
  std::vector<std::vector<int64_t>> signatures(static_cast<size_t>(job.parallel.data));
  for (size_t i = 0; i < elements.size(); ++i) signatures[static_cast<size_t>(rank_of[i])].push_back(elements[i]);
  return signatures;
}

std::vector<Division> Divisions(const Job&) {
  return {{Category::kParameters, "nothing: every rank holds the whole model"},
          {Category::kGradients, "nothing: whole on every rank"},
          {Category::kOptimizerState, "data ranks, in whole parameters: uneven where one is large"},
          {Category::kCommunication, "nothing: buckets hold every gradient once more"},
          kOwnBatch};
}

std::unique_ptr<ParallelEngine> Make(const EngineContext& context) { return std::make_unique<Zero1>(context); }

}  // namespace

void RegisterZero1(EngineRegistry& registry) {
  EngineEntry e;
  e.name = "zero1";
  e.make = Make;
  e.signatures = Signatures;
  e.divisions = Divisions;
  e.doc = "ZeroRedundancyOptimizer over DDP: optimizer state of the rank's own parameters";
  registry.Add(e);
}

}  // namespace memcrest
