// AttributeProto: one argument of a node, with its tensors and sub-graphs.
#include <array>
#include <memory>

#include "absl/strings/str_cat.h"
#include "src/onnx/decode.h"
#include "src/onnx/graph_builder.h"

namespace memcrest::onnx {
namespace {

using Kind = Attribute::Kind;
// AttributeProto.AttributeType, by number.
constexpr std::array<Kind, 15> kKinds = {Kind::kNone,    Kind::kFloat,   Kind::kInt,    Kind::kString, Kind::kTensor,
                                         Kind::kGraph,   Kind::kFloats,  Kind::kInts,   Kind::kStrings, Kind::kTensors,
                                         Kind::kGraphs,  Kind::kOther,   Kind::kOther,  Kind::kOther,  Kind::kOther};

// The kind that a payload field implies, for files older than the `type` field; kNone for fields without a payload.
Kind KindOfField(uint32_t number) {
  switch (number) {
    case 2: return Kind::kFloat;
    case 3: return Kind::kInt;
    case 4: return Kind::kString;
    case 5: return Kind::kTensor;
    case 6: return Kind::kGraph;
    case 7: return Kind::kFloats;
    case 8: return Kind::kInts;
    case 9: return Kind::kStrings;
    case 10: return Kind::kTensors;
    case 11: return Kind::kGraphs;
    case 14:
    case 15:
    case 22:
    case 23: return Kind::kOther;
    default: return Kind::kNone;
  }
}

class AttributeDecoder {
 public:
  AttributeDecoder(const Surroundings& around, absl::string_view owner, Context& context, Attribute& out)
      : around_(around), owner_(owner), context_(context), out_(out) {}

  bool Decode(absl::string_view message) {
    if (!Reserve(message)) return false;
    Cursor cursor(message);
    Kind implied = Kind::kNone;
    while (cursor.Next()) {
      if (!Field(cursor)) return false;
      if (const Kind kind = KindOfField(cursor.tag() >> 3); kind != Kind::kNone) implied = kind;
    }
    if (!cursor.ok()) return context_.FailWire(cursor, "AttributeProto");
    if (out_.kind == Kind::kNone && out_.ref_attr.empty()) out_.kind = implied;
    if (out_.name.empty()) return Fail(message, "an attribute has no name");
    if (!out_.ref_attr.empty()) {
      return around_.in_function ||
             Fail(message, absl::StrCat("attribute ", Quoted(out_.name), " refers to a parameter outside a function"));
    }
    const bool one_tensor = out_.kind != Kind::kTensor || out_.tensors.size() == 1;
    const bool one_graph = out_.kind != Kind::kGraph || out_.graphs.size() == 1;
    return (one_tensor && one_graph) ||
           Fail(message, absl::StrCat("attribute ", Quoted(out_.name), " lacks its value"));
  }

 private:
  bool Fail(absl::string_view message, absl::string_view what) {
    return context_.FailAt(message.data(), "E0212", what, absl::StrCat("it belongs to a ", Quoted(owner_)),
                           "export the model again");
  }

  // Counts repeated entries first, so that vectors are allocated once.
  bool Reserve(absl::string_view message) {
    size_t ints = 0, floats = 0, strings = 0;
    for (Cursor cursor(message); cursor.Next();) {
      switch (cursor.tag()) {
        case Tag(7, WireType::kFixed32): ++floats; break;
        case BytesTag(7): floats += cursor.bytes().size() / 4; break;
        case VarintTag(8): ++ints; break;
        case BytesTag(8): ints += static_cast<size_t>(CountVarints(cursor.bytes())); break;
        case BytesTag(9): ++strings; break;
        default: break;
      }
    }
    if (!context_.Charge(static_cast<int64_t>((ints + floats) * 8 + strings * sizeof(absl::string_view)))) return false;
    out_.ints.reserve(ints);
    out_.floats.reserve(floats);
    out_.strings.reserve(strings);
    return true;
  }

  bool Field(const Cursor& cursor) {
    switch (cursor.tag()) {
      case BytesTag(1): out_.name = cursor.bytes(); return true;
      case BytesTag(21): out_.ref_attr = cursor.bytes(); return true;
      case VarintTag(20): out_.kind = KindOf(cursor.number()); return true;
      case Tag(2, WireType::kFixed32): out_.f = static_cast<double>(cursor.AsFloat()); return true;
      case VarintTag(3): out_.i = cursor.integer(); return true;
      case BytesTag(4): out_.s = cursor.bytes(); return true;
      case Tag(7, WireType::kFixed32): out_.floats.push_back(static_cast<double>(cursor.AsFloat())); return true;
      case BytesTag(7): return PackedFloats(cursor.bytes());
      case VarintTag(8): out_.ints.push_back(cursor.integer()); return true;
      case BytesTag(8): return PackedInts(cursor.bytes());
      case BytesTag(9): out_.strings.push_back(cursor.bytes()); return true;
      case BytesTag(5):
      case BytesTag(10): return AddTensor(cursor.bytes());
      case BytesTag(6):
      case BytesTag(11): return AddGraph(cursor.bytes());
      default: return true;
    }
  }

  static Kind KindOf(uint64_t type) { return type < kKinds.size() ? kKinds[static_cast<size_t>(type)] : Kind::kOther; }

  bool PackedFloats(absl::string_view packed) {
    for (size_t i = 0; i + 4 <= packed.size(); i += 4) {
      float f;
      std::memcpy(&f, packed.data() + i, sizeof f);
      out_.floats.push_back(static_cast<double>(f));
    }
    return true;
  }

  bool PackedInts(absl::string_view packed) {
    Cursor cursor(packed);
    while (!cursor.at_end()) {
      uint64_t value = 0;
      if (!cursor.ReadVarint(&value)) return context_.FailWire(cursor, "AttributeProto");
      out_.ints.push_back(static_cast<int64_t>(value));
    }
    return true;
  }

  bool AddTensor(absl::string_view message) {
    if (!context_.Charge(sizeof(Literal) + 32)) return false;
    return DecodeTensor(message, owner_, context_, &out_.tensors.emplace_back());
  }

  bool AddGraph(absl::string_view message) {
    if (around_.depth >= kMaxGraphDepth) {
      return context_.FailAt(message.data(), "E0206", "sub-graphs are nested too deep",
                             absl::StrCat("more than ", kMaxGraphDepth, " If, Loop or Scan bodies inside each other"),
                             "export the model with fewer nested control-flow operators");
    }
    if (!context_.Charge(sizeof(Graph) + 64)) return false;
    const auto graph = std::make_shared<Graph>();
    out_.graphs.push_back(graph);
    absl::string_view ignored_signature;
    return DecodeGraph({message}, {around_.functions, around_.depth + 1, around_.in_function}, context_, graph.get(),
                       &ignored_signature);
  }

  const Surroundings& around_;
  absl::string_view owner_;
  Context& context_;
  Attribute& out_;
};

}  // namespace

bool DecodeAttribute(absl::string_view message, const Surroundings& around, absl::string_view owner, Context& context,
                     Attribute* attribute) {
  return AttributeDecoder(around, owner, context, *attribute).Decode(message);
}

}  // namespace memcrest::onnx
