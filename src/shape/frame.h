// The state of one graph while its shapes are bound: a value per onnx::ValueId, sequences on the side.
//
// Takes: a graph. Gives: Frame (the top graph and each run of a sub-graph have one), Slot (a value on its way between
// frames), Session (what all frames of one binding share: opset, symbols, problems, tallies of assumptions).
// Frame::values never grows after construction, so references into it stay valid.
#ifndef MEMCREST_SHAPE_FRAME_H_
#define MEMCREST_SHAPE_FRAME_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/onnx/expand_control.h"
#include "src/onnx/model.h"
#include "src/shape/expression.h"
#include "src/shape/shapes.h"

namespace memcrest::shape {

enum class State : uint8_t {
  kUnset,
  kTensor,    // Frame::values holds it
  kSequence,  // a sequence, or an optional; Frame::sequences holds it
  kFailed,    // a problem was reported upstream
};

// A sequence of tensors, or an optional that is empty or holds one sequence. `items` are its tensors in order.
struct SequenceValue {
  std::vector<BoundValue> items;
  DType dtype = DType::kUndefined;
  bool length_known = true;  // else `items` are an upper bound
  bool empty_optional = false;
};
using Sequence = std::shared_ptr<const SequenceValue>;

struct Slot {
  State state = State::kUnset;
  BoundValue value;
  Sequence sequence;
};

struct Frame {
  Frame(const onnx::Graph& of, const Frame* enclosing)
      : graph(of), parent(enclosing), values(of.values.size()), states(of.values.size(), State::kUnset) {}

  Slot Get(onnx::ValueId id) const;
  void Set(onnx::ValueId id, Slot slot);
  void SetSequence(onnx::ValueId id, Sequence sequence);
  // A value of this or an enclosing graph by name, as a sub-graph captures it. kUnset if there is none.
  Slot GetByName(absl::string_view name) const;

  const onnx::Graph& graph;
  const Frame* parent;
  std::vector<BoundValue> values;
  std::vector<State> states;
  absl::flat_hash_map<onnx::ValueId, Sequence> sequences;

 private:
  mutable absl::flat_hash_map<absl::string_view, onnx::ValueId> names_;  // made on the first look-up by name
};

// How often an operator needed an assumption, and the first node that did.
struct Tally {
  int64_t count = 0;
  std::string first;
};

struct Session {
  Session(const onnx::Model& of, SymbolTable bound) : model(of), symbols(std::move(bound)), opset(of.Opset()) {}

  // Keeps the first kMostProblems in full and counts the rest.
  void Report(Problem problem);

  static constexpr size_t kMostProblems = 20;
  const onnx::Model& model;
  const SymbolTable symbols;
  const int64_t opset;
  std::vector<Problem> problems;
  int64_t more_problems = 0;
  std::map<std::string, Tally> without_rule;    // operator -> A0401
  std::map<std::string, Tally> data_dependent;  // operator -> A0402
  std::map<std::string, Tally> undetermined;    // operator -> A0403
  std::map<std::string, Tally> frozen;          // operator -> A0406
  std::vector<onnx::ControlChoice> control;     // of the top graph's If, Loop, Scan, in order
  int64_t body_nodes_left = 2'000'000;          // nodes that runs of sub-graph bodies may still visit
};

// Binds the initializers of `frame` and every node in order. Inputs and captured values must be set before.
void RunFrame(Session& session, Frame& frame);

// A literal's sizes, dtype and (small ones) host value. Float data beyond 64 elements is not copied.
BoundValue FromLiteral(const onnx::Literal& literal);

// Whether the element count and each size are within kMaxElements (beside a size of 0 anything may stand) and none is
// negative.
bool AreValidSizes(DimSpan sizes);

// Sizes of a declared shape whose symbols all have a value.
std::optional<Dims> DeclaredSizes(const onnx::Value& value, const SymbolTable& symbols);

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_FRAME_H_
