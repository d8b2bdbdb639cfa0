#include "src/step/session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/ops/reduce_scratch.h"
#include "src/step/heads.h"
#include "src/step/loss.h"
#include "src/step/regions.h"

namespace memcrest {
namespace {

OptimizerOptions Merge(OptimizerOptions o, const Options& given) {
  o.momentum = AsDouble(Get(given, "momentum"), o.momentum);
  o.weight_decay = AsDouble(Get(given, "weight_decay"), o.weight_decay);
  o.nesterov = AsBool(Get(given, "nesterov"), o.nesterov);
  o.amsgrad = AsBool(Get(given, "amsgrad"), o.amsgrad);
  o.maximize = AsBool(Get(given, "maximize"), o.maximize);
  o.centered = AsBool(Get(given, "centered"), o.centered);
  o.capturable = AsBool(Get(given, "capturable"), o.capturable);
  o.first_moment = AsDouble(Get(given, "beta1"), 0) != 0;
  o.rank = std::max<int64_t>(1, static_cast<int64_t>(AsDouble(Get(given, "rank"), static_cast<double>(o.rank))));
  return o;
}

// Paths of the repeated blocks; they refer to the network.
absl::flat_hash_set<absl::string_view> BlockPaths(const Network& net) {
  absl::flat_hash_set<absl::string_view> paths;
  for (const ModuleId m : RepeatedBlocks(net)) paths.insert(net.modules[static_cast<size_t>(m)].path);
  return paths;
}

// Does the parameter belong to one of the blocks?
bool InBlock(absl::string_view fqn, const absl::flat_hash_set<absl::string_view>& blocks) {
  for (size_t dot = fqn.find('.'); dot != absl::string_view::npos; dot = fqn.find('.', dot + 1)) {
    if (blocks.contains(fqn.substr(0, dot))) return true;
  }
  return false;
}

}  // namespace

Session::Session(const Program& program, const Job& job, const KernelDevice& device, std::vector<bool> region_calls,
                 int64_t rank)
    : program_(program), job_(job), rt_(device, Ops()), resident_(program.network->tensors.size()),
      engine_(MakeEngine({rt_, program, job, rank, leaves_, names_, resident_})),
      forward_(rt_, program, job, std::move(region_calls), resident_, engine_.get()) {
  rt_.reduction_scratch = &SumScratch;
  rt_.hook_owner = this;
  rt_.grad_ready = &Session::OnGradReady;
  rt_.recompute = &Session::OnRecompute;
  rt_.replay = &Session::OnReplay;
  rt_.before_node = &Session::OnBeforeNode;
  rt_.function_backward = &Session::OnFunctionBackward;
  rt_.default_float = ModelType(job);
}

Session::~Session() = default;

void Session::MakeParameters() {
  const Network& net = *program_.network;
  std::vector<Value> values(net.params.size());
  std::vector<bool> trains(net.params.size());
  for (const ParamId id : TrainableParams(net, job_)) trains[static_cast<size_t>(id)] = true;
  for (const ParamId id : RegistrationOrder(net)) {
    const size_t i = static_cast<size_t>(id);
    const Param& p = net.params[i];
    const DType type = p.own_type ? p.stored : StoredType(p.stored, job_.precision);
    Leaf* leaf = nullptr;
    if (trains[i]) {
      leaves_.push_back(std::make_unique<Leaf>());
      leaf = leaves_.back().get();
      leaf->param = id;
      trainable_count_ += NumElements(p.dims);
    }
    values[i] = engine_->MakeParameter(id, leaf, type);
    if (leaf != nullptr) leaf->value = values[i];
    if (p.buffer) continue;
    if (p.format != StorageFormat::kQuantState) parameter_count_ += NumElements(p.dims);
    parameter_bytes_ += RoundUp((NumElements(p.dims) * BitsOf(type) + 7) / 8, kGranule);
  }
  for (size_t t = 0; t < net.tensors.size(); ++t) {
    if (net.tensors[t].role == Role::kParam) resident_[t] = values[static_cast<size_t>(net.tensors[t].param)];
  }
  unseen_ = std::move(values);
}

void Session::MakeInputs() {
  const Network& net = *program_.network;
  DType float_input = DType::kUndefined;
  for (size_t t = 0; t < net.tensors.size(); ++t) {
    const Role role = net.tensors[t].role;
    if (role != Role::kInput && role != Role::kConstant) continue;
    const DType type = StoredType(program_.dtypes[t], job_.precision);
    if (role == Role::kInput && IsFloating(type) && float_input == DType::kUndefined) float_input = type;
    resident_[t] = rt_.MakeResident(program_.sizes[t], type, role == Role::kInput ? Category::kInputs : Category::kBuffers);
    names_.emplace_back(resident_[t].storage()->id, net.tensors[t].name);
    if (job_.memory_format == MemoryFormat::kChannelsLast && role == Role::kInput && program_.sizes[t].size() == 4) {
      resident_[t].impl()->meta = MakeMeta(program_.sizes[t], ChannelsLastStrides(program_.sizes[t]), type);
    }
  }
  if (net.outputs.empty()) return;
  const size_t out = static_cast<size_t>(net.outputs[0]);
  const MetaRef meta = MakeMeta(program_.sizes[out], ContiguousStrides(program_.sizes[out]), DType::kFloat32);
  labels_ = MakeLabels(rt_, job_, *meta, float_input);
  if (labels_) names_.emplace_back(labels_.storage()->id, "labels");
}

void Session::StepOptimizer(const std::vector<OptimizedParam*>& params) {
  // In backward every parameter has an optimizer of its own.
  OptimizerStep step{rt_, job_.optimizer_impl, options_, params, job_.optimizer_in_backward ? nullptr : &shared_};
  optimizer_->step(step);
  if (rt_.observer != nullptr) ObserveStep(params);
}

// What the optimizer's kernels move. Fused: everything once. Otherwise a kernel for each line of the update: about five accesses
// of each state, and of a temporary where there is a second moment (torch/optim/adam.py, sgd.py).
void Session::ObserveStep(const std::vector<OptimizedParam*>& params) {
  Bytes weights = 0, states = 0;
  size_t per_param = 0;
  for (const OptimizedParam* p : params) {
    weights += p->leaf->value.bytes();
    for (const Value& v : p->state) states += v.bytes();
    per_param = std::max(per_param, p->state.size());
  }
  const bool fused = job_.optimizer_impl == OptimizerImpl::kFused;
  const Bytes moved = fused ? 3 * weights + 2 * states : 4 * weights + 5 * states + (per_param > 1 ? 3 * states : 0);
  // Lists of tensors are cut into launches of some tens of tensors; a loop launches for each parameter.
  const int64_t count = static_cast<int64_t>(params.size());
  const int64_t launches = job_.optimizer_impl == OptimizerImpl::kForLoop ? 12 * count : (count / 32 + 1) * (fused ? 1 : 12);
  for (int64_t i = 0; i < launches; ++i) rt_.observer->Move(moved / launches);
}

void Session::MakeOptimizer() {
  optimizer_ = Optimizers().Find(job_.optimizer);
  options_ = Merge(optimizer_->defaults, job_.optimizer_options);
  const std::vector<Leaf*> leaves = engine_->Optimized();
  optimized_.resize(leaves.size());
  const absl::flat_hash_set<absl::string_view> blocks = BlockPaths(*program_.network);
  std::vector<OptimizedParam*> all;
  for (size_t i = 0; i < leaves.size(); ++i) {
    optimized_[i].leaf = leaves[i];
    optimized_[i].in_block = InBlock(program_.network->params[static_cast<size_t>(leaves[i]->param)].fqn, blocks);
    all.push_back(&optimized_[i]);
  }
  engine_->Constructed(optimized_);
  OptimizerStep step{rt_, job_.optimizer_impl, options_, all};
  if (optimizer_->construct != nullptr) optimizer_->construct(step);
}

void Session::EnterPhase(Phase phase) {
  rt_.recorder().phase = phase;
  rt_.recorder().pass = phase == Phase::kBackward ? Pass::kBackward : Pass::kForward;
  rt_.recorder().thread = phase == Phase::kBackward ? 1 : 0;
}

void Session::Run() {
  rt_.recorder().op = "init";
  MakeParameters();
  engine_->Wrap();
  forward_.Watch(engine_->WatchedCalls());
  MakeInputs();
  MakeEvaluations();
  MakeLossContext();
  MakeLibraryState();
  MakeOptimizer();
  if (job_.ema.has_value()) {
    for (const auto& leaf : unseen_) ema_.push_back(rt_.MakeResident(leaf.sizes(), leaf.dtype(), Category::kBuffers));
  }
  Trace& trace = rt_.recorder().trace;
  for (int16_t step = 0; step < job_.steps; ++step) {
    Step(step);
    // Steps are about equally long.
    if (step == 0) trace.events.reserve(trace.events.size() * static_cast<size_t>(job_.steps + 1));
  }
  rt_.recorder().trace.steps = static_cast<int16_t>(job_.steps);
  for (const OptimizedParam& p : optimized_) {
    const std::string& fqn = program_.network->params[static_cast<size_t>(p.leaf->param)].fqn;
    for (const Value& v : p.state) names_.emplace_back(v.storage()->id, fqn + " (optimizer state)");
  }
  std::sort(names_.begin(), names_.end());
}

void Session::Step(int16_t step) {
  Recorder& r = rt_.recorder();
  r.step = step;
  r.ResetPeaks();
  r.AddMark("step_start");
  for (int64_t micro = 0; micro < job_.accumulate; ++micro) MicroBatch(micro, micro + 1 == job_.accumulate);
  OptimizerPhase();
}

// cudnnDropoutGetStatesSize on the measured GPUs: one per process, made at the first recurrent layer that drops out in training
// (aten/src/ATen/native/cudnn/RNN.cpp, DropoutState).
constexpr Bytes kDropoutState = 6488064;

void Session::MakeLibraryState() {
  for (const Node* node : program_.nodes) {
    if (node == nullptr) continue;
    const absl::string_view op = node->op->name;
    if (op != "lstm" && op != "gru" && op != "rnn") continue;
    if (node->attrs.Float(Key::kP, 0) > 0) dropout_state_ = rt_.Hidden(kDropoutState);
  }
}

void Session::MakeEvaluations() {
  if (evaluation_program_ != nullptr) {
    evaluation_ = std::make_unique<Evaluation>(rt_, *evaluation_program_, job_, resident_, Evaluation::Own::kInputs);
  }
  if (teacher_program_ != nullptr) {
    teacher_ = std::make_unique<Evaluation>(rt_, *teacher_program_, job_, resident_, Evaluation::Own::kParameters);
  }
}

void Session::MakeLossContext() {
  const Head head = FindHead(*program_.network);
  if (head.weight != kNone) loss_context_.head_weight = resident_[static_cast<size_t>(head.weight)];
  if (head.bias != kNone) loss_context_.head_bias = resident_[static_cast<size_t>(head.bias)];
  loss_context_.teacher = [this] { return teacher_->Run(); };
}

// What the script assigns to `out`: some losses call the base model instead, once or twice.
Values Session::RunNetwork() {
  if (job_.loss != Loss::kChunkedCrossEntropy && job_.loss != Loss::kTokenContrastive) return {forward_.Run({})};
  const BaseModel base = FindBaseModel(*program_.network);
  const Forward::Options options{.end = base.end, .output = base.hidden};
  if (job_.loss == Loss::kChunkedCrossEntropy) return {forward_.Run(options)};
  Values passes;
  for (int pass = 0; pass < 2; ++pass) passes.push_back(RowsOf(rt_, forward_.Run(options)));
  return passes;
}

// What the engine's wrapper around the network returns.
Values Session::Wrapped(Values outputs) {
  for (Value& v : outputs) v = engine_->EndForward(std::move(v));
  return outputs;
}

void Session::ForwardAndLoss() {
  rt_.set_offload_saved(job_.offload.saved_tensors);
  if (IsAmp(job_.precision)) rt_.EnterAutocast(ComputeType(job_.precision), job_.autocast_cache);
  if (job_.outputs == Outputs::kDrop) {
    loss_ = ComputeLoss(rt_, job_, Wrapped(RunNetwork()), labels_, loss_context_);
  } else {
    outs_ = Wrapped(RunNetwork());
    loss_ = ComputeLoss(rt_, job_, outs_, labels_, loss_context_);
  }
  if (IsAmp(job_.precision)) rt_.ExitAutocast();
  rt_.set_offload_saved(false);
}

void Session::MicroBatch(int64_t micro, bool last) {
  Recorder& r = rt_.recorder();
  r.micro = static_cast<int16_t>(micro);
  EnterPhase(Phase::kForward);
  engine_->BeginForward(last);
  ForwardAndLoss();
  if (last) r.AddMark("after_forward");
  EnterPhase(Phase::kBackward);
  if (micro == 0 && job_.zero_grad == ZeroGrad::kBeforeBackward) ZeroGrad();
  {
    Value scaled = job_.accumulate > 1 ? rt_.Call("div", {loss_}, {{Key::kScalar, static_cast<double>(job_.accumulate)}}) : loss_;
    if (job_.grad_scaler) {
      if (scaler_.empty()) scaler_.push_back(rt_.MakeResident({}, DType::kFloat32, Category::kOptimizerState));
      scaled = rt_.Call("mul", {scaled, scaler_[0]});
    }
    engine_->BeginBackward();
    rt_.Backward(scaled);
  }
  engine_->EndBackward(last);
  if (last) r.AddMark("after_backward");
  if (job_.outputs == Outputs::kDrop) loss_.reset();
  r.node = kNone;
  r.call = 0;
}

void Session::OptimizerPhase() {
  Recorder& r = rt_.recorder();
  if (job_.outputs == Outputs::kDropBeforeStep) {
    outs_.clear();
    loss_.reset();
  }
  EnterPhase(Phase::kOptimizer);
  r.op = "optimizer";
  if (!engine_->Step()) PlainStep();
  engine_->AfterStep();
  r.AddMark("after_optimizer");
  if (job_.zero_grad == ZeroGrad::kAfterStep) ZeroGrad();
  r.AddMark("after_zero_grad");
  if (evaluation_ != nullptr) Evaluate();
}

void Session::PlainStep() {
  if (job_.clip_grad.has_value()) ClipGradients();
  rt_.recorder().Touch();
  std::vector<OptimizedParam*> ready;
  for (OptimizedParam& p : optimized_) {
    if (p.leaf->grad) ready.push_back(&p);
  }
  if (!job_.optimizer_in_backward && !ready.empty()) StepOptimizer(ready);
}

// torch.nn.utils.clip_grad_norm_: a norm per gradient, their stack, its norm, the clip coefficient; scaling is in place.
void Session::ClipGradients() {
  std::vector<Value> norms;
  for (const OptimizedParam& p : optimized_) {
    if (p.leaf->grad) norms.push_back(rt_.Empty({}, p.leaf->grad.dtype()));
  }
  if (norms.empty()) return;
  const Dims count = {static_cast<int64_t>(norms.size())};
  const Value stacked = rt_.Empty(count, norms[0].dtype());
  const Value total = rt_.Empty({}, norms[0].dtype());
  const Value coefficient = rt_.Empty({}, norms[0].dtype());
  const Value clamped = rt_.Empty({}, norms[0].dtype());
}

void Session::Evaluate() {
  EnterPhase(Phase::kEvaluation);
  if (IsAmp(job_.precision)) rt_.EnterAutocast(ComputeType(job_.precision), job_.autocast_cache);
  evaluation_->Run();
  if (IsAmp(job_.precision)) rt_.ExitAutocast();
}

void Session::ZeroGrad() {
  if (job_.set_to_none) engine_->ZeroGrad();
}

void Session::OnGradReady(void* self, Leaf& leaf) {
  Session& s = *static_cast<Session*>(self);
  s.engine_->GradReady(leaf);
  if (!s.job_.optimizer_in_backward) return;
  for (OptimizedParam& p : s.optimized_) {
    if (p.leaf != &leaf) continue;
    s.StepOptimizer({&p});
    leaf.grad.reset();
  }
}

void Session::OnReplay(void* self, GradCall& grad) { static_cast<Session*>(self)->forward_.Replay(grad); }
void Session::OnRecompute(void* self, Region& region) { static_cast<Session*>(self)->forward_.Recompute(region); }

void Session::OnBeforeNode(void* self, TapeNode& node) { static_cast<Session*>(self)->engine_->BeforeNode(node); }

void Session::OnFunctionBackward(void* self, int64_t tag) { static_cast<Session*>(self)->engine_->FunctionBackward(tag); }

}  // namespace memcrest
