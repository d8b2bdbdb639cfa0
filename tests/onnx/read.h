// Short names for what the reader's tests do all the time.
#ifndef MEMCREST_TESTS_ONNX_READ_H_
#define MEMCREST_TESTS_ONNX_READ_H_

#include <string>

#include "gtest/gtest.h"
#include "src/onnx/dump.h"
#include "src/onnx/reader.h"
#include "tests/support/wire_builder.h"

namespace memcrest::onnx {

// The model of bytes that must be readable; an empty one, and a failure, if they are not.
inline Model Read(const testing::Wire& file) {
  absl::StatusOr<Model> model = ReadBytes(file.bytes(), "m.onnx");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : Model();
}

// The text of the problems of bytes that must be refused.
inline std::string Refusal(absl::string_view bytes, const ReadOptions& options = {}) {
  const absl::StatusOr<Model> model = ReadBytes(bytes, "m.onnx", options);
  EXPECT_FALSE(model.ok());
  return std::string(model.status().message());
}
inline std::string Refusal(const testing::Wire& file) { return Refusal(file.bytes()); }

inline constexpr int64_t kFloat = 1, kInt64 = 7;  // TensorProto.DataType

}  // namespace memcrest::onnx

#endif  // MEMCREST_TESTS_ONNX_READ_H_
