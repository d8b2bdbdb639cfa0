// One parametrised test over all optimizers, and the state and temporaries of the usual ones in copies of the parameters P.
#include "src/step/optimizer.h"

#include <memory>

#include <gtest/gtest.h>

namespace memcrest {
namespace {

constexpr Bytes kParam = 1 << 20;  // each of two parameters: 512 x 512 float32

struct Measured {
  Bytes state = 0, temporary = 0;
};

// Two steps with gradients present; the second is measured.
Measured Measure(const OptimizerEntry& entry, OptimizerImpl impl, OptimizerOptions options) {
  Eager rt(KernelDevice(), Ops());
  std::vector<std::unique_ptr<Leaf>> leaves;
  std::vector<OptimizedParam> params(2);
  std::vector<OptimizedParam*> all;
  const Dims sizes = {512, 512};
  for (OptimizedParam& p : params) {
    leaves.push_back(std::make_unique<Leaf>());
    p.leaf = leaves.back().get();
    p.leaf->value = rt.MakeLeaf(p.leaf, sizes, DType::kFloat32, Category::kParameters, true);
    p.leaf->grad = rt.MakeResident(sizes, DType::kFloat32, Category::kGradients);
    all.push_back(&p);
  }
  const Bytes before = rt.recorder().live();
  rt.recorder().phase = Phase::kOptimizer;
  OptimizerStep step{rt, impl, options, all};
  if (entry.construct != nullptr) entry.construct(step);
  entry.step(step);
  const Bytes after = rt.recorder().live();
  rt.recorder().ResetPeaks();
  rt.recorder().Touch();
  entry.step(step);
  return {after - before, rt.recorder().peak(Phase::kOptimizer) - after};
}

TEST(Optimizers, EachReachesASteadyStateAfterOneStep) {
  for (const OptimizerEntry& e : Optimizers().All()) {
    const Measured m = Measure(e, OptimizerImpl::kForeach, e.defaults);
    EXPECT_GE(m.state, 0) << e.name;
    EXPECT_GE(m.temporary, 0) << e.name;
    EXPECT_STRNE(e.state_doc, "") << e.name;
  }
}

struct Row {
  const char* name;
  OptimizerImpl impl;
  double state, temporary;  // in P = two parameters
  const char* why;
};

class Bytes_ : public testing::TestWithParam<Row> {};

TEST_P(Bytes_, InCopiesOfTheParameters) {
  const OptimizerEntry* e = Optimizers().Find(GetParam().name);
  ASSERT_NE(e, nullptr);
  const Measured m = Measure(*e, GetParam().impl, e->defaults);
  EXPECT_NEAR(static_cast<double>(m.state) / (2 * kParam), GetParam().state, 0.01) << GetParam().why;
  EXPECT_NEAR(static_cast<double>(m.temporary) / (2 * kParam), GetParam().temporary, 0.01) << GetParam().why;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Bytes_,
    testing::Values(Row{"adamw", OptimizerImpl::kForeach, 2, 1, "two moments; the list of square roots"},
                    Row{"adamw", OptimizerImpl::kFused, 2, 0, "in one kernel; step counters of 512 bytes"},
                    Row{"adamw", OptimizerImpl::kForLoop, 2, 1.5, "root and denominator of one, denominator of the one before"},
                    Row{"sgd", OptimizerImpl::kForeach, 0, 0, "in place"},
                    Row{"sgd-momentum", OptimizerImpl::kForeach, 1, 0, "one buffer, in place"},
                    Row{"rmsprop", OptimizerImpl::kForeach, 1, 1, "square_avg; the list of square roots"},
                    Row{"adagrad", OptimizerImpl::kForeach, 1, 2, "sum; roots and numerators"},
                    Row{"rprop", OptimizerImpl::kForeach, 2, 1.625, "prev and step sizes; signs, one mask, one masked gradient"},
                    Row{"adafactor-transformers", OptimizerImpl::kForLoop, 0, 1.5,
                        "vectors; square and sum of one matrix while the update of the one before lives"},
                    Row{"bnb-adamw8bit", OptimizerImpl::kForLoop, 0.5 + 2.0 / 256, 0, "two bytes, two absmax for 256"},
                    Row{"bnb-adamw32bit", OptimizerImpl::kForLoop, 2, 0, "two float32 moments"},
                    Row{"bnb-lion8bit", OptimizerImpl::kForLoop, 0.25 + 1.0 / 256, 0, "one byte, one absmax for 256"},
                    Row{"bnb-paged-adamw8bit", OptimizerImpl::kForLoop, 2.0 / 256, 0, "moments in managed memory"},
                    Row{"lion", OptimizerImpl::kForLoop, 1, 1, "clone and sum of one of two parameters"},
                    Row{"adamw-schedulefree", OptimizerImpl::kForeach, 2, 1, "z and v; the list of square roots"},
                    Row{"adamw-master", OptimizerImpl::kForeach, 2, 1, "float32 parameters are their own masters"},
                    Row{"galore-adamw", OptimizerImpl::kForLoop, 0.75, 0.875, "projection and two moments of rank 128"}));

}  // namespace
}  // namespace memcrest
