// ModelProto and the head of FunctionProto.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/onnx/decode.h"

namespace memcrest::onnx {
namespace {

class ModelDecoder {
 public:
  ModelDecoder(Context& context, Model& model, FunctionTable& functions)
      : context_(context), model_(model), functions_(functions) {}

  bool Decode() {
    if (!Fields()) return false;
    if (graphs_.empty()) {
      return context_.Fail("E0205", "the file holds no model graph", "",
                           "it is valid protobuf, but field 7 (ModelProto.graph) is missing",
                           "pass the .onnx file that the exporter wrote, not a part of it");
    }
    absl::string_view signature;
    if (!DecodeGraph(graphs_, {&functions_, 0, /*in_function=*/false}, context_, &model_.graph, &signature))
      return false;
    if (!signature.empty()) model_.graph_signature = signature;
    NoteVersions();
    return true;
  }

 private:
  bool Fields() {
    Cursor cursor(context_.file());
    while (cursor.Next()) {
      if (!Field(cursor)) return false;
    }
    if (cursor.ok()) return true;
    return cursor.fault() == WireFault::kCutField ? FailCut(cursor) : context_.FailWire(cursor, "ModelProto");
  }

  bool Field(const Cursor& cursor) {
    switch (cursor.tag()) {
      case VarintTag(1): model_.ir_version = cursor.integer(); return true;
      case BytesTag(2): model_.producer_name = cursor.bytes(); return true;
      case BytesTag(3): model_.producer_version = cursor.bytes(); return true;
      case BytesTag(7): graphs_.push_back(cursor.bytes()); return context_.Charge(sizeof(absl::string_view) * 2);
      case BytesTag(8): return AddOpset(cursor.bytes());
      case BytesTag(14): return AddMetadata(cursor.bytes());
      case BytesTag(20): context_.AddNote(Note::kTraining, {}); return true;
      case BytesTag(25): return AddFunction(cursor.bytes());
      default: return true;
    }
  }

  // The outermost field reaches beyond the end of the file: the usual sign of an interrupted download.
  bool FailCut(const Cursor& cursor) {
    return context_.FailAt(
        cursor.field(), "E0202", "the file is cut off",
        absl::StrCat("a field of ", cursor.stated_bytes(), " bytes begins here, but the file ends after ",
                     context_.file().size(), " bytes"),
        "download or copy the file again; with Git LFS: git lfs pull");
  }

  bool AddOpset(absl::string_view message) {
    std::pair<absl::string_view, int64_t> opset;
    if (!context_.Charge(sizeof opset * 2) || !DecodeOpset(message, context_, &opset)) return false;
    model_.opsets.push_back(opset);
    return true;
  }

  bool AddMetadata(absl::string_view message) {
    std::pair<absl::string_view, absl::string_view> entry;
    if (!DecodeEntry(message, context_, &entry)) return false;
    if (entry.first == kSignatureKey) model_.graph_signature = entry.second;
    return true;
  }

  bool AddFunction(absl::string_view message) {
    if (!context_.Charge(sizeof(Function) * 2 + 64)) return false;
    Function function;
    function.message = message;
    Cursor cursor(message);
    while (cursor.Next()) {
      switch (cursor.tag()) {
        case BytesTag(1): function.name = cursor.bytes(); break;
        case BytesTag(10): function.domain = NormalDomain(cursor.bytes()); break;
        case BytesTag(13): function.overload = cursor.bytes(); break;
        default: break;
      }
    }
    if (!cursor.ok()) return context_.FailWire(cursor, "FunctionProto");
    const absl::string_view name = function.name;
    if (functions_.Add(std::move(function))) return true;
    return context_.FailAt(message.data(), "E0214", absl::StrCat("function ", Quoted(name), " is defined twice"),
                           "domain, name and overload are the same", "export the model again");
  }

  void NoteVersions() {
    if (model_.ir_version > kLatestIrVersion) {
      model_.notes.push_back(absl::StrCat("IR version ", model_.ir_version, " is newer than the latest known (",
                                          kLatestIrVersion, "): new features are ignored"));
    }
    if (model_.ir_version <= 0) model_.notes.push_back("the file states no IR version");
    if (model_.opsets.empty()) model_.notes.push_back("the file imports no operator set");
  }

  Context& context_;
  Model& model_;
  FunctionTable& functions_;
  std::vector<absl::string_view> graphs_;
};

}  // namespace

bool DecodeModel(Context& context, Model* model, FunctionTable* functions) {
  return ModelDecoder(context, *model, *functions).Decode();
}

bool DecodeFunction(const FunctionTable& functions, Context& context, Function* function) {
  Cursor cursor(function->message);
  while (cursor.Next()) {
    if (cursor.tag() == BytesTag(11)) {
      Attribute parameter;
      if (!context.Charge(sizeof parameter * 2)) return false;
      if (!DecodeAttribute(cursor.bytes(), {&functions, 0, /*in_function=*/false}, function->name, context, &parameter))
        return false;
      function->defaults.emplace(parameter.name, std::move(parameter));
    } else if (cursor.tag() == BytesTag(9)) {
      if (!context.Charge(sizeof(function->opsets[0]) * 2)) return false;
      function->opsets.emplace_back();
      if (!DecodeOpset(cursor.bytes(), context, &function->opsets.back())) return false;
    }
  }
  if (!cursor.ok()) return context.FailWire(cursor, "FunctionProto");
  return DecodeFunctionBody(function->message, functions, context, &function->body);
}

}  // namespace memcrest::onnx
