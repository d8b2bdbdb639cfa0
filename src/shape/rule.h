// What a shape rule sees of a node, and the table of rules.
//
// Takes: a node whose inputs are bound. Gives: RuleContext (inputs, host values, attributes; setting outputs; failing)
// and FindRule. A rule is a plain function; families list theirs in a constexpr table (rules_<family>.cc), so that an
// operator is one line and one function. Rules may assume `min_inputs` present inputs that are tensors; sequences only
// where they say so. Outputs that a rule does not set fall back to the declared sizes, else to those of the first
// input, and are told (A0401).
#ifndef MEMCREST_SHAPE_RULE_H_
#define MEMCREST_SHAPE_RULE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "src/base/dims.h"
#include "src/base/dtype.h"
#include "src/onnx/model.h"
#include "src/shape/frame.h"
#include "src/shape/shapes.h"

namespace memcrest::shape {

// A list of integers from an input or an attribute.
struct IntList {
  bool present = false;  // the input or the attribute is there
  bool known = false;    // its elements are known before the run
  absl::Span<const int64_t> values;
};

class RuleContext {
 public:
  RuleContext(Session& session, Frame& frame) : session_(session), frame_(frame) {}
  void Visit(const onnx::Node& node);

  const onnx::Node& node() const { return *node_; }
  int64_t opset() const { return session_.opset; }
  Session& session() { return session_; }
  const Frame& frame() const { return frame_; }

  int inputs() const { return static_cast<int>(node_->inputs.size()); }
  int outputs() const { return static_cast<int>(node_->outputs.size()); }
  bool Has(int input) const { return input < inputs() && node_->inputs[static_cast<size_t>(input)] != onnx::kNoValue; }
  bool Wants(int output) const {
    return output < outputs() && node_->outputs[static_cast<size_t>(output)] != onnx::kNoValue;
  }
  // An absent input is a value with known = false.
  const BoundValue& In(int input) const;
  const Dims& Sizes(int input) const { return In(input).sizes; }
  int Rank(int input) const { return static_cast<int>(In(input).sizes.size()); }
  DType Type(int input) const { return In(input).dtype; }
  Slot InSlot(int input) const;
  bool IsSequence(int input) const;

  // Host elements of `input`; where it is absent, the attribute. Valid until outputs are set.
  IntList Ints(int input, absl::string_view attribute = "") const;
  // The only element of an integer input.
  std::optional<int64_t> Scalar(int input) const;

  // Sets output `i`. Sizes that are negative or too many elements are reported (E0402/E0403) and fail the output. The
  // returned value takes host elements; it is a scratch value if the node has no such output.
  BoundValue& Out(int i, DType dtype, Dims sizes);
  // Output 0 has the sizes of input `like`.
  BoundValue& Same(int like = 0) { return Out(0, Type(like), Sizes(like)); }
  void OutSlot(int i, Slot slot);
  void OutSequence(int i, Sequence sequence);
  // As Out, for sizes that depend on data and are the largest possible (A0402).
  BoundValue& Bounded(int i, DType dtype, Dims largest);
  // As Out, for sizes that nothing bounds before the run: the declared ones if they can be evaluated, else `guess`
  // (A0403).
  BoundValue& Undetermined(int i, DType dtype, Dims guess);
  // Notes which branch or how many trips of this If, Loop or Scan run; only told of the top graph.
  void NoteControl(int64_t count, bool known) const;
  // Notes that a size frozen by the exporter was recomputed (A0406).
  void CountFrozen() const { Count(session_.frozen); }
  // The result is as for an operator without rule: declared sizes, else those of input 0 (A0401).
  void Fallback();
  void FallbackFor(int i);

  // Reports E0403 for this node and fails its outputs. Always returns false.
  bool Fail(std::string why);
  bool failed() const { return failed_; }
  // axis in [-rank, rank) as [0, rank); fails the node otherwise.
  bool Axis(int64_t axis, int rank, int* normal);

  // Runs a sub-graph with `arguments` as its inputs. False (after reporting) if the body cannot be run.
  bool RunBody(const onnx::Graph& body, const std::vector<Slot>& arguments, std::vector<Slot>* results);

 private:
  std::optional<Dims> Declared(int i) const;
  std::string Where() const;
  std::string InputsText() const;
  void Count(std::map<std::string, Tally>& tallies) const;

  Session& session_;
  Frame& frame_;
  const onnx::Node* node_ = nullptr;
  bool failed_ = false;
  BoundValue scratch_;
};

using RuleFunction = void (*)(RuleContext&);
struct Rule {
  absl::string_view op_type;
  RuleFunction function = nullptr;
  int min_inputs = 1;      // inputs that must be there
  bool sequences = false;  // takes inputs that are sequences
};

// nullptr if there is none. Domains: "", com.microsoft, ai.onnx.ml, ai.onnx.preview*; the first two also look in one
// another's table (ONNX Runtime puts contributed operators into both).
const Rule* FindRule(absl::string_view op_type, absl::string_view domain);

// The tables of the families.
absl::Span<const Rule> PointwiseRules();
absl::Span<const Rule> MatMulRules();
absl::Span<const Rule> ConvRules();
absl::Span<const Rule> NormRules();
absl::Span<const Rule> RecurrentRules();
absl::Span<const Rule> AttentionRules();
absl::Span<const Rule> ResizeRules();
absl::Span<const Rule> SignalRules();
absl::Span<const Rule> ReshapeRules();
absl::Span<const Rule> SliceRules();
absl::Span<const Rule> IndexRules();
absl::Span<const Rule> CreateRules();
absl::Span<const Rule> ReduceRules();
absl::Span<const Rule> QuantRules();
absl::Span<const Rule> ControlRules();
absl::Span<const Rule> SequenceRules();
absl::Span<const Rule> TextRules();
absl::Span<const Rule> MlRules();
absl::Span<const Rule> ContribRules();
absl::Span<const Rule> ContribAttentionRules();
absl::Span<const Rule> PreviewRules();

}  // namespace memcrest::shape

#endif  // MEMCREST_SHAPE_RULE_H_
