// Protobuf messages written field by field, so that tests of the reader need no ONNX library and can also write broken
// ones.
//
// Takes: calls in the order of the fields.  Gives: the message's bytes. Field numbers are those of onnx.proto.
#ifndef MEMCREST_TESTS_SUPPORT_WIRE_BUILDER_H_
#define MEMCREST_TESTS_SUPPORT_WIRE_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace memcrest::testing {

class Wire {
 public:
  Wire& Number(uint32_t field, int64_t value) { return Varint(field << 3).Varint(static_cast<uint64_t>(value)); }
  Wire& Bytes(uint32_t field, absl::string_view bytes) {
    Varint(field << 3 | 2).Varint(bytes.size());
    bytes_.append(bytes.data(), bytes.size());
    return *this;
  }
  Wire& Message(uint32_t field, const Wire& message) { return Bytes(field, message.bytes_); }
  Wire& Float(uint32_t field, float value) {
    Varint(field << 3 | 5);
    char bits[4];
    std::memcpy(bits, &value, sizeof bits);
    bytes_.append(bits, sizeof bits);
    return *this;
  }
  // A packed repeated field.
  Wire& Packed(uint32_t field, const std::vector<int64_t>& values) {
    Wire list;
    for (const int64_t value : values) list.Varint(static_cast<uint64_t>(value));
    return Message(field, list);
  }
  // A bare varint: a tag, or damage.
  Wire& Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  // A field that claims `stated` bytes but brings none.
  Wire& Cut(uint32_t field, uint64_t stated) { return Varint(field << 3 | 2).Varint(stated); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

using Names = std::initializer_list<absl::string_view>;

// AttributeProto.
inline Wire IntAttribute(absl::string_view name, int64_t value) {
  return Wire().Bytes(1, name).Number(3, value).Number(20, 2);
}
inline Wire FloatAttribute(absl::string_view name, float value) {
  return Wire().Bytes(1, name).Float(2, value).Number(20, 1);
}
inline Wire TensorAttribute(absl::string_view name, const Wire& tensor) {
  return Wire().Bytes(1, name).Message(5, tensor).Number(20, 4);
}
inline Wire GraphAttribute(absl::string_view name, const Wire& graph) {
  return Wire().Bytes(1, name).Message(6, graph).Number(20, 5);
}
// A reference inside a function body: `name` takes the value of the function's parameter.
inline Wire ReferenceAttribute(absl::string_view name, absl::string_view parameter, int64_t type) {
  return Wire().Bytes(1, name).Bytes(21, parameter).Number(20, type);
}

// NodeProto.
inline Wire NodeOf(absl::string_view op, Names inputs, Names outputs, std::initializer_list<Wire> attributes = {},
                   absl::string_view domain = "", absl::string_view name = "") {
  Wire node;
  for (const absl::string_view input : inputs) node.Bytes(1, input);
  for (const absl::string_view output : outputs) node.Bytes(2, output);
  if (!name.empty()) node.Bytes(3, name);
  node.Bytes(4, op);
  for (const Wire& attribute : attributes) node.Message(5, attribute);
  if (!domain.empty()) node.Bytes(7, domain);
  return node;
}

// ValueInfoProto: dimensions of -1 are written as the symbol "N".
inline Wire ValueOf(absl::string_view name) { return Wire().Bytes(1, name); }
inline Wire ValueOf(absl::string_view name, int64_t dtype, const std::vector<int64_t>& dims) {
  Wire shape;
  for (const int64_t dim : dims) shape.Message(1, dim == -1 ? Wire().Bytes(2, "N") : Wire().Number(1, dim));
  return ValueOf(name).Message(2, Wire().Message(1, Wire().Number(1, dtype).Message(2, shape)));
}

// TensorProto without data.
inline Wire TensorOf(absl::string_view name, int64_t dtype, const std::vector<int64_t>& dims) {
  return Wire().Packed(1, dims).Number(2, dtype).Bytes(8, name);
}

// FunctionProto in domain "local".
inline Wire FunctionOf(absl::string_view name, Names inputs, Names outputs, std::initializer_list<Wire> nodes) {
  Wire function;
  function.Bytes(1, name);
  for (const absl::string_view input : inputs) function.Bytes(4, input);
  for (const absl::string_view output : outputs) function.Bytes(5, output);
  for (const Wire& node : nodes) function.Message(7, node);
  return function.Bytes(10, "local");
}

// StringStringEntryProto.
inline Wire EntryOf(absl::string_view key, absl::string_view value) { return Wire().Bytes(1, key).Bytes(2, value); }

// GraphProto. Each list by its kind.
struct GraphParts {
  std::vector<Wire> nodes = {}, initializers = {}, inputs = {}, outputs = {}, value_infos = {}, metadata = {};
  Wire Build(absl::string_view name = "main") const {
    Wire graph;
    for (const Wire& node : nodes) graph.Message(1, node);
    graph.Bytes(2, name);
    for (const Wire& initializer : initializers) graph.Message(5, initializer);
    for (const Wire& input : inputs) graph.Message(11, input);
    for (const Wire& output : outputs) graph.Message(12, output);
    for (const Wire& value : value_infos) graph.Message(13, value);
    for (const Wire& entry : metadata) graph.Message(16, entry);
    return graph;
  }
};

// ModelProto: IR version 10, opset 18.
inline Wire ModelOf(const Wire& graph, std::initializer_list<Wire> functions = {}) {
  Wire model;
  model.Number(1, 10).Message(7, graph).Message(8, Wire().Number(2, 18));
  for (const Wire& function : functions) model.Message(25, function);
  return model;
}

}  // namespace memcrest::testing

#endif  // MEMCREST_TESTS_SUPPORT_WIRE_BUILDER_H_
