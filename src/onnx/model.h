// An ONNX file as plain values: structure, names, attributes and metadata, never weight bytes.
//
// Gives: Model (graph, opsets, exporter metadata). Strings are views into `backing`, which the Model keeps alive.
// Initializers carry dims and dtype; data is kept only for small integer/float literals (<= kLiteralElements), which
// shape arithmetic and scalar arguments need. External data is never opened. Values are dense ids inside their graph.
#ifndef MEMCREST_ONNX_MODEL_H_
#define MEMCREST_ONNX_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/base/dims.h"
#include "src/base/dtype.h"

namespace memcrest::onnx {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;           // an absent optional input or output ("")
inline constexpr int64_t kLiteralElements = 4096;  // largest literal whose data is kept

// One declared dimension: a number, or a symbol/expression ("batch", "8*(((height - 1)//8)) + 8"); both empty: unknown.
struct SymDim {
  int64_t value = -1;      // >= 0 when known
  absl::string_view expr;  // when value < 0; may be empty
  bool known() const { return value >= 0; }
};
using SymShape = std::vector<SymDim>;

// A tensor stored in the file: an initializer, a Constant's value or an attribute.
struct Literal {
  absl::string_view name;
  DType dtype = DType::kUndefined;
  Dims dims;
  bool has_data = false;         // the elements below are present
  std::vector<int64_t> ints;     // integer and bool dtypes
  std::vector<double> floats;    // floating dtypes
  int64_t stored_bytes = 0;      // length of raw data or external data as stated, 0 if neither
};

struct Graph;

struct Attribute {
  enum class Kind : uint8_t {
    kNone,
    kInt,
    kFloat,
    kString,
    kInts,
    kFloats,
    kStrings,
    kTensor,
    kTensors,
    kGraph,
    kGraphs,
    kOther
  };
  absl::string_view name;
  Kind kind = Kind::kNone;
  int64_t i = 0;
  double f = 0;
  absl::string_view s;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<absl::string_view> strings;
  std::vector<Literal> tensors;                // kTensor: one
  std::vector<std::shared_ptr<Graph>> graphs;  // kGraph: one
  absl::string_view ref_attr;                  // inside functions: the parameter it refers to
};

// What PyTorch's dynamo exporter notes on each node (keys "pkg.torch.onnx.*"); empty views elsewhere.
struct ExporterNotes {
  absl::string_view
      fx_node;  // "%linear : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = ...)"
  absl::string_view name_scopes;      // "['', 'model', 'model.fc', 'linear']"
  absl::string_view class_hierarchy;  // "['Net', 'torch.nn.modules.linear.Linear', 'aten.linear.default']"
  absl::string_view stack_trace;
  absl::string_view rule_name;        // pkg.onnxscript.rewriter.rule_name
};

struct Node {
  absl::string_view op_type;
  absl::string_view domain;  // "" for ai.onnx (also when the file spells "ai.onnx")
  absl::string_view name;
  std::vector<ValueId> inputs;   // kNoValue where absent
  std::vector<ValueId> outputs;  // kNoValue where absent
  std::vector<Attribute> attributes;
  ExporterNotes notes;
  int function = -1;  // index into Model::inlined_from if the node came out of a function body

  const Attribute* Find(absl::string_view attribute) const;  // nullptr if absent
  int64_t Int(absl::string_view attribute, int64_t otherwise) const;
  double Float(absl::string_view attribute, double otherwise) const;
  absl::string_view String(absl::string_view attribute, absl::string_view otherwise) const;
  const std::vector<int64_t>* Ints(absl::string_view attribute) const;  // nullptr if absent
};

struct Value {
  absl::string_view name;
  DType dtype = DType::kUndefined;  // declared, kUndefined if not
  bool has_shape = false;           // a rank is declared (perhaps wrongly: truth/SEMANTICS.md 13e)
  SymShape shape;
  int node = -1;         // index of the defining node; -1 for inputs, initializers and captured values
  int initializer = -1;  // index into Graph::initializers; -1 if none
  bool is_input = false;
};

struct Graph {
  absl::string_view name;
  std::vector<Value> values;
  std::vector<Node> nodes;  // topological order (repaired if the file's is not)
  std::vector<Literal> initializers;
  std::vector<ValueId> inputs;   // without those that are also initializers
  std::vector<ValueId> outputs;  // may repeat a value
  // Sub-graph bodies: values of enclosing graphs by name: (local id, name). Empty for the top graph. Each name is a
  // value of the graph around this one, which captures it in turn if it comes from further out.
  std::vector<std::pair<ValueId, absl::string_view>> captured;

  ValueId Find(absl::string_view value_name) const;  // linear; for tests and messages
};

struct Model {
  int64_t ir_version = 0;
  std::vector<std::pair<absl::string_view, int64_t>> opsets;  // domain -> version; "" for ai.onnx
  absl::string_view producer_name, producer_version;
  Graph graph;
  absl::string_view graph_signature;  // pkg.torch.export.ExportedProgram.graph_signature
  std::vector<std::string> notes;     // repairs made while reading ("nodes were not in topological order: sorted")
  std::vector<absl::string_view> inlined_from;
  std::vector<std::shared_ptr<const void>> backing;  // the mapped file and strings made while reading

  int64_t Opset(absl::string_view domain = "") const;  // 0 if the domain is not imported
};

}  // namespace memcrest::onnx

#endif  // MEMCREST_ONNX_MODEL_H_
