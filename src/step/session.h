// The training loop: builds what a script has before its first step, runs steps, and leaves a trace.
//
// Takes: Program, Job, the kernels' device.  Gives: Trace (events of all steps, marks), counts of parameters.
// The loop is the one of DESIGN.md 3: micro-batches of forward, loss, backward; clipping; optimizer; zero_grad. The steps are
// repeated `job.steps` times, so that lazily made state and values kept from the step before exist in the reported one.
#ifndef MEMCREST_STEP_SESSION_H_
#define MEMCREST_STEP_SESSION_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "src/eager/eager.h"
#include "src/job/job.h"
#include "src/step/engine.h"
#include "src/step/evaluation.h"
#include "src/step/forward.h"
#include "src/step/loss.h"
#include "src/step/optimizer.h"
#include "src/step/program.h"

namespace memcrest {

class Session {
 public:
  // All references must outlive the session. `region_calls`: CheckpointedCalls().
  Session(const Program& program, const Job& job, const KernelDevice& device, std::vector<bool> region_calls, int64_t rank = 0);
  ~Session();

  // The network in evaluation mode (Mode::kEvaluation): for a validation pass with sizes of its own, for a teacher.
  // Null: none.
  void SetPrograms(const Program* evaluation, const Program* teacher) {
    evaluation_program_ = evaluation;
    teacher_program_ = teacher;
  }

  void Run();
  Eager& rt() { return rt_; }
  int64_t parameter_count() const { return parameter_count_; }
  int64_t trainable_count() const { return trainable_count_; }
  Bytes parameter_bytes() const { return parameter_bytes_; }
  // What exists before the first step, by storage: (storage, "model.fc.weight"); ascending.
  const StorageNames& names() const { return names_; }

 private:
  void MakeParameters();
  void MakeInputs();
  void MakeOptimizer();
  void MakeLibraryState();
  void MakeEvaluations();
  void MakeLossContext();
  Values RunNetwork();
  Values Wrapped(Values outputs);
  void Step(int16_t step);
  void MicroBatch(int64_t micro, bool last);
  void ForwardAndLoss();
  void OptimizerPhase();
  void PlainStep();
  void Evaluate();
  void ClipGradients();
  void ZeroGrad();
  void StepOptimizer(const std::vector<OptimizedParam*>& params);
  void ObserveStep(const std::vector<OptimizedParam*>& params);
  void EnterPhase(Phase phase);

  static void OnGradReady(void* self, Leaf& leaf);
  static void OnReplay(void* self, GradCall& grad);
  static void OnRecompute(void* self, Region& region);
  static void OnBeforeNode(void* self, TapeNode& node);
  static void OnFunctionBackward(void* self, int64_t tag);

  const Program& program_;
  const Job& job_;
  Eager rt_;
  StorageNames names_;
  std::vector<std::unique_ptr<Leaf>> leaves_;   // trainable parameters, in registration order
  std::vector<Value> resident_;                 // by TensorId
  std::vector<Value> unseen_;                   // parameters and buffers that no node reads
  std::vector<Value> ema_;
  HiddenBlock dropout_state_;                   // cuDNN's, for recurrent layers with dropout
  std::vector<Value> scaler_;                   // GradScaler's device scalars
  Value labels_, loss_;
  Values outs_;                                 // what the script calls `out`
  LossContext loss_context_;
  const Program* evaluation_program_ = nullptr;
  const Program* teacher_program_ = nullptr;
  std::unique_ptr<Evaluation> evaluation_, teacher_;
  const OptimizerEntry* optimizer_ = nullptr;
  OptimizerOptions options_;
  std::vector<OptimizedParam> optimized_;
  std::unique_ptr<ParallelEngine> engine_;
  std::vector<Value> shared_;                   // optimizer state of no single parameter
  Forward forward_;
  int64_t parameter_count_ = 0, trainable_count_ = 0;
  Bytes parameter_bytes_ = 0;
};

}  // namespace memcrest

#endif  // MEMCREST_STEP_SESSION_H_
