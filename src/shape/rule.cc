#include "src/shape/rule.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace memcrest::shape {
namespace {

const BoundValue kAbsent;

std::string SizesText(const BoundValue& value) {
  return absl::StrCat(NameOf(value.dtype), "[", absl::string_view(ToText(value.sizes)), "]");
}

}  // namespace

void RuleContext::Visit(const onnx::Node& node) {
  node_ = &node;
  failed_ = false;
}

const BoundValue& RuleContext::In(int input) const {
  return Has(input) ? frame_.values[static_cast<size_t>(node_->inputs[static_cast<size_t>(input)])] : kAbsent;
}

Slot RuleContext::InSlot(int input) const {
  return Has(input) ? frame_.Get(node_->inputs[static_cast<size_t>(input)]) : Slot{};
}

bool RuleContext::IsSequence(int input) const {
  if (!Has(input)) return false;
  return frame_.states[static_cast<size_t>(node_->inputs[static_cast<size_t>(input)])] == State::kSequence;
}

IntList RuleContext::Ints(int input, absl::string_view attribute) const {
  IntList list;
  if (Has(input)) {
    const BoundValue& value = In(input);
    list = {true, value.has_ints || NumElements(value.sizes) == 0, value.ints};
  } else if (const std::vector<int64_t>* ints = attribute.empty() ? nullptr : node_->Ints(attribute); ints != nullptr) {
    list = {true, true, *ints};
  }
  return list;
}

std::optional<int64_t> RuleContext::Scalar(int input) const {
  const BoundValue& value = In(input);
  if (!value.has_ints || value.ints.size() != 1) return std::nullopt;
  return value.ints[0];
}

BoundValue& RuleContext::Out(int i, DType dtype, Dims sizes) {
  BoundValue* value = &scratch_;
  if (Wants(i)) {
    const size_t id = static_cast<size_t>(node_->outputs[static_cast<size_t>(i)]);
    value = &frame_.values[id];
    if (!failed_) frame_.states[id] = State::kTensor;
  }
  value->known = true;
  value->has_ints = value->has_floats = value->upper_bound = false;
  value->dtype = dtype;
  value->sizes = std::move(sizes);
  value->ints.clear();
  value->floats.clear();
  if (AreValidSizes(value->sizes)) return *value;
  const bool negative = std::any_of(value->sizes.begin(), value->sizes.end(), [](int64_t d) { return d < 0; });
  if (negative) {
    Fail(absl::StrCat("the result would have a negative size: ", ToText(value->sizes)));
  } else if (!failed_) {
    const std::string text = ToText(value->sizes);
    Fail("");
    session_.Report({"E0402", absl::StrCat(node_->op_type, ": a result of ", text, " elements is too large"), Where(),
                     InputsText(), "check the numbers given to --bind and --input"});
  }
  value->sizes.clear();
  return *value;
}

void RuleContext::OutSlot(int i, Slot slot) {
  if (Wants(i)) frame_.Set(node_->outputs[static_cast<size_t>(i)], std::move(slot));
}

void RuleContext::OutSequence(int i, Sequence sequence) {
  if (Wants(i)) frame_.SetSequence(node_->outputs[static_cast<size_t>(i)], std::move(sequence));
}

BoundValue& RuleContext::Bounded(int i, DType dtype, Dims largest) {
  if (Wants(i)) Count(session_.data_dependent);
  BoundValue& value = Out(i, dtype, std::move(largest));
  value.upper_bound = true;
  return value;
}

BoundValue& RuleContext::Undetermined(int i, DType dtype, Dims guess) {
  if (Wants(i)) Count(session_.undetermined);
  std::optional<Dims> declared = Declared(i);
  return Out(i, dtype, declared.has_value() ? *std::move(declared) : std::move(guess));
}

std::optional<Dims> RuleContext::Declared(int i) const {
  if (!Wants(i)) return std::nullopt;
  const onnx::ValueId id = node_->outputs[static_cast<size_t>(i)];
  return DeclaredSizes(frame_.graph.values[static_cast<size_t>(id)], session_.symbols);
}

void RuleContext::FallbackFor(int i) {
  Count(session_.without_rule);
  const onnx::ValueId id = node_->outputs[static_cast<size_t>(i)];
  const DType declared = frame_.graph.values[static_cast<size_t>(id)].dtype;
  const DType dtype = declared != DType::kUndefined ? declared : Type(0);
  const bool sequence = IsSequence(0);
  if (sequence && !Declared(i).has_value()) return OutSlot(i, InSlot(0));
  Out(i, dtype, Declared(i).value_or(Sizes(0)));
}

void RuleContext::Fallback() {
  for (int i = 0; i < outputs(); ++i) {
    if (Wants(i)) FallbackFor(i);
  }
}

bool RuleContext::Fail(std::string why) {
  for (const onnx::ValueId id : node_->outputs) {
    if (id != onnx::kNoValue) frame_.states[static_cast<size_t>(id)] = State::kFailed;
  }
  if (failed_) return false;
  failed_ = true;
  if (why.empty()) return false;
  session_.Report({"E0403", absl::StrCat(node_->op_type, ": ", why), Where(), InputsText(),
                   "check the sizes given to --bind and --input; they must be ones the network can take"});
  return false;
}

bool RuleContext::Axis(int64_t axis, int rank, int* normal) {
  if (axis < -rank || axis >= rank) return Fail(absl::StrCat("axis ", axis, " of a tensor of rank ", rank));
  *normal = static_cast<int>(axis < 0 ? axis + rank : axis);
  return true;
}

std::string RuleContext::Where() const {
  std::string where = absl::StrCat("node \"", node_->name, "\" (", node_->op_type);
  if (!node_->domain.empty()) absl::StrAppend(&where, " of ", node_->domain);
  absl::StrAppend(&where, ")");
  for (const onnx::ValueId id : node_->outputs) {
    if (id == onnx::kNoValue) continue;
    absl::StrAppend(&where, ", output \"", frame_.graph.values[static_cast<size_t>(id)].name, "\"");
    break;
  }
  return where;
}

std::string RuleContext::InputsText() const {
  std::string text = "inputs:";
  for (int i = 0; i < inputs(); ++i) {
    if (!Has(i)) continue;
    const size_t id = static_cast<size_t>(node_->inputs[static_cast<size_t>(i)]);
    absl::StrAppend(&text, i == 0 ? " " : ", ", frame_.graph.values[id].name, " ",
                    frame_.states[id] == State::kTensor ? SizesText(frame_.values[id]) : "(no tensor)");
  }
  return text;
}

void RuleContext::Count(std::map<std::string, Tally>& tallies) const {
  const std::string key =
      node_->domain.empty() ? std::string(node_->op_type) : absl::StrCat(node_->domain, ".", node_->op_type);
  Tally& tally = tallies[key];
  if (tally.count++ == 0) tally.first = Where();
}

bool RuleContext::RunBody(const onnx::Graph& body, const std::vector<Slot>& arguments, std::vector<Slot>* results) {
  session_.body_nodes_left -= static_cast<int64_t>(body.nodes.size()) + 1;
  if (session_.body_nodes_left < 0) return Fail("its body would have to be followed too often");
  if (arguments.size() != body.inputs.size()) return Fail("the sub-graph's number of inputs does not fit");
  Frame frame(body, &frame_);
  for (size_t i = 0; i < arguments.size(); ++i) frame.Set(body.inputs[i], arguments[i]);
  for (const auto& [id, name] : body.captured) {
    Slot slot = frame_.GetByName(name);
    if (slot.state == State::kFailed) return Fail("");
    frame.Set(id, std::move(slot));
  }
  RunFrame(session_, frame);
  results->clear();
  for (const onnx::ValueId id : body.outputs) {
    results->push_back(frame.Get(id));
    if (results->back().state == State::kFailed) return Fail("");
    if (results->back().state == State::kUnset) return Fail("an output of the sub-graph is not computed by it");
  }
  return true;
}

void RuleContext::NoteControl(int64_t count, bool known) const {
  if (frame_.parent != nullptr) return;
  session_.control.push_back({static_cast<int>(node_ - frame_.graph.nodes.data()), count, known});
}

const Rule* FindRule(absl::string_view op_type, absl::string_view domain) {
  using Table = absl::flat_hash_map<absl::string_view, const Rule*>;
  const auto build = [](std::initializer_list<absl::Span<const Rule>> families) {
    Table table;
    for (const absl::Span<const Rule> family : families) {
      for (const Rule& rule : family) table.emplace(rule.op_type, &rule);
    }
    return table;
  };
  static const Table& core =
      *new Table(build({PointwiseRules(), MatMulRules(), ConvRules(), NormRules(), RecurrentRules(), AttentionRules(),
                        ResizeRules(), SignalRules(), ReshapeRules(), SliceRules(), IndexRules(), CreateRules(),
                        ReduceRules(), QuantRules(), ControlRules(), SequenceRules(), TextRules(), PreviewRules()}));
  static const Table& contrib = *new Table(build({ContribRules(), ContribAttentionRules()}));
  static const Table& ml = *new Table(build({MlRules()}));
  const auto find = [&](const Table& table) -> const Rule* {
    const auto it = table.find(op_type);
    return it == table.end() ? nullptr : it->second;
  };
  if (domain == "ai.onnx.ml") return find(ml);
  if (domain == "com.microsoft") return find(contrib) != nullptr ? find(contrib) : find(core);
  if (domain.empty()) return find(core) != nullptr ? find(core) : find(contrib);
  return absl::StartsWith(domain, "ai.onnx.") || domain == "ai.onnx" ? find(core) : nullptr;
}

}  // namespace memcrest::shape
