// TensorProto and SparseTensorProto: dims and dtype always, elements of small tensors only.
#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/onnx/decode.h"
#include "src/onnx/elements.h"

namespace memcrest::onnx {
namespace {

constexpr int64_t kDimCost = 56;  // in the literal, twice while that grows, and in the value's shape

// What a TensorProto says beside what a Literal keeps.
struct Stored {
  absl::string_view message;
  absl::string_view raw;
  int64_t data_type = 0;
  bool external = false;
  int64_t external_bytes = -1;  // as stated; -1 if not
};

std::string NameIn(const Literal& literal, absl::string_view owner) {
  return literal.name.empty() ? absl::StrCat("a tensor of ", owner) : absl::StrCat("tensor ", Quoted(literal.name));
}

bool ReadPackedDims(absl::string_view packed, Context& context, Literal* literal) {
  Cursor cursor(packed);
  while (!cursor.at_end()) {
    uint64_t dim = 0;
    if (!cursor.ReadVarint(&dim)) return context.FailWire(cursor, "TensorProto");
    if (!context.Charge(kDimCost)) return false;
    literal->dims.push_back(static_cast<int64_t>(dim));
  }
  return true;
}

bool ReadExternalEntry(absl::string_view message, Context& context, Stored* stored) {
  std::pair<absl::string_view, absl::string_view> entry;
  if (!DecodeEntry(message, context, &entry)) return false;
  int64_t length = 0;
  if (entry.first == "length" && absl::SimpleAtoi(entry.second, &length) && length >= 0)
    stored->external_bytes = length;
  stored->external = true;
  return true;
}

bool ReadField(const Cursor& cursor, Context& context, Literal* literal, Stored* stored) {
  switch (cursor.tag()) {
    case VarintTag(1): literal->dims.push_back(cursor.integer()); return context.Charge(kDimCost);
    case BytesTag(1): return ReadPackedDims(cursor.bytes(), context, literal);
    case VarintTag(2): stored->data_type = cursor.integer(); return true;
    case BytesTag(8): literal->name = cursor.bytes(); return true;
    case BytesTag(9): stored->raw = cursor.bytes(); return true;
    case BytesTag(13): return ReadExternalEntry(cursor.bytes(), context, stored);
    case VarintTag(14): stored->external |= cursor.number() == 1; return true;
    default: return true;  // elements are read later, if at all
  }
}

bool ReadFields(absl::string_view message, Context& context, Literal* literal, Stored* stored) {
  stored->message = message;
  Cursor cursor(message);
  while (cursor.Next()) {
    if (!ReadField(cursor, context, literal, stored)) return false;
  }
  return cursor.ok() || context.FailWire(cursor, "TensorProto");
}

// The number of elements; nullopt after recording a Problem.
std::optional<int64_t> CountElements(const Literal& literal, absl::string_view owner, const char* at,
                                     Context& context) {
  const std::optional<int64_t> elements = CheckedNumElements(literal.dims);
  if (elements.has_value()) return elements;
  const bool negative = std::any_of(literal.dims.begin(), literal.dims.end(), [](int64_t d) { return d < 0; });
  const size_t shown = std::min<size_t>(literal.dims.size(), 8);
  context.FailAt(
      at, "E0210", absl::StrCat(NameIn(literal, owner), " has impossible dimensions"),
      absl::StrCat(ToText(DimSpan(literal.dims).subspan(0, shown)), shown < literal.dims.size() ? "x..." : "",
                   negative ? ": a stored tensor cannot have a negative one" : ": more elements than any memory holds"),
      "export or download the file again");
  return std::nullopt;
}

// The typed field that holds elements of a dtype where raw_data is not used (onnx.proto, TensorProto).
uint32_t TypedField(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return 4;
    case DType::kFloat64: return 10;
    case DType::kInt64: return 7;
    case DType::kUInt32:
    case DType::kUInt64: return 11;
    default: return 5;  // int32_data: bit patterns of everything small
  }
}

class ElementReader {
 public:
  ElementReader(Literal& literal, int64_t elements)
      : literal_(literal), elements_(elements), units_left_(UnitsOf(literal.dtype, elements)) {
    (IsFloating(literal.dtype) ? literal.floats.reserve(static_cast<size_t>(elements))
                               : literal.ints.reserve(static_cast<size_t>(elements)));
  }

  void ReadRaw(absl::string_view raw) {
    const size_t width = static_cast<size_t>(BytesOf(literal_.dtype));
    for (size_t i = 0; i + width <= raw.size(); i += width) Take(LittleEndian(raw.substr(i, width)));
  }

  // All chunks and single entries of the typed field.
  bool ReadTyped(absl::string_view message, Context& context) {
    const uint32_t field = TypedField(literal_.dtype);
    Cursor cursor(message);
    while (cursor.Next()) {
      if (cursor.tag() >> 3 != field) continue;
      if (cursor.type() != WireType::kBytes) {
        Take(cursor.number());
      } else if (!ReadPacked(cursor.bytes(), context)) {
        return false;
      }
    }
    return true;
  }

  bool complete() const { return units_left_ == 0; }
  bool empty() const { return literal_.ints.empty() && literal_.floats.empty(); }

 private:
  static uint64_t LittleEndian(absl::string_view bytes) {
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes.size(); ++i) bits |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
    return bits;
  }

  void Take(uint64_t bits) {
    if (units_left_-- > 0) AppendUnit(bits, elements_, literal_);
  }

  bool ReadPacked(absl::string_view packed, Context& context) {
    const DType dtype = literal_.dtype;
    if (dtype == DType::kFloat32 || dtype == DType::kFloat64) {
      if (packed.size() % static_cast<size_t>(BytesOf(dtype)) != 0) --units_left_;  // cannot be complete any more
      ReadRaw(packed);
      return true;
    }
    Cursor cursor(packed);
    while (!cursor.at_end() && units_left_ >= 0) {
      uint64_t bits = 0;
      if (!cursor.ReadVarint(&bits)) return context.FailWire(cursor, "TensorProto");
      Take(bits);
    }
    return true;
  }

  Literal& literal_;
  int64_t elements_;
  int64_t units_left_;  // below 0: the file holds too many
};

bool Contradiction(const Literal& literal, absl::string_view owner, const Stored& stored, Context& context) {
  return context.FailAt(
      stored.message.data(), "E0211",
      absl::StrCat(NameIn(literal, owner), " stores another number of elements than its shape has"),
      absl::StrCat("shape ", ToText(literal.dims), " of ", NameOf(literal.dtype), " needs ",
                   UnitsOf(literal.dtype, NumElements(literal.dims)) * BytesOf(literal.dtype), " bytes"),
      "export or download the file again");
}

bool ReadElements(absl::string_view owner, const Stored& stored, int64_t elements, Context& context, Literal* literal) {
  if (!context.ChargeLiteral(elements * 8)) {
    context.AddNote(Note::kLiteralsDropped, literal->name);
    return true;
  }
  ElementReader reader(*literal, elements);
  if (!stored.raw.empty()) {
    reader.ReadRaw(stored.raw);
  } else if (!reader.ReadTyped(stored.message, context)) {
    return false;
  }
  literal->has_data = reader.complete();
  if (literal->has_data || reader.empty()) return true;  // no elements at all: stripped, which is fine
  return Contradiction(*literal, owner, stored, context);
}

bool CheckStoredBytes(absl::string_view owner, const Stored& stored, int64_t elements, Context& context,
                      Literal* literal) {
  literal->stored_bytes =
      stored.external ? std::max<int64_t>(stored.external_bytes, 0) : static_cast<int64_t>(stored.raw.size());
  const int64_t expected = StoredBytes(literal->dtype, elements);
  if (literal->stored_bytes == 0 || BitsOf(literal->dtype) == 0 || literal->stored_bytes == expected) return true;
  if (!stored.external && elements <= kLiteralElements) return Contradiction(*literal, owner, stored, context);
  context.AddNote(Note::kStoredBytes, literal->name);
  return true;
}

bool FinishTensor(const Stored& stored, absl::string_view owner, Context& context, Literal* literal) {
  const std::optional<int64_t> elements = CountElements(*literal, owner, stored.message.data(), context);
  if (!elements.has_value()) return false;
  literal->dtype = DTypeOf(stored.data_type, literal->name, context);
  if (stored.data_type == 0) context.AddNote(Note::kUnknownDType, literal->name);
  if (!CheckStoredBytes(owner, stored, *elements, context, literal)) return false;
  if (stored.external || *elements > kLiteralElements || !HasElements(literal->dtype)) return true;
  return ReadElements(owner, stored, *elements, context, literal);
}

}  // namespace

bool DecodeTensor(absl::string_view message, absl::string_view owner, Context& context, Literal* literal) {
  Stored stored;
  return ReadFields(message, context, literal, &stored) && FinishTensor(stored, owner, context, literal);
}

bool DecodeSparseTensor(absl::string_view message, absl::string_view owner, Context& context, Literal* literal) {
  Stored values, dense;
  Cursor cursor(message);
  Literal shape;
  while (cursor.Next()) {
    if (cursor.tag() == BytesTag(1)) {
      if (!ReadFields(cursor.bytes(), context, literal, &values)) return false;
    } else if (cursor.tag() == BytesTag(3)) {
      if (!ReadPackedDims(cursor.bytes(), context, &shape)) return false;
    } else if (cursor.tag() == VarintTag(3)) {
      shape.dims.push_back(cursor.integer());
      if (!context.Charge(kDimCost)) return false;
    }
  }
  if (!cursor.ok()) return context.FailWire(cursor, "SparseTensorProto");
  context.AddNote(Note::kSparse, literal->name);
  literal->dims = shape.dims;
  dense.message = message;
  dense.data_type = values.data_type;
  dense.external = true;  // no elements: the values alone do not make the tensor
  return FinishTensor(dense, owner, context, literal);
}

}  // namespace memcrest::onnx
