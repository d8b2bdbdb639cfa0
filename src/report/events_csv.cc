#include "src/report/events_csv.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "src/eager/recorder.h"
#include "src/memory/account.h"

namespace memcrest {

std::string EventsCsv(const Network& network, const Trace& trace) {
  static constexpr std::array<const char*, 3> kSeen = {"both", "allocator", "dispatcher"};
  std::string text = "id,bytes,op,phase,seen,module\n";
  for (const Event& e : trace.events) {
    const bool alloc = e.kind == Event::Kind::kAlloc;
    if (e.step != trace.steps - 1 || (!alloc && e.kind != Event::Kind::kFree)) continue;
    absl::StrAppend(&text, e.storage, ",", alloc ? "" : "-", RoundUp(e.bytes, kGranule), ",", e.op, ",", NameOf(e.phase), ",",
                    kSeen[static_cast<size_t>(e.seen)], ",", e.call == kNone || e.node == kNone ? "" : ModulePath(network, e.call), "\n");
  }
  return text;
}

}  // namespace memcrest
