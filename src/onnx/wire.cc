#include "src/onnx/wire.h"

#include <algorithm>
#include <array>

namespace memcrest::onnx {

absl::string_view Describe(WireFault fault) {
  switch (fault) {
    case WireFault::kNone: return "no fault";
    case WireFault::kCutVarint: return "a number is cut off";
    case WireFault::kLongVarint: return "a number has more than ten bytes";
    case WireFault::kBadTag: return "a field has a number or type that protobuf does not know";
    case WireFault::kCutField: return "a field states more bytes than are left";
    case WireFault::kStrayEndGroup: return "a group ends that never began";
    case WireFault::kOpenGroup: return "a group does not end properly";
    case WireFault::kDeepGroups: return "groups are nested too deep";
  }
  return "unknown fault";
}

bool Cursor::ReadLongVarint(uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) return Fail(WireFault::kCutVarint);
    const uint8_t byte = static_cast<uint8_t>(*at_++);
    result |= static_cast<uint64_t>(byte & 0x7f) << std::min(shift, 63);
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return Fail(WireFault::kLongVarint);
}

bool Cursor::ReadTag() {
  uint64_t tag = 0;
  if (!ReadVarint(&tag)) return false;
  if (tag > UINT32_MAX || (tag >> 3) == 0 || (tag & 7) > 5) return Fail(WireFault::kBadTag);
  tag_ = static_cast<uint32_t>(tag);
  return true;
}

bool Cursor::ReadPayload() {
  switch (type()) {
    case WireType::kVarint: return ReadVarint(&number_);
    case WireType::kFixed64: return ReadFixed(8);
    case WireType::kBytes: return ReadBytes();
    case WireType::kStartGroup: return SkipGroup();
    case WireType::kEndGroup: return Fail(WireFault::kStrayEndGroup);
    case WireType::kFixed32: return ReadFixed(4);
  }
  return Fail(WireFault::kBadTag);
}

bool Cursor::ReadFixed(int size) {
  if (end_ - at_ < size) return Fail(WireFault::kCutVarint);
  number_ = 0;
  for (int i = 0; i < size; ++i) number_ |= static_cast<uint64_t>(static_cast<uint8_t>(at_[i])) << (8 * i);
  at_ += size;
  return true;
}

bool Cursor::ReadBytes() {
  if (!ReadVarint(&number_)) return false;
  if (number_ > static_cast<uint64_t>(end_ - at_)) return Fail(WireFault::kCutField);
  bytes_ = absl::string_view(at_, static_cast<size_t>(number_));
  at_ += bytes_.size();
  return true;
}

// ONNX uses no groups, so one is always unknown content. Leaves tag_ at an end-group tag, which Next() passes over.
bool Cursor::SkipGroup() {
  std::array<uint32_t, kMaxGroupDepth> open;
  size_t depth = 0;
  open[depth++] = tag_ >> 3;
  while (depth > 0) {
    if (at_ == end_) return Fail(WireFault::kOpenGroup);
    if (!ReadTag()) return false;
    if (type() == WireType::kEndGroup) {
      if (open[--depth] != tag_ >> 3) return Fail(WireFault::kOpenGroup);
    } else if (type() == WireType::kStartGroup) {
      if (depth == open.size()) return Fail(WireFault::kDeepGroups);
      open[depth++] = tag_ >> 3;
    } else if (!ReadPayload()) {
      return false;
    }
  }
  return true;
}

int64_t CountVarints(absl::string_view packed) {
  return std::count_if(packed.begin(), packed.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

}  // namespace memcrest::onnx
