// The one table of what is read but not simulated yet.
#include "src/job/validate.h"

namespace memcrest {
namespace {

bool IsDataParallel(Engine e) {
  return e == Engine::kDdp || e == Engine::kZero1 || e == Engine::kFsdp2 || e == Engine::kFsdp1 || e == Engine::kDeepSpeed;
}

bool IsFsdp(Engine e) { return e == Engine::kFsdp1 || e == Engine::kFsdp2; }

constexpr NotYet kNotYet[] = {
    {"evaluate", [](const Job& j) { return j.evaluate.has_value() && IsFsdp(j.parallel.engine); },
     "leave it out: a validation pass would gather the units as the forward does"},
    {"loss", [](const Job& j) {
       const bool beside = j.loss == Loss::kChunkedCrossEntropy || j.loss == Loss::kTokenContrastive || j.loss == Loss::kDistillation;
       return beside && IsFsdp(j.parallel.engine);
     }, "use a loss of the network's output"},
    {"parallel.engine", [](const Job& j) { return !IsDataParallel(j.parallel.engine) && j.parallel.engine != Engine::kSingle; },
     "use a data-parallel engine: ddp, zero1, fsdp1, fsdp2, deepspeed"},
    {"parallel.zero", [](const Job& j) { return j.parallel.engine == Engine::kDeepSpeed && j.parallel.zero % 3 == 0; },
     "use DeepSpeed's stage 1 or 2, or the engine fsdp2"},
    {"parallel.grad_accum_dtype", [](const Job& j) {
       const Parallel& p = j.parallel;
       return p.engine == Engine::kDeepSpeed && p.grad_accum_dtype != DType::kUndefined && p.grad_accum_dtype != ModelType(j);
     }, "leave it out: gradients are accumulated in the model's type"},
    {"parallel.tensor, pipeline, context or expert", [](const Job& j) {
       const Parallel& p = j.parallel;
       return IsDataParallel(p.engine) && (p.tensor > 1 || p.pipeline > 1 || p.context > 1 || p.expert > 1);
     }, "use data and replicate ranks only"},
    {"quantize.method", [](const Job& j) { return j.quantize && j.quantize->method != "bitsandbytes"; },
     "use bitsandbytes"},
    {"parallel", [](const Job& j) { return j.parallel.engine == Engine::kSingle && j.parallel.world() > 1; },
     "name an engine: ddp, zero1, fsdp1, fsdp2, deepspeed; or leave the message parallel out"},
};

}  // namespace

absl::Span<const NotYet> NotYetSupported() { return kNotYet; }

}  // namespace memcrest
