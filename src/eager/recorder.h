// Notes storages as they come and go, in order, with where the step was at the time.
//
// The running sum of what a dispatcher sees is kept too (each storage rounded up to 512 bytes), so that a plan search can ask for
// peaks without a trace.
#ifndef MEMCREST_EAGER_RECORDER_H_
#define MEMCREST_EAGER_RECORDER_H_

#include <algorithm>
#include <array>

#include "src/base/bytes.h"
#include "src/eager/trace.h"
#include "src/eager/value.h"

namespace memcrest {

inline constexpr Bytes kGranule = 512;  // the CUDA caching allocator's smallest unit (kMinBlockSize)

class Recorder {
 public:
  // Where the step is; the step sets these.
  Phase phase = Phase::kInit;
  Pass pass = Pass::kForward;
  int16_t step = 0, micro = 0;
  StreamId stream = 0;
  int thread = 0;  // 0: forward thread, 1: autograd's device thread (each has its own cuBLAS handle)
  NodeId node = kNone;
  CallId call = kNone;
  const char* op = "";
  bool keep_events = true;
  bool muted = false;  // storages made now are empty: a kernel that does not run
  Place place = Place::kDevice;  // where tensors are made that do not say it

  Ref<Storage> Alloc(Bytes bytes, Category category, Seen seen = Seen::kBoth, Place where = Place::kDevice);
  // UntypedStorage.resize_: the block is freed or made anew, tensors on it stay. `bytes` 0 or the full size.
  void Resize(Storage& storage, Bytes bytes);
  void Freed(const Storage& storage);
  void Retag(Storage& storage, Category category);
  void AddMark(const char* name);
  // An operator ran that allocates nothing: a dispatcher looks at the live sum all the same.
  void Touch();

  // Category of a storage made now by an operator.
  Category CategoryNow() const { return phase == Phase::kBackward || phase == Phase::kOptimizer ? Category::kTemporaries : Category::kActivations; }

  Bytes live() const { return live_; }
  Bytes peak(Phase p) const { return peaks_[static_cast<size_t>(p)]; }
  void ResetPeaks() { peaks_.fill(0); }

  Trace trace;

 private:
  void Born(const Storage& storage);
  void Note(Event::Kind kind, const Storage& storage);
  Bytes live_ = 0;
  std::array<Bytes, kPhaseCount> peaks_{};
  StorageId next_ = 0;
};

}  // namespace memcrest

#endif  // MEMCREST_EAGER_RECORDER_H_
