// ValueInfoProto, TypeProto and the small messages: declared types, metadata entries, operator sets.
#include "absl/strings/str_cat.h"
#include "src/onnx/decode.h"

namespace memcrest::onnx {
namespace {

constexpr int kMaxTypeDepth = 32;  // sequence of optional of ...: real files have two

bool DecodeDim(absl::string_view message, absl::string_view value_name, Context& context, SymDim* dim) {
  Cursor cursor(message);
  while (cursor.Next()) {
    if (cursor.tag() == VarintTag(1)) {
      *dim = SymDim{cursor.integer(), {}};
    } else if (cursor.tag() == BytesTag(2)) {
      *dim = SymDim{-1, cursor.bytes()};
    }
  }
  if (!cursor.ok()) return context.FailWire(cursor, "TensorShapeProto.Dimension");
  if (dim->value < 0 && dim->expr.empty()) {
    if (dim->value != -1) context.AddNote(Note::kNegativeSymDim, value_name);
    dim->value = -1;
  }
  return true;
}

bool DecodeShape(absl::string_view message, Context& context, Value* value) {
  value->has_shape = true;
  size_t rank = value->shape.size();
  for (Cursor count(message); count.Next();) rank += count.tag() == BytesTag(1) ? 1u : 0u;
  if (!context.Charge(static_cast<int64_t>(rank * sizeof(SymDim)))) return false;
  value->shape.reserve(rank);
  Cursor cursor(message);
  while (cursor.Next()) {
    if (cursor.tag() != BytesTag(1)) continue;
    value->shape.emplace_back();
    if (!DecodeDim(cursor.bytes(), value->name, context, &value->shape.back())) return false;
  }
  return cursor.ok() || context.FailWire(cursor, "TensorShapeProto");
}

// TypeProto.Tensor and TypeProto.SparseTensor.
bool DecodeTensorType(absl::string_view message, bool with_shape, Context& context, Value* value) {
  Cursor cursor(message);
  while (cursor.Next()) {
    if (cursor.tag() == VarintTag(1)) {
      value->dtype = DTypeOf(cursor.integer(), value->name, context);
    } else if (cursor.tag() == BytesTag(2) && with_shape) {
      if (!DecodeShape(cursor.bytes(), context, value)) return false;
    }
  }
  return cursor.ok() || context.FailWire(cursor, "TypeProto.Tensor");
}

// The message of field `number` inside `message`; empty if there is none.
bool FindField(absl::string_view message, uint32_t number, Context& context, absl::string_view* found) {
  Cursor cursor(message);
  while (cursor.Next()) {
    if (cursor.tag() == BytesTag(number)) *found = cursor.bytes();
  }
  return cursor.ok() || context.FailWire(cursor, "TypeProto");
}

// A tensor's type; of an optional the type of its content, of a sequence or map the dtype only (each element has its
// own shape).
bool DecodeType(absl::string_view message, Context& context, Value* value) {
  bool with_shape = true;
  for (int depth = 0; depth < kMaxTypeDepth; ++depth) {
    absl::string_view inner, element;
    uint32_t element_field = 0;
    Cursor cursor(message);
    while (cursor.Next()) {
      switch (cursor.tag()) {
        case BytesTag(1):
        case BytesTag(8):
          if (!DecodeTensorType(cursor.bytes(), with_shape, context, value)) return false;
          break;
        case BytesTag(4): inner = cursor.bytes(); element_field = 1; with_shape = false; break;  // sequence
        case BytesTag(5): inner = cursor.bytes(); element_field = 2; with_shape = false; break;  // map
        case BytesTag(9): inner = cursor.bytes(); element_field = 1; break;                      // optional
        default: break;
      }
    }
    if (!cursor.ok()) return context.FailWire(cursor, "TypeProto");
    if (element_field == 0) return true;
    if (!FindField(inner, element_field, context, &element)) return false;
    message = element;
  }
  return context.FailAt(message.data(), "E0206",
                        absl::StrCat("the type of ", Quoted(value->name), " is nested too deep"),
                        absl::StrCat("more than ", kMaxTypeDepth, " types inside each other"), "check the exporter");
}

}  // namespace

bool DecodeValueInfo(absl::string_view message, Context& context, Value* value) {
  absl::string_view type;
  Cursor cursor(message);
  while (cursor.Next()) {
    if (cursor.tag() == BytesTag(1)) value->name = cursor.bytes();
    if (cursor.tag() == BytesTag(2)) type = cursor.bytes();
  }
  if (!cursor.ok()) return context.FailWire(cursor, "ValueInfoProto");
  return type.empty() || DecodeType(type, context, value);
}

bool DecodeEntry(absl::string_view message, Context& context, std::pair<absl::string_view, absl::string_view>* entry) {
  Cursor cursor(message);
  while (cursor.Next()) {
    if (cursor.tag() == BytesTag(1)) entry->first = cursor.bytes();
    if (cursor.tag() == BytesTag(2)) entry->second = cursor.bytes();
  }
  return cursor.ok() || context.FailWire(cursor, "StringStringEntryProto");
}

bool DecodeOpset(absl::string_view message, Context& context, std::pair<absl::string_view, int64_t>* opset) {
  Cursor cursor(message);
  while (cursor.Next()) {
    if (cursor.tag() == BytesTag(1)) opset->first = NormalDomain(cursor.bytes());
    if (cursor.tag() == VarintTag(2)) opset->second = cursor.integer();
  }
  return cursor.ok() || context.FailWire(cursor, "OperatorSetIdProto");
}

absl::string_view NormalDomain(absl::string_view domain) { return domain == "ai.onnx" ? absl::string_view() : domain; }

DType DTypeOf(int64_t number, absl::string_view example, Context& context) {
  if (number >= 0 && number < kDTypeCount) return static_cast<DType>(number);
  context.AddNote(Note::kUnknownDType, example);
  return DType::kUndefined;
}

}  // namespace memcrest::onnx
