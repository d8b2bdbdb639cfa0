#include "src/eager/recorder.h"

namespace memcrest {

Ref<Storage> Recorder::Alloc(Bytes bytes, Category category, Seen seen, Place where) {
  if (muted) bytes = 0;
  Storage* storage = new Storage;
  storage->id = next_++;
  storage->bytes = bytes;
  storage->category = category;
  storage->seen = seen;
  storage->place = where == Place::kHost ? where : place;
  storage->stream = stream;
  storage->recorder = this;
  Born(*storage);
  return Ref<Storage>(storage);
}

void Recorder::Born(const Storage& storage) {
  if (storage.bytes == 0) return;
  if (storage.seen != Seen::kAllocatorOnly && storage.place == Place::kDevice) {
    live_ += RoundUp(storage.bytes, kGranule);
    Bytes& peak = peaks_[static_cast<size_t>(phase)];
    peak = std::max(peak, live_);
  }
  Note(Event::Kind::kAlloc, storage);
}

void Recorder::Resize(Storage& storage, Bytes bytes) {
  if (storage.bytes == bytes) return;
  Freed(storage);
  storage.bytes = bytes;
  if (bytes == 0) return;
  storage.id = next_++;
  storage.stream = stream;
  Born(storage);
}

void Recorder::Freed(const Storage& storage) {
  if (storage.bytes == 0) return;
  if (storage.seen != Seen::kAllocatorOnly && storage.place == Place::kDevice) live_ -= RoundUp(storage.bytes, kGranule);
  Note(Event::Kind::kFree, storage);
}

void Recorder::Retag(Storage& storage, Category category) {
  if (storage.category == category) return;
  storage.category = category;
  if (storage.bytes != 0) Note(Event::Kind::kRetag, storage);
}

void Recorder::Touch() {
  Bytes& peak = peaks_[static_cast<size_t>(phase)];
  peak = std::max(peak, live_);
  if (!keep_events) return;
  Event& e = trace.events.emplace_back();
  e.kind = Event::Kind::kOp;
  e.phase = phase;
  e.pass = pass;
  e.step = step;
  e.micro = micro;
  e.node = node;
  e.call = call;
  e.op = op;
}

void Recorder::AddMark(const char* name) { trace.marks.push_back({name, step, trace.events.size(), live_}); }

void Recorder::Note(Event::Kind kind, const Storage& storage) {
  if (!keep_events) return;
  Event& e = trace.events.emplace_back();
  e.kind = kind;
  e.seen = storage.seen;
  e.category = storage.category;
  e.place = storage.place;
  e.phase = phase;
  e.pass = pass;
  e.stream = storage.stream;
  e.step = step;
  e.micro = micro;
  e.storage = storage.id;
  e.bytes = storage.bytes;
  e.node = node;
  e.call = call;
  e.op = op;
}

}  // namespace memcrest
