// The messages of onnx.proto, decoded one function each.
//
// Takes: a message's bytes (views into the file).  Gives: the plain values of model.h. Guarantees: each returns false
// only after recording a Problem in the context; native recursion happens for sub-graphs only (kMaxGraphDepth).
// Internal to src/onnx.
#ifndef MEMCREST_ONNX_DECODE_H_
#define MEMCREST_ONNX_DECODE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/onnx/context.h"
#include "src/onnx/function_table.h"
#include "src/onnx/model.h"
#include "src/onnx/wire.h"

namespace memcrest::onnx {

// TensorProto, SparseTensorProto. `owner` is told in problems when the tensor has no name of its own.
bool DecodeTensor(absl::string_view message, absl::string_view owner, Context& context, Literal* literal);
bool DecodeSparseTensor(absl::string_view message, absl::string_view owner, Context& context, Literal* literal);

// ValueInfoProto: a name with its declared type; value->name is "" if the message has none.
bool DecodeValueInfo(absl::string_view message, Context& context, Value* value);

// The metadata entry (of the graph, or of the model) that names parameters, buffers and inputs of a dynamo export.
inline constexpr absl::string_view kSignatureKey = "pkg.torch.export.ExportedProgram.graph_signature";

// StringStringEntryProto: one metadata entry.
bool DecodeEntry(absl::string_view message, Context& context, std::pair<absl::string_view, absl::string_view>* entry);
// OperatorSetIdProto; the domain normalised.
bool DecodeOpset(absl::string_view message, Context& context, std::pair<absl::string_view, int64_t>* opset);

// "ai.onnx" to "".
absl::string_view NormalDomain(absl::string_view domain);
// A data type number of the file; kUndefined with a note if unknown.
DType DTypeOf(int64_t number, absl::string_view example, Context& context);

// What sub-graph decoding needs from around it.
struct Surroundings {
  const FunctionTable* functions;  // to mark calls
  int depth;                       // of the graph: 0 for the model's and for function bodies
  bool in_function;                // attributes may refer to the function's parameters
};
// AttributeProto. Sub-graphs come out complete, with `captured` filled.
bool DecodeAttribute(absl::string_view message, const Surroundings& around, absl::string_view owner, Context& context,
                     Attribute* attribute);

// GraphProto: one message, or several that protobuf would merge. With around.depth > 0 undefined names are captured;
// otherwise they are problems.
bool DecodeGraph(const std::vector<absl::string_view>& messages, const Surroundings& around, Context& context,
                 Graph* graph, absl::string_view* graph_signature);
// FunctionProto's nodes, as a graph without initializers.
bool DecodeFunctionBody(absl::string_view message, const FunctionTable& functions, Context& context, Graph* body);
// Everything of a FunctionProto beyond its identity.
bool DecodeFunction(const FunctionTable& functions, Context& context, Function* function);

// ModelProto, functions not yet inlined: calls are marked by CallMark() in Node::function.
bool DecodeModel(Context& context, Model* model, FunctionTable* functions);

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_DECODE_H_
