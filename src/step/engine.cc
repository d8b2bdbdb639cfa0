#include "src/step/engine.h"

#include <algorithm>

#include "src/job/pattern.h"
#include "src/step/frozen_params.h"
#include "src/step/optimizer.h"

namespace memcrest {

void RegisterAllEngines(EngineRegistry& registry);  // generated from src/step/CMakeLists.txt

namespace {

bool TrainsIn(const Param& p, bool frozen, const Job& job) {
  if (p.buffer || p.format != StorageFormat::kPlain || !IsDifferentiable(p.stored)) return false;
  if (!job.freeze.empty() && MatchesAny(p.fqn, job.freeze, true)) return false;
  if (p.trains == Trains::kUnlessFrozen) return true;
  if (job.train.empty()) return p.trains == Trains::kByJob && !frozen;
  return MatchesAny(p.fqn, job.train, true);
}

}  // namespace

std::vector<ParamId> RegistrationOrder(const Network& net) {
  std::vector<ParamId> order;
  for (size_t i = 0; i < net.params.size(); ++i) order.push_back(static_cast<ParamId>(i));
  std::stable_sort(order.begin(), order.end(), [&](ParamId x, ParamId y) {
    const Param &a = net.params[static_cast<size_t>(x)], &b = net.params[static_cast<size_t>(y)];
    return a.buffer != b.buffer ? b.buffer : a.order < b.order;
  });
  return order;
}

std::vector<ParamId> TrainableParams(const Network& net, const Job& job) {
  const std::vector<bool> frozen = FrozenByConstructor(net);
  std::vector<ParamId> params;
  for (const ParamId id : RegistrationOrder(net)) {
    if (TrainsIn(net.params[static_cast<size_t>(id)], frozen[static_cast<size_t>(id)], job)) params.push_back(id);
  }
  return params;
}

Value ParallelEngine::MakeParameter(ParamId id, Leaf* leaf, DType type) {
  const Param& p = param(id);
  const Category category = p.buffer ? Category::kBuffers : Category::kParameters;
  const Value v = rt_.MakeLeaf(leaf, p.dims, type, category, leaf != nullptr);
  if (job_.memory_format == MemoryFormat::kChannelsLast && p.dims.size() == 4 && !p.buffer) {
    v.impl()->meta = MakeMeta(p.dims, ChannelsLastStrides(p.dims), type);
  }
  Name(v, p.fqn);
  return v;
}

std::vector<Leaf*> ParallelEngine::Optimized() {
  std::vector<Leaf*> all;
  for (const auto& leaf : c_.leaves) all.push_back(leaf.get());
  return all;
}

void ParallelEngine::Constructed(std::vector<OptimizedParam>& params) { optimized_ = &params; }
void ParallelEngine::BeginForward(bool) {}
void ParallelEngine::Enter(CallId, ValueTable&) {}
void ParallelEngine::Leave(CallId, ValueTable&) {}
Value ParallelEngine::EndForward(Value out) { return out; }
void ParallelEngine::BeforeNode(TapeNode&) {}
void ParallelEngine::FunctionBackward(int64_t) {}
void ParallelEngine::GradReady(Leaf&) {}
void ParallelEngine::EndBackward(bool) {}

void ParallelEngine::ZeroGrad() {
  for (const OptimizedParam& p : *optimized_) p.leaf->grad.reset();
}

Value ParallelEngine::Flat(int64_t elements, DType dtype, Category category, const std::string& name) {
  const int64_t sizes[] = {elements};
  const Value v = rt_.MakeResident(sizes, dtype, category);
  if (!name.empty()) Name(v, name);
  return v;
}

void ParallelEngine::Name(const Value& value, std::string name) { c_.names.emplace_back(value.storage()->id, std::move(name)); }

const EngineEntry* EngineRegistry::Find(absl::string_view name) const {
  for (const EngineEntry& e : entries_) {
    if (name == e.name) return &e;
  }
  return nullptr;
}

const EngineRegistry& Engines() {
  static const EngineRegistry* const registry = [] {
    auto* r = new EngineRegistry;
    RegisterAllEngines(*r);
    return r;
  }();
  return *registry;
}

std::unique_ptr<ParallelEngine> MakeEngine(const EngineContext& context) {
  const EngineEntry* entry = Engines().Find(NameOf(context.job.parallel.engine));
  return entry == nullptr ? std::make_unique<ParallelEngine>(context) : entry->make(context);
}

absl::Status CheckEngine(const Network& network, const Job& job) {
  const EngineEntry* entry = Engines().Find(NameOf(job.parallel.engine));
  return entry != nullptr && entry->check != nullptr ? entry->check(network, job) : absl::OkStatus();
}

std::vector<RankClass> RankClasses(const Network& network, const Job& job) {
  const EngineEntry* entry = Engines().Find(NameOf(job.parallel.engine));
  if (entry != nullptr && entry->signatures != nullptr) return ClassesOf(entry->signatures(network, job));
  RankClass all;
  for (int64_t rank = 0; rank < job.parallel.world(); ++rank) all.ranks.push_back(rank);
  return {all};
}

}  // namespace memcrest
