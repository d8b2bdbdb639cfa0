// A bounds-checked walk over the fields of one protobuf message.
//
// Takes: the bytes of a message (a view).  Gives: its fields one by one; payloads are views, never copied, so skipping
// a gigabyte of weights costs nothing. Guarantees: never reads outside the view, never recurses; groups are skipped up
// to kMaxGroupDepth. Ignores: what a field means. Wire format: protobuf.dev/programming-guides/encoding.
#ifndef MEMCREST_ONNX_WIRE_H_
#define MEMCREST_ONNX_WIRE_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace memcrest::onnx {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kStartGroup = 3, kEndGroup = 4, kFixed32 = 5 };
inline constexpr int kMaxGroupDepth = 64;

// The number that precedes a field in the file. Switching on it makes a known field with an unexpected wire type an
// unknown one, as protobuf wants.
constexpr uint32_t Tag(uint32_t number, WireType type) { return (number << 3) | static_cast<uint32_t>(type); }
constexpr uint32_t VarintTag(uint32_t number) { return Tag(number, WireType::kVarint); }
constexpr uint32_t BytesTag(uint32_t number) { return Tag(number, WireType::kBytes); }

enum class WireFault : uint8_t {
  kNone,
  kCutVarint,      // the message ends inside a number
  kLongVarint,     // more than ten bytes
  kBadTag,         // field number 0 or above 2^29, or an unused wire type
  kCutField,       // a field states more bytes than the message has
  kStrayEndGroup,  // a group ends that never began
  kOpenGroup,      // a group never ends, or ends under another number
  kDeepGroups,     // groups nested deeper than kMaxGroupDepth
};
// "a field states more bytes than are left" ...
absl::string_view Describe(WireFault fault);

class Cursor {
 public:
  explicit Cursor(absl::string_view message) : at_(message.data()), end_(message.data() + message.size()) {}

  // Moves to the next field; groups are passed over. False at the end and at a fault: ask ok().
  bool Next() {
    while (at_ != end_) {
      field_ = at_;
      if (!ReadTag() || !ReadPayload()) return false;
      if (type() != WireType::kEndGroup) return true;
    }
    return false;
  }

  uint32_t tag() const { return tag_; }
  WireType type() const { return static_cast<WireType>(tag_ & 7); }
  // Payload of a varint or fixed field (fixed ones as their bits).
  uint64_t number() const { return number_; }
  int64_t integer() const { return static_cast<int64_t>(number_); }
  // Payload of a length-delimited field.
  absl::string_view bytes() const { return bytes_; }
  float AsFloat() const {
    const uint32_t bits = static_cast<uint32_t>(number_);
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
  }

  bool ok() const { return fault_ == WireFault::kNone; }
  WireFault fault() const { return fault_; }
  const char* field() const { return field_; }       // where the current field began; at a fault: the broken one
  uint64_t stated_bytes() const { return number_; }  // at kCutField: the length that does not fit
  bool at_end() const { return at_ == end_; }

  // One bare varint, as packed fields hold them. False at a fault; call while !at_end().
  bool ReadVarint(uint64_t* value) {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) {
      *value = static_cast<uint8_t>(*at_++);
      return true;
    }
    return ReadLongVarint(value);
  }

 private:
  bool Fail(WireFault fault) {
    fault_ = fault;
    return false;
  }
  bool ReadTag();
  bool ReadPayload();
  bool ReadLongVarint(uint64_t* value);
  bool ReadFixed(int size);
  bool ReadBytes();
  bool SkipGroup();

  const char* at_;
  const char* end_;
  const char* field_ = nullptr;
  uint32_t tag_ = 0;
  WireFault fault_ = WireFault::kNone;
  uint64_t number_ = 0;
  absl::string_view bytes_;
};

// Number of elements of a packed varint field: the bytes without a continuation bit.
int64_t CountVarints(absl::string_view packed);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_WIRE_H_
