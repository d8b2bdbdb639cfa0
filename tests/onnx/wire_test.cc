#include "src/onnx/wire.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/wire_builder.h"

namespace memcrest::onnx {
namespace {

using testing::Wire;

// The fault that a message ends with.
WireFault FaultOf(absl::string_view message) {
  Cursor cursor(message);
  while (cursor.Next()) {
  }
  return cursor.fault();
}

TEST(Wire, YieldsFieldsInOrderWithTheirPayloads) {
  const Wire message = Wire().Number(1, 300).Bytes(2, "abc").Float(3, 1.5f).Number(4, -1);
  Cursor cursor(message.bytes());
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.tag(), VarintTag(1));
  EXPECT_EQ(cursor.integer(), 300);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.tag(), BytesTag(2));
  EXPECT_EQ(cursor.bytes(), "abc");
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.tag(), Tag(3, WireType::kFixed32));
  EXPECT_EQ(cursor.AsFloat(), 1.5f);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.integer(), -1);  // ten bytes on the wire
  EXPECT_FALSE(cursor.Next());
  EXPECT_TRUE(cursor.ok());
}

TEST(Wire, PayloadsAreViewsIntoTheMessage) {
  const std::string bytes = Wire().Bytes(9, std::string(1000, 'w')).bytes();
  Cursor cursor(bytes);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.bytes().data(), bytes.data() + 3);  // after one byte of tag and two of length
}

TEST(Wire, PassesOverGroupsWithEverythingInside) {
  // Group 5 (tags 0x2b, 0x2c) holds a number and group 6 (0x33, 0x34).
  const std::string group = std::string("\x2b\x08\x07\x33\x12\x01x\x34\x2c", 9);
  const std::string message = group + Wire().Number(1, 2).bytes();
  Cursor cursor(message);
  ASSERT_TRUE(cursor.Next());
  EXPECT_EQ(cursor.tag(), VarintTag(1));
  EXPECT_FALSE(cursor.Next());
  EXPECT_TRUE(cursor.ok());
}

TEST(Wire, NamesEachKindOfDamage) {
  EXPECT_EQ(FaultOf("\x08"), WireFault::kCutVarint);
  EXPECT_EQ(FaultOf("\x08\xff"), WireFault::kCutVarint);
  EXPECT_EQ(FaultOf("\x0d\x01\x02\x03"), WireFault::kCutVarint);  // three of four bytes
  EXPECT_EQ(FaultOf("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), WireFault::kLongVarint);
  EXPECT_EQ(FaultOf(absl::string_view("\x00\x00", 2)), WireFault::kBadTag);  // field 0
  EXPECT_EQ(FaultOf("\x0e"), WireFault::kBadTag);                           // wire type 6
  EXPECT_EQ(FaultOf("\x12\x05xy"), WireFault::kCutField);
  EXPECT_EQ(FaultOf("\x2c"), WireFault::kStrayEndGroup);
  EXPECT_EQ(FaultOf("\x2b\x08\x01"), WireFault::kOpenGroup);
  EXPECT_EQ(FaultOf("\x2b\x34"), WireFault::kOpenGroup);  // 5 opened, 6 closed
  EXPECT_EQ(FaultOf(std::string(1000, '\x2b')), WireFault::kDeepGroups);
}

TEST(Wire, RefusesLengthsThatWouldOverflowAPointer) {
  EXPECT_EQ(FaultOf(Wire().Cut(2, UINT64_MAX).bytes()), WireFault::kCutField);
  EXPECT_EQ(FaultOf(Wire().Cut(2, uint64_t{1} << 63).bytes()), WireFault::kCutField);
}

TEST(Wire, CountsPackedNumbersWithoutDecodingThem) {
  const std::string packed = Wire().Varint(1).Varint(300).Varint(UINT64_MAX).bytes();
  EXPECT_EQ(CountVarints(packed), 3);
  EXPECT_EQ(CountVarints(""), 0);
}

}  // namespace
}  // namespace memcrest::onnx
