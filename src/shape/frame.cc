#include "src/shape/frame.h"

#include <algorithm>
#include <utility>

#include "src/shape/rule.h"

namespace memcrest::shape {
namespace {

// Rule look-ups by op_type, one hash look-up per node; -> FindRule only for a new (op_type, domain).
class RuleCache {
 public:
  const Rule* Find(const onnx::Node& node) {
    if (!node.domain.empty()) return FindRule(node.op_type, node.domain);
    const auto [it, added] = rules_.try_emplace(node.op_type, nullptr);
    if (added) it->second = FindRule(node.op_type, "");
    return it->second;
  }

 private:
  absl::flat_hash_map<absl::string_view, const Rule*> rules_;
};

enum class Readiness { kReady, kFailed, kMissing };

// Whether every present input is bound. A sequence where the rule takes none counts as missing.
Readiness CheckInputs(const Frame& frame, const onnx::Node& node, const Rule* rule, bool* bounded) {
  Readiness readiness = Readiness::kReady;
  for (const onnx::ValueId id : node.inputs) {
    if (id == onnx::kNoValue) continue;
    const size_t i = static_cast<size_t>(id);
    if (frame.states[i] == State::kFailed) return Readiness::kFailed;
    const bool wrong_kind = frame.states[i] == State::kSequence && rule != nullptr && !rule->sequences;
    if (frame.states[i] == State::kUnset || wrong_kind) readiness = Readiness::kMissing;
    *bounded |= frame.values[i].upper_bound;
  }
  return readiness;
}

bool HasEnoughInputs(const RuleContext& context, const Rule& rule) {
  for (int i = 0; i < rule.min_inputs; ++i) {
    if (!context.Has(i)) return false;
  }
  return true;
}

void FailOutputs(Frame& frame, const onnx::Node& node) {
  for (const onnx::ValueId id : node.outputs) {
    if (id != onnx::kNoValue) frame.states[static_cast<size_t>(id)] = State::kFailed;
  }
}

// Outputs the rule left out get the fallback; bounded inputs make bounded outputs.
void Finish(RuleContext& context, Frame& frame, bool bounded) {
  for (int i = 0; i < context.outputs(); ++i) {
    if (!context.Wants(i)) continue;
    const size_t id = static_cast<size_t>(context.node().outputs[static_cast<size_t>(i)]);
    if (frame.states[id] == State::kUnset) context.FallbackFor(i);
    if (bounded) frame.values[id].upper_bound = true;
  }
}

void RunNode(RuleContext& context, Frame& frame, const onnx::Node& node, const Rule* rule) {
  bool bounded = false;
  context.Visit(node);
  const Readiness readiness = CheckInputs(frame, node, rule, &bounded);
  if (readiness == Readiness::kFailed) return FailOutputs(frame, node);
  if (readiness == Readiness::kMissing) {
    context.Fail("an input is not defined, or is a sequence where a tensor is needed");
    return;
  }
  if (rule == nullptr) {
    context.Fallback();
  } else if (!HasEnoughInputs(context, *rule)) {
    context.Fail("a required input is missing");
    return;
  } else {
    rule->function(context);
  }
  if (!context.failed()) Finish(context, frame, bounded);
}

}  // namespace

Slot Frame::Get(onnx::ValueId id) const {
  const size_t i = static_cast<size_t>(id);
  Slot slot = {states[i], {}, nullptr};
  if (slot.state == State::kTensor) slot.value = values[i];
  if (slot.state == State::kSequence) slot.sequence = sequences.at(id);
  return slot;
}

void Frame::Set(onnx::ValueId id, Slot slot) {
  if (slot.state == State::kSequence) return SetSequence(id, std::move(slot.sequence));
  const size_t i = static_cast<size_t>(id);
  states[i] = slot.state;
  values[i] = std::move(slot.value);
}

void Frame::SetSequence(onnx::ValueId id, Sequence sequence) {
  states[static_cast<size_t>(id)] = State::kSequence;
  sequences[id] = std::move(sequence);
}

Slot Frame::GetByName(absl::string_view name) const {
  if (names_.empty()) {
    for (size_t i = 0; i < graph.values.size(); ++i)
      names_.try_emplace(graph.values[i].name, static_cast<onnx::ValueId>(i));
  }
  const auto it = names_.find(name);
  if (it != names_.end()) return Get(it->second);
  return parent != nullptr ? parent->GetByName(name) : Slot{};
}

void Session::Report(Problem problem) {
  if (problems.size() < kMostProblems) {
    problems.push_back(std::move(problem));
  } else {
    ++more_problems;
  }
}

BoundValue FromLiteral(const onnx::Literal& literal) {
  constexpr size_t kMostFloats = 64;
  BoundValue value;
  value.known = true;
  value.dtype = literal.dtype;
  value.sizes = literal.dims;
  if (!literal.has_data) return value;
  if (IsIntegral(literal.dtype) || literal.dtype == DType::kBool) {
    value.has_ints = true;
    value.ints = literal.ints;
  } else if (IsFloating(literal.dtype) && literal.floats.size() <= kMostFloats) {
    value.has_floats = true;
    value.floats = literal.floats;
  }
  return value;
}

bool AreValidSizes(DimSpan sizes) {
  if (!CheckedNumElements(sizes).has_value()) return false;
  return std::all_of(sizes.begin(), sizes.end(), [](int64_t d) { return d <= kMaxElements; });
}

std::optional<Dims> DeclaredSizes(const onnx::Value& value, const SymbolTable& symbols) {
  if (!value.has_shape) return std::nullopt;
  Dims sizes;
  for (const onnx::SymDim& dim : value.shape) {
    const std::optional<int64_t> size = dim.known() ? dim.value : EvaluateExpression(dim.expr, symbols);
    if (!size.has_value() || *size < 0) return std::nullopt;
    sizes.push_back(*size);
  }
  if (!AreValidSizes(sizes)) return std::nullopt;
  return sizes;
}

void RunFrame(Session& session, Frame& frame) {
  const onnx::Graph& graph = frame.graph;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const int literal = graph.values[i].initializer;
    if (literal < 0 || frame.states[i] != State::kUnset) continue;
    frame.values[i] = FromLiteral(graph.initializers[static_cast<size_t>(literal)]);
    frame.states[i] = State::kTensor;
  }
  RuleCache rules;
  RuleContext context(session, frame);
  for (const onnx::Node& node : graph.nodes) RunNode(context, frame, node, rules.Find(node));
}

}  // namespace memcrest::shape
