// The one table of what is read but not simulated yet.
#include "src/job/validate.h"

namespace memcrest {
namespace {

constexpr NotYet kNotYet[] = {
    {"quantize.method", [](const Job& j) { return j.quantize && j.quantize->method != "bitsandbytes"; },
     "use bitsandbytes"},
    {"parallel.engine", [](const Job& j) { return j.parallel.engine != Engine::kSingle; },
     "leave the message parallel out: the job is simulated on one device"},
    {"parallel", [](const Job& j) { return j.parallel.engine == Engine::kSingle && j.parallel.world() > 1; },
     "leave the message parallel out: the job is simulated on one device"},
};

}  // namespace

absl::Span<const NotYet> NotYetSupported() { return kNotYet; }

}  // namespace memcrest
