// GraphProto and the body of a FunctionProto: first their parts by kind, then the graph from its parts.
#include <array>
#include <utility>

#include "absl/types/span.h"
#include "src/onnx/decode.h"
#include "src/onnx/decode_node.h"
#include "src/onnx/graph_builder.h"

namespace memcrest::onnx {
namespace {

using Messages = std::vector<absl::string_view>;

// The repeated fields of a graph, as views. Inputs come before initializers and nodes here, whatever the order in the
// file.
struct Parts {
  Messages nodes, initializers, sparse_initializers, inputs, outputs, value_infos, metadata;
  bool plain_names = false;  // functions: inputs and outputs are names, not ValueInfoProto
};

struct PartField {
  uint32_t number;
  Messages Parts::*list;
};
constexpr PartField kGraphFields[] = {
    {1, &Parts::nodes},    {5, &Parts::initializers}, {15, &Parts::sparse_initializers},
    {11, &Parts::inputs},  {12, &Parts::outputs},     {13, &Parts::value_infos},
    {16, &Parts::metadata}};
constexpr PartField kFunctionFields[] = {
    {7, &Parts::nodes}, {4, &Parts::inputs}, {5, &Parts::outputs}, {12, &Parts::value_infos}};
constexpr uint32_t kGraphName = 2, kFunctionName = 1;
constexpr size_t kFieldNumbers = 17;

class Splitter {
 public:
  Splitter(absl::Span<const PartField> fields, uint32_t name_field, Context& context, Parts& parts)
      : name_field_(name_field), context_(context), parts_(parts) {
    for (const PartField& field : fields) list_of_[field.number] = field.list;
  }

  bool Split(absl::string_view message, absl::string_view* name) {
    Cursor cursor(message);
    while (cursor.Next()) {
      if (cursor.tag() == BytesTag(name_field_)) {
        *name = cursor.bytes();
      } else if (Messages* const list = ListOf(cursor); list != nullptr) {
        if (!context_.Charge(kViewCost)) return false;
        list->push_back(cursor.bytes());
      }
    }
    return cursor.ok() || context_.FailWire(cursor, "GraphProto");
  }

 private:
  static constexpr int64_t kViewCost = 3 * sizeof(absl::string_view);  // while a vector grows, old and new exist

  Messages* ListOf(const Cursor& cursor) const {
    const uint32_t number = cursor.tag() >> 3;
    if (cursor.type() != WireType::kBytes || number >= kFieldNumbers || list_of_[number] == nullptr) return nullptr;
    return &(parts_.*list_of_[number]);
  }

  const uint32_t name_field_;
  Context& context_;
  Parts& parts_;
  std::array<Messages Parts::*, kFieldNumbers> list_of_{};
};

class GraphDecoder {
 public:
  GraphDecoder(const Parts& parts, const Surroundings& around, Context& context, Graph& graph)
      : parts_(parts), around_(around), context_(context), graph_(graph), builder_(graph, around.depth > 0, context) {}

  bool Decode() {
    if (!Reserve()) return false;
    return Inputs() && Initializers() && Nodes() && Outputs() && Declarations() && !context_.has_problems() &&
           builder_.Finish();
  }

 private:
  bool Reserve() {
    const size_t initializers = parts_.initializers.size() + parts_.sparse_initializers.size();
    const size_t values = parts_.inputs.size() + initializers + parts_.nodes.size() * 9 / 8;
    const size_t bytes = parts_.nodes.size() * sizeof(Node) + initializers * sizeof(Literal) + values * sizeof(Value);
    // Names and nodes are charged when they come; this only refuses a reservation that cannot end well.
    if (!context_.Charge(static_cast<int64_t>(bytes)) || !context_.Charge(-static_cast<int64_t>(bytes))) return false;
    builder_.Reserve(parts_.inputs.size(), initializers, parts_.nodes.size());
    return true;
  }

  bool ReadValue(absl::string_view message, bool plain_name, Value* value) {
    if (!plain_name) return DecodeValueInfo(message, context_, value);
    value->name = message;
    return true;
  }

  bool Inputs() {
    for (const absl::string_view message : parts_.inputs) {
      Value value;
      if (!ReadValue(message, parts_.plain_names, &value)) return false;
      builder_.AddInput(std::move(value));
    }
    return true;
  }

  bool Initializers() {
    for (const absl::string_view message : parts_.initializers) {
      if (!Initializer(message, DecodeTensor)) return false;
    }
    for (const absl::string_view message : parts_.sparse_initializers) {
      if (!Initializer(message, DecodeSparseTensor)) return false;
    }
    return true;
  }
  bool Initializer(absl::string_view message,
                   bool (*decode)(absl::string_view, absl::string_view, Context&, Literal*)) {
    Literal literal;
    if (!context_.Charge(sizeof literal) || !decode(message, "the graph", context_, &literal)) return false;
    builder_.AddInitializer(std::move(literal));
    return true;
  }

  bool Nodes() {
    for (const absl::string_view message : parts_.nodes) {
      if (!DecodeNode(message, around_, context_, builder_, graph_)) return false;
    }
    return true;
  }

  bool Outputs() {
    for (const absl::string_view message : parts_.outputs) {
      Value value;
      if (!ReadValue(message, parts_.plain_names, &value)) return false;
      builder_.AddOutput(std::move(value));
    }
    return true;
  }

  bool Declarations() {
    for (const absl::string_view message : parts_.value_infos) {
      Value value;
      if (!DecodeValueInfo(message, context_, &value)) return false;
      builder_.Declare(std::move(value));
    }
    return true;
  }

  const Parts& parts_;
  const Surroundings& around_;
  Context& context_;
  Graph& graph_;
  GraphBuilder builder_;
};

bool ReadSignature(const Messages& metadata, Context& context, absl::string_view* graph_signature) {
  for (const absl::string_view message : metadata) {
    std::pair<absl::string_view, absl::string_view> entry;
    if (!DecodeEntry(message, context, &entry)) return false;
    if (entry.first == kSignatureKey) *graph_signature = entry.second;
  }
  return true;
}

}  // namespace

bool DecodeGraph(const Messages& messages, const Surroundings& around, Context& context, Graph* graph,
                 absl::string_view* graph_signature) {
  Parts parts;
  Splitter splitter(kGraphFields, kGraphName, context, parts);
  for (const absl::string_view message : messages) {
    if (!splitter.Split(message, &graph->name)) return false;
  }
  return ReadSignature(parts.metadata, context, graph_signature) &&
         GraphDecoder(parts, around, context, *graph).Decode();
}

bool DecodeFunctionBody(absl::string_view message, const FunctionTable& functions, Context& context, Graph* body) {
  Parts parts;
  parts.plain_names = true;
  Splitter splitter(kFunctionFields, kFunctionName, context, parts);
  return splitter.Split(message, &body->name) &&
         GraphDecoder(parts, {&functions, 0, /*in_function=*/true}, context, *body).Decode();
}

}  // namespace memcrest::onnx
