#include "src/onnx/dump.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memcrest::onnx {
namespace {

constexpr size_t kShownElements = 8;

struct QuoteString {
  void operator()(std::string* out, absl::string_view s) const { absl::StrAppend(out, "\"", s, "\""); }
};

template <typename T>
std::string ListText(const std::vector<T>& list) {
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), kShownElements));
  return absl::StrCat("{", absl::StrJoin(list.begin(), end, ", "), list.size() > kShownElements ? ", ...}" : "}");
}

std::string TypeText(const Literal& literal) {
  return absl::StrCat(memcrest::NameOf(literal.dtype), "[", absl::StrJoin(literal.dims, ","), "]");
}

std::string TensorText(const Literal& literal) {
  if (!literal.has_data) return TypeText(literal);
  return absl::StrCat(TypeText(literal), " = ",
                      IsFloating(literal.dtype) ? ListText(literal.floats) : ListText(literal.ints));
}

std::string DimText(const SymDim& dim) {
  if (dim.known()) return absl::StrCat(dim.value);
  return dim.expr.empty() ? "?" : std::string(dim.expr);
}

// ": float32[N,4]", without what is not declared.
std::string DeclaredText(const Value& value) {
  if (value.dtype == DType::kUndefined && !value.has_shape) return "";
  std::string text = absl::StrCat(": ", memcrest::NameOf(value.dtype));
  if (!value.has_shape) return text;
  const auto dim_text = [](std::string* out, const SymDim& dim) { out->append(DimText(dim)); };
  return absl::StrCat(text, "[", absl::StrJoin(value.shape, ",", dim_text), "]");
}

class GraphDumper {
 public:
  GraphDumper(const Graph& graph, size_t depth, std::string& out)
      : graph_(graph), indent_(2 * depth, ' '), depth_(depth), out_(out) {}

  void Run() {
    std::string captured;
    for (const auto& [id, name] : graph_.captured)
      absl::StrAppend(&captured, captured.empty() ? " captures " : ", ", name);
    Line("graph ", graph_.name, captured);
    for (const ValueId input : graph_.inputs) Line("  input ", Name(input), DeclaredText(At(input)));
    for (const Literal& literal : graph_.initializers) Line("  initializer ", literal.name, ": ", TensorText(literal));
    for (const Node& node : graph_.nodes) DumpNode(node);
    for (const ValueId output : graph_.outputs) Line("  output ", Name(output), DeclaredText(At(output)));
  }

 private:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&out_, indent_, absl::StrCat(parts...), "\n");
  }

  const Value& At(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  absl::string_view Name(ValueId id) const { return id == kNoValue ? absl::string_view("_") : At(id).name; }

  void DumpNode(const Node& node) {
    const auto made = [&](std::string* out, ValueId id) {
      absl::StrAppend(out, Name(id), id == kNoValue ? "" : DeclaredText(At(id)));
    };
    const auto used = [&](std::string* out, ValueId id) { absl::StrAppend(out, Name(id)); };
    const auto attribute = [](std::string* out, const Attribute& a) {
      absl::StrAppend(out, a.name, "=", AttributeText(a));
    };
    const std::string attributes = absl::StrJoin(node.attributes, ", ", attribute);
    Line("  ", absl::StrJoin(node.outputs, ", ", made), " = ", node.domain,
         node.domain.empty() ? "" : "::", node.op_type, attributes.empty() ? "" : absl::StrCat("<", attributes, ">"),
         "(", absl::StrJoin(node.inputs, ", ", used), ")",
         node.name.empty() ? "" : absl::StrCat(" \"", node.name, "\""),
         node.function < 0 ? "" : absl::StrCat(" from function ", node.function));
    for (const Attribute& a : node.attributes) {
      for (const auto& body : a.graphs) GraphDumper(*body, depth_ + 2, out_).Run();
    }
  }

  static std::string AttributeText(const Attribute& a) {
    using Kind = Attribute::Kind;
    if (!a.ref_attr.empty()) return absl::StrCat("@", a.ref_attr);
    switch (a.kind) {
      case Kind::kInt: return absl::StrCat(a.i);
      case Kind::kFloat: return absl::StrCat(a.f);
      case Kind::kString: return absl::StrCat("\"", a.s, "\"");
      case Kind::kInts: return ListText(a.ints);
      case Kind::kFloats: return ListText(a.floats);
      case Kind::kStrings: return absl::StrCat("{", absl::StrJoin(a.strings, ", ", QuoteString()), "}");
      case Kind::kTensor: return a.tensors.empty() ? "no tensor" : TensorText(a.tensors[0]);
      case Kind::kTensors: return absl::StrCat(a.tensors.size(), " tensors");
      case Kind::kGraph: return "graph";
      case Kind::kGraphs: return absl::StrCat(a.graphs.size(), " graphs");
      case Kind::kNone:
      case Kind::kOther: return "?";
    }
    return "?";
  }

  const Graph& graph_;
  const std::string indent_;
  const size_t depth_;
  std::string& out_;
};

}  // namespace

std::string Dump(const Graph& graph) {
  std::string out;
  GraphDumper(graph, 0, out).Run();
  return out;
}

std::string Dump(const Model& model) {
  std::string out = absl::StrCat("ir ", model.ir_version);
  for (const auto& [domain, version] : model.opsets) {
    absl::StrAppend(&out, ", opset ", domain, domain.empty() ? "" : " ", version);
  }
  absl::StrAppend(&out, "\n", Dump(model.graph));
  for (size_t i = 0; i < model.inlined_from.size(); ++i)
    absl::StrAppend(&out, "function ", i, ": ", model.inlined_from[i], "\n");
  for (const std::string& note : model.notes) absl::StrAppend(&out, "note: ", note, "\n");
  return out;
}

}  // namespace memcrest::onnx
