#include "src/onnx/text.h"

#include <exception>
#include <set>

#include "src/onnx/reader.h"

// The ONNX library's headers do not keep to this project's warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wpedantic"
#include "onnx/defs/parser.h"
#pragma GCC diagnostic pop

namespace memcrest::onnx {
namespace {

namespace proto = ::ONNX_NAMESPACE;

std::set<std::string> MadeNames(const proto::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& initializer : graph.initializer()) names.insert(initializer.name());
  for (const auto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

bool HasKnownDims(const proto::ValueInfoProto& value) {
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) return false;
  }
  return value.type().tensor_type().has_shape();
}

void AddParameters(proto::GraphProto& graph) {
  const std::set<std::string> made = MadeNames(graph);
  for (const auto& value : graph.value_info()) {
    if (made.count(value.name()) > 0 || !HasKnownDims(value)) continue;
    proto::TensorProto& parameter = *graph.add_initializer();
    parameter.set_name(value.name());
    parameter.set_data_type(value.type().tensor_type().elem_type());
    for (const auto& dim : value.type().tensor_type().shape().dim()) parameter.add_dims(dim.dim_value());
  }
}

}  // namespace

absl::StatusOr<std::string> SerializeModelText(absl::string_view text) {
  const std::string source(text);
  proto::ModelProto model;
  try {
    proto::OnnxParser parser(source.c_str());
    const auto status = parser.Parse(model);
    if (!status.IsOK()) return absl::InvalidArgumentError(status.ErrorMessage());
    if (!parser.EndOfInput()) return absl::InvalidArgumentError("text after the end of the model");
  } catch (const std::exception& error) {  // the parser throws on numbers out of range
    return absl::InvalidArgumentError(error.what());
  }
  AddParameters(*model.mutable_graph());
  return model.SerializeAsString();
}

absl::StatusOr<Model> ParseModelText(absl::string_view text) {
  const absl::StatusOr<std::string> bytes = SerializeModelText(text);
  if (!bytes.ok()) return bytes.status();
  return ReadBytes(*bytes, "model text");
}

}  // namespace memcrest::onnx
