#include "src/report/verify.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "src/eager/recorder.h"

namespace memcrest {
namespace {

// What both sides are reduced to.
struct Side {
  std::vector<Bytes> bytes;                // rounded to 512
  std::vector<VerifiedAllocation> origin;
};

// By the allocator of a run without a dispatch mode.
bool Served(const StorageLife& l) { return l.address >= 0 && l.seen != Seen::kDispatcherOnly; }

Side Ours(const DeviceReport& d) {
  Side side;
  for (const StorageLife& l : d.step.lives) {
    if (l.born < 0 || !Served(l) || l.bytes < kCompared) continue;
    side.bytes.push_back(l.bytes);
    const auto text = [&](int32_t i) { return d.step.strings[static_cast<size_t>(i)]; };
    side.origin.push_back({l.bytes, text(l.op), text(l.module), ""});
  }
  return side;
}

Side Theirs(const MeasuredMemory& m, const MeasuredStep& step) {
  Side side;
  for (size_t i = step.begin; i < step.end; ++i) {
    const Bytes bytes = RoundUp(m.allocations[i].bytes, kGranule);
    if (bytes < kCompared) continue;
    side.bytes.push_back(bytes);
    side.origin.push_back({bytes, "", "", m.allocations[i].where});
  }
  return side;
}

// A measured period may begin anywhere in the step: turned so that most of its begin agrees with ours.
void Turn(const Side& ours, Side& theirs) {
  const size_t n = theirs.bytes.size(), window = std::min<size_t>({48, n, ours.bytes.size()});
  size_t best = 0, best_same = 0;
  for (size_t shift = 0; shift < n; ++shift) {
    size_t same = 0;
    for (size_t i = 0; i < window; ++i) same += theirs.bytes[(shift + i) % n] == ours.bytes[i] ? 1u : 0u;
    if (same > best_same) best = shift, best_same = same;
  }
  const auto at = static_cast<std::ptrdiff_t>(best);
  std::rotate(theirs.bytes.begin(), theirs.bytes.begin() + at, theirs.bytes.end());
  std::rotate(theirs.origin.begin(), theirs.origin.begin() + at, theirs.origin.end());
}

// The nearest pair (i, j) from which the two agree for a while again.
bool Resume(const Side& a, const Side& b, size_t& i, size_t& j) {
  constexpr size_t kFar = 64, kAgree = 2;
  const auto agree = [&](size_t x, size_t y) {
    size_t same = 0;
    while (same < kAgree && x + same < a.bytes.size() && y + same < b.bytes.size() && a.bytes[x + same] == b.bytes[y + same]) ++same;
    return same == kAgree || (same > 0 && x + same == a.bytes.size() && y + same == b.bytes.size());
  };
  for (size_t distance = 1; distance <= kFar; ++distance) {
    for (size_t x = 0; x <= distance; ++x) {
      if (i + x < a.bytes.size() && j + distance - x < b.bytes.size() && agree(i + x, j + distance - x)) {
        return i += x, j += distance - x, true;
      }
    }
  }
  return false;
}

void Compare(const Side& ours, const Side& theirs, Verification& v) {
  const auto note = [&](const VerifiedAllocation& a, const VerifiedAllocation& b) {
    if (v.divergences.size() < kMostDivergences) v.divergences.push_back({a, b, ""});
    else ++v.more;
  };
  size_t i = 0, j = 0;
  while (i < ours.bytes.size() && j < theirs.bytes.size()) {
    if (ours.bytes[i] == theirs.bytes[j]) {
      ++v.matched, ++i, ++j;
      continue;
    }
    size_t x = i, y = j;
    if (!Resume(ours, theirs, x, y)) x = i + 1, y = j + 1;
    for (; i < x || j < y; i += i < x ? 1u : 0u, j += j < y ? 1u : 0u) {
      note(i < x ? ours.origin[i] : VerifiedAllocation(), j < y ? theirs.origin[j] : VerifiedAllocation());
    }
  }
  for (; i < ours.bytes.size(); ++i) note(ours.origin[i], {});
  for (; j < theirs.bytes.size(); ++j) note({}, theirs.origin[j]);
}

// The sum of requests that our step has at most.
Bytes OurLive(const StepRecord& step) {
  std::vector<Bytes> change(static_cast<size_t>(step.events) + 1);
  Bytes live = 0;
  for (const StorageLife& l : step.lives) {
    if (!Served(l)) continue;
    if (l.born < 0) live += l.bytes;
    else change[static_cast<size_t>(l.born)] += l.bytes;
    change[static_cast<size_t>(l.dies)] -= l.bytes;
  }
  Bytes peak = live;
  for (size_t e = 0; e + 1 < change.size(); ++e) peak = std::max(peak, live += change[e]);
  return peak;
}

bool IsWorkspace(Bytes bytes) { return bytes == 33554432 || bytes == 8519680; }

// What would explain a divergence; the first rule that fits.
std::string Explain(const Divergence& d) {
  const Bytes a = d.ours.bytes, b = d.theirs.bytes;
  const auto ours_is = [&](const char* op) { return absl::StrContains(d.ours.op, op); };
  if (IsWorkspace(a) != IsWorkspace(b) && (IsWorkspace(a) || IsWorkspace(b))) {
    return "a cuBLAS workspace: its size follows the GPU (--device), its number the threads and streams that multiply";
  }
  if (a == 2 * b || b == 2 * a) return "half or twice the size: --precision of one side is 16 bit, or --bind of a dimension is twice";
  if (a == 0 && absl::StrContains(d.theirs.where, "optim")) return "the optimizer allocates more: --optimizer, --optimizer-impl";
  if (a == 0 && absl::StrContains(d.theirs.where, "conv")) return "cuDNN's workspace of a convolution: a stated range, not simulated";
  if (a == 0) {
    return "only measured: an operator that the export lacks (dropout: --dropout PATTERN=P), a kernel's scratch memory, or "
           "another script";
  }
  if (b == 0 && ours_is("dropout")) return "only simulated: the run has no dropout here (model.eval, --eval-modules)";
  if (b == 0 && absl::StrContains(d.ours.op, "foreach")) return "only simulated: --optimizer-impl fused or for-loop takes less";
  if (b == 0 && ours_is("_to_copy")) return "only simulated: a cast; --precision differs, or the run fuses it";
  if (b == 0) return "only simulated: the run avoids it (in-place operator, fused kernel, --checkpoint, --attention)";
  return "other sizes: --bind of a dimension differs, or the order of operators does";
}

}  // namespace

Verification Verify(const MeasuredMemory& measured, const DeviceReport& device) {
  Verification v;
  v.our_live = OurLive(device.step);
  v.our_reserved = device.reserved;
  v.their_live = measured.peak_allocated;
  v.their_reserved = measured.peak_reserved;
  if (!measured.has_trace || measured.allocations.empty()) return v;
  v.compared = true;
  v.step = LastStep(measured.allocations);
  v.their_live = v.their_reserved = 0;
  for (size_t i = v.step.begin; i < v.step.end; ++i) {
    v.their_live = std::max(v.their_live, measured.allocations[i].live);
    v.their_reserved = std::max(v.their_reserved, measured.allocations[i].reserved);
  }
  const Side ours = Ours(device);
  Side theirs = Theirs(measured, v.step);
  v.ours = ours.bytes.size();
  v.theirs = theirs.bytes.size();
  Turn(ours, theirs);
  Compare(ours, theirs, v);
  for (Divergence& d : v.divergences) d.explanation = Explain(d);
  return v;
}

}  // namespace memcrest
