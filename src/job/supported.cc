// The one table of what is read but not simulated yet.
#include "src/job/validate.h"

namespace memcrest {
namespace {

constexpr NotYet kNotYet[] = {
    {"lora", [](const Job& j) { return j.lora.has_value(); },
     "leave it out, or freeze the base model and train a module"},
    {"quantize", [](const Job& j) { return j.quantize.has_value(); }, "leave it out"},
    {"input_require_grads", [](const Job& j) { return j.input_require_grads; }, "leave it out"},
    {"parallel.engine", [](const Job& j) { return j.parallel.engine != Engine::kSingle; },
     "leave the message parallel out: the job is simulated on one device"},
    {"parallel", [](const Job& j) { return j.parallel.engine == Engine::kSingle && j.parallel.world() > 1; },
     "leave the message parallel out: the job is simulated on one device"},
};

}  // namespace

absl::Span<const NotYet> NotYetSupported() { return kNotYet; }

}  // namespace memcrest
