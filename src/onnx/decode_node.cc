#include "src/onnx/decode_node.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace memcrest::onnx {
namespace {

constexpr size_t kListCost = 32;  // an allocation of a few ids

struct NoteKey {
  absl::string_view key;
  absl::string_view ExporterNotes::*field;
};
constexpr NoteKey kNoteKeys[] = {
    {"pkg.torch.onnx.fx_node", &ExporterNotes::fx_node},
    {"pkg.torch.onnx.name_scopes", &ExporterNotes::name_scopes},
    {"pkg.torch.onnx.class_hierarchy", &ExporterNotes::class_hierarchy},
    {"pkg.torch.onnx.stack_trace", &ExporterNotes::stack_trace},
    {"pkg.onnxscript.rewriter.rule_name", &ExporterNotes::rule_name},
};

bool ReadNote(absl::string_view message, Context& context, ExporterNotes* notes) {
  std::pair<absl::string_view, absl::string_view> entry;
  if (!DecodeEntry(message, context, &entry)) return false;
  for (const NoteKey& note : kNoteKeys) {
    if (entry.first == note.key) notes->*note.field = entry.second;
  }
  return true;
}

// Everything but the lists, whose lengths it counts.
struct Head {
  size_t inputs = 0, outputs = 0, attributes = 0;
  absl::string_view overload;
};

bool ReadHead(absl::string_view message, Context& context, Node* node, Head* head) {
  Cursor cursor(message);
  while (cursor.Next()) {
    switch (cursor.tag()) {
      case BytesTag(1): ++head->inputs; break;
      case BytesTag(2): ++head->outputs; break;
      case BytesTag(5): ++head->attributes; break;
      case BytesTag(3): node->name = cursor.bytes(); break;
      case BytesTag(4): node->op_type = cursor.bytes(); break;
      case BytesTag(7): node->domain = NormalDomain(cursor.bytes()); break;
      case BytesTag(8): head->overload = cursor.bytes(); break;
      case BytesTag(9):
        if (!ReadNote(cursor.bytes(), context, &node->notes)) return false;
        break;
      default: break;
    }
  }
  return cursor.ok() || context.FailWire(cursor, "NodeProto");
}

bool Reserve(const Head& head, Context& context, Node* node) {
  const size_t cost = sizeof(Node) + 2 * kListCost + (head.inputs + head.outputs) * sizeof(ValueId) +
                      head.attributes * sizeof(Attribute);
  if (!context.Charge(static_cast<int64_t>(cost))) return false;
  node->inputs.reserve(head.inputs);
  node->outputs.reserve(head.outputs);
  node->attributes.reserve(head.attributes);
  return true;
}

bool ReadLists(absl::string_view message, const Surroundings& around, int index, Context& context,
               GraphBuilder& builder, Node* node) {
  Cursor cursor(message);
  while (cursor.Next()) {
    switch (cursor.tag()) {
      case BytesTag(1): node->inputs.push_back(builder.Use(cursor.bytes())); break;
      case BytesTag(2): node->outputs.push_back(builder.Define(cursor.bytes(), index)); break;
      case BytesTag(5):
        if (!DecodeAttribute(cursor.bytes(), around, node->op_type, context, &node->attributes.emplace_back()))
          return false;
        break;
      default: break;
    }
  }
  for (const Attribute& attribute : node->attributes) {
    for (const auto& graph : attribute.graphs) {
      for (const auto& [id, name] : graph->captured) builder.AddHiddenUse(index, name);
    }
  }
  return true;
}

}  // namespace

bool DecodeNode(absl::string_view message, const Surroundings& around, Context& context, GraphBuilder& builder,
                Graph& graph) {
  const int index = static_cast<int>(graph.nodes.size());
  Node& node = graph.nodes.emplace_back();
  Head head;
  if (!ReadHead(message, context, &node, &head)) return false;
  if (node.op_type.empty()) {
    return context.FailAt(message.data(), "E0212", absl::StrCat("node ", index, " names no operator"),
                          "op_type is empty", "export the model again");
  }
  const int callee = around.functions->Find(node.domain, node.op_type, head.overload);
  if (callee >= 0) node.function = CallMark(callee);
  return Reserve(head, context, &node) && ReadLists(message, around, index, context, builder, &node);
}

}  // namespace memcrest::onnx
