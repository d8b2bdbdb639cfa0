// Engines: what DDP, FSDP, ZeRO and DeepSpeed do around a training step, as hooks of the session.
//
// One file per engine in src/step/engines/, registered by the build's list. The base class is plain training on one device; an
// engine overrides what it does differently. Who calls what, in a script's order:
//   construction   MakeParameter (each parameter), Wrap (all exist), Optimized (what the optimizer is given), Constructed
//   micro-batch    BeginForward; Enter / Leave (each call the engine watches, outer first); EndForward;
//                  BeginBackward; BeforeNode (a tape node marked by the engine is about to run), FunctionBackward (an autograd
//                  function of the engine runs), GradReady (a leaf's gradient has arrived); EndBackward
//   step           Step (false: the session clips and steps the optimizer), AfterStep, ZeroGrad
// Sizes of shards, units and buckets are decided in src/shard; engines turn them into storages.
#ifndef MEMCREST_STEP_ENGINE_H_
#define MEMCREST_STEP_ENGINE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "src/eager/eager.h"
#include "src/job/job.h"
#include "src/shard/mesh.h"
#include "src/step/program.h"

namespace memcrest {

struct OptimizerStep;
struct OptimizedParam;

// Parameters that the job trains, in registration order.
std::vector<ParamId> TrainableParams(const Network& network, const Job& job);
// All parameters and buffers in the order in which a model's construction makes them.
std::vector<ParamId> RegistrationOrder(const Network& network);

struct EngineContext {
  Eager& rt;
  const Program& program;
  const Job& job;
  int64_t rank;
  std::vector<std::unique_ptr<Leaf>>& leaves;  // trainable parameters as autograd sees them, in registration order
  StorageNames& names;
  std::vector<Value>& resident;  // by TensorId: parameters, inputs and constants as the network's operators see them
};

// Where a forward pass stands: the values by TensorId, which an engine may replace.
using ValueTable = std::vector<Value>;

class ParallelEngine {
 public:
  explicit ParallelEngine(const EngineContext& context) : c_(context), rt_(context.rt), job_(context.job) {}
  virtual ~ParallelEngine() = default;
  ParallelEngine(const ParallelEngine&) = delete;
  ParallelEngine& operator=(const ParallelEngine&) = delete;

  // ---- construction
  // The parameter as the network's operators see it; `leaf` null: frozen.
  virtual Value MakeParameter(ParamId param, Leaf* leaf, DType type);
  virtual void Wrap() {}
  // What the optimizer is given, in order; by default all leaves.
  virtual std::vector<Leaf*> Optimized();
  // The optimizer exists: `params` are its entries, of Optimized(), in order.
  virtual void Constructed(std::vector<OptimizedParam>& params);

  // ---- a micro-batch; `last` of its step
  virtual void BeginForward(bool last);
  virtual std::vector<bool> WatchedCalls() const { return {}; }  // by CallId; asked once, after Wrap
  virtual void Enter(CallId call, ValueTable& table);
  virtual void Leave(CallId call, ValueTable& table);
  virtual Value EndForward(Value out);  // what the wrapped module returns
  virtual void BeginBackward() {}
  virtual void BeforeNode(TapeNode& node);
  virtual void FunctionBackward(int64_t tag);
  virtual void GradReady(Leaf& leaf);
  virtual void EndBackward(bool last);

  // ---- the step
  // Does what the engine's own step() does, calling `optimizer` for the parameters to update; false: left to the session.
  virtual bool Step() { return false; }
  virtual void AfterStep() {}
  virtual void ZeroGrad();

 protected:
  const Network& network() const { return *c_.program.network; }
  const Param& param(ParamId id) const { return network().params[static_cast<size_t>(id)]; }
  const Parallel& parallel() const { return job_.parallel; }
  // A flat buffer of the engine, named for the report.
  Value Flat(int64_t elements, DType dtype, Category category, const std::string& name = "");
  void Name(const Value& value, std::string name);

  EngineContext c_;
  Eager& rt_;
  const Job& job_;
  std::vector<OptimizedParam>* optimized_ = nullptr;
};

// What divides a category of memory and what does not, for the report.
struct Division {
  Category category;
  const char* by;  // "data ranks, in whole parameters"
};
inline constexpr Division kOwnBatch = {Category::kActivations, "nothing: each rank has its own batch"};

struct EngineEntry {
  const char* name = "";      // as in the job
  std::unique_ptr<ParallelEngine> (*make)(const EngineContext& context) = nullptr;
  // Figures differ between ranks whose signatures differ; by rank. Null: all ranks are equal.
  std::vector<std::vector<int64_t>> (*signatures)(const Network& network, const Job& job) = nullptr;
  // Problems of the job with this network (patterns that match nothing ...). Null: none.
  absl::Status (*check)(const Network& network, const Job& job) = nullptr;
  std::vector<Division> (*divisions)(const Job& job) = nullptr;
  const char* doc = "";
};

class EngineRegistry {
 public:
  void Add(const EngineEntry& entry) { entries_.push_back(entry); }
  const EngineEntry* Find(absl::string_view name) const;  // nullptr if unknown
  const std::vector<EngineEntry>& All() const { return entries_; }

 private:
  std::vector<EngineEntry> entries_;
};

const EngineRegistry& Engines();
std::unique_ptr<ParallelEngine> MakeEngine(const EngineContext& context);
// Problems of a job's engine with this network.
absl::Status CheckEngine(const Network& network, const Job& job);
// Ranks with the same figures together; the whole world is covered.
std::vector<RankClass> RankClasses(const Network& network, const Job& job);

// Allocations inside the scope are made on `stream`.
class OnStream {
 public:
  OnStream(Eager& rt, StreamId stream) : rt_(rt), before_(std::exchange(rt.recorder().stream, stream)) {}
  ~OnStream() { rt_.recorder().stream = before_; }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  Eager& rt_;
  StreamId before_;
};

// What is made inside the scope is made on the host, if `applies`.
class OnHost {
 public:
  OnHost(Eager& rt, bool applies) : rt_(rt), before_(rt.recorder().place) {
    if (applies) rt.recorder().place = Place::kHost;
  }
  ~OnHost() { rt_.recorder().place = before_; }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;

 private:
  Eager& rt_;
  Place before_;
};

}  // namespace memcrest

#endif  // MEMCREST_STEP_ENGINE_H_
