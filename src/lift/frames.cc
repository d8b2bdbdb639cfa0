#include "src/lift/frames.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace memcrest {
namespace {

// "a/b.py" is where class "a.b.C" (or nested "a.b.C.D") is written.
bool IsFileOf(absl::string_view file, absl::string_view cls) {
  while (true) {
    const size_t dot = cls.rfind('.');
    if (dot == absl::string_view::npos) return false;
    cls = cls.substr(0, dot);
    if (!absl::EndsWith(file, ".py")) return false;
    absl::string_view stem = file.substr(0, file.size() - 3);
    if (stem.size() < cls.size()) continue;
    stem = stem.substr(stem.size() - cls.size());
    bool same = true;
    for (size_t i = 0; i < cls.size() && same; ++i) same = stem[i] == cls[i] || (stem[i] == '/' && cls[i] == '.');
    if (same) return true;
  }
}

int FindForward(const PlacedFrames& frames, int from, absl::string_view cls) {
  for (int i = from; i >= 0; --i) {
    const SourceFrame& source = frames[static_cast<size_t>(i)].source;
    if (source.function == "forward" && IsFileOf(source.file, cls)) return i;
  }
  for (int i = from; i >= 0; --i) {
    if (frames[static_cast<size_t>(i)].source.function == "forward") return i;
  }
  return -1;
}

}  // namespace

PlacedFrames PlaceFrames(const Network& network, CallId call, absl::string_view trace, int drop) {
  PlacedFrames frames;
  for (const SourceFrame& source : ParseStack(trace)) frames.push_back({source, kNone});
  for (; drop > 0 && !frames.empty(); --drop) frames.pop_back();
  int from = static_cast<int>(frames.size()) - 1;
  for (; call != kNone && from >= 0; call = network.calls[static_cast<size_t>(call)].parent) {
    const ModuleId module = network.calls[static_cast<size_t>(call)].module;
    const int found = FindForward(frames, from, network.modules[static_cast<size_t>(module)].cls);
    if (found < 0) continue;
    frames[static_cast<size_t>(found)].call = call;
    from = found - 1;
  }
  return frames;
}

}  // namespace memcrest
