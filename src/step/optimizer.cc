#include "src/step/optimizer.h"

#include <algorithm>
#include <cstring>

namespace memcrest {

void RegisterAllOptimizers(OptimizerRegistry& registry);  // generated from src/step/CMakeLists.txt

Value OptimizerStep::StateOf(DimSpan sizes, DType dtype) {
  return rt.MakeResident(sizes, dtype, Category::kOptimizerState);
}

Value OptimizerStep::State(const OptimizedParam& p, DType dtype) {
  Value v = rt.EmptyLike(p.leaf->value, dtype);
  rt.Retag(v, Category::kOptimizerState);
  return v;
}

Value OptimizerStep::Like(const OptimizedParam& p, const char* kernel) {
  rt.recorder().op = kernel;
  return rt.EmptyLike(p.leaf->value);
}

std::vector<Value> OptimizerStep::ListLikeParams(const char* kernel) {
  std::vector<Value> list;
  list.reserve(params.size());
  for (const OptimizedParam* p : params) list.push_back(Like(*p, kernel));
  return list;
}

std::vector<std::vector<OptimizedParam*>> OptimizerStep::ByDType() const {
  std::vector<std::vector<OptimizedParam*>> groups;
  for (OptimizedParam* p : params) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      return g[0]->leaf->value.dtype() == p->leaf->value.dtype();
    });
    if (same == groups.end()) {
      groups.push_back({p});
    } else {
      same->push_back(p);
    }
  }
  return groups;
}

void OptimizerRegistry::Add(const OptimizerEntry& entry) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), entry, [](const OptimizerEntry& a, const OptimizerEntry& b) {
    return std::strcmp(a.name, b.name) < 0;
  });
  entries_.insert(at, entry);
}

const OptimizerEntry* OptimizerRegistry::Find(absl::string_view name) const {
  for (const OptimizerEntry& e : entries_) {
    if (name == e.name) return &e;
  }
  return nullptr;
}

const OptimizerRegistry& Optimizers() {
  static const OptimizerRegistry* const registry = [] {
    auto* r = new OptimizerRegistry;
    RegisterAllOptimizers(*r);
    return r;
  }();
  return *registry;
}

}  // namespace memcrest
