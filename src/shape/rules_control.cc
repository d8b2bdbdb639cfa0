// Rules of operators with sub-graphs: If, Loop, Scan, SequenceMap. Bodies are followed as they would run.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

constexpr int64_t kMostTrips = 4096;  // a longer loop is extrapolated once its carried sizes stand still

const onnx::Graph* Body(const RuleContext& c, absl::string_view attribute) {
  const onnx::Attribute* a = c.node().Find(attribute);
  return a != nullptr && !a->graphs.empty() ? a->graphs[0].get() : nullptr;
}

void SetTensor(Slot* slot, DType dtype, const Dims& sizes) {
  slot->state = State::kTensor;
  slot->value.known = true;
  slot->value.dtype = dtype;
  slot->value.sizes = sizes;
}

int64_t ElementsOf(const Slot& slot) {
  if (slot.state == State::kTensor) return NumElements(slot.value.sizes);
  int64_t total = 0;
  for (const BoundValue& item : slot.sequence->items) total += NumElements(item.sizes);
  return total;
}

// What either branch may give: the common sizes, else the larger dimensions, else the larger tensor.
Slot Either(const Slot& a, const Slot& b) {
  if (a.state != State::kTensor || b.state != State::kTensor) return ElementsOf(a) >= ElementsOf(b) ? a : b;
  if (a.value.sizes.size() != b.value.sizes.size()) return ElementsOf(a) >= ElementsOf(b) ? a : b;
  Slot both;
  SetTensor(&both, a.value.dtype, a.value.sizes);
  for (size_t d = 0; d < both.value.sizes.size(); ++d) {
    both.value.sizes[d] = std::max(a.value.sizes[d], b.value.sizes[d]);
  }
  both.value.upper_bound = a.value.sizes != b.value.sizes || a.value.upper_bound || b.value.upper_bound;
  return both;
}

void SetResults(RuleContext& c, std::vector<Slot> results) {
  for (int i = 0; i < c.outputs() && static_cast<size_t>(i) < results.size(); ++i) {
    c.OutSlot(i, std::move(results[static_cast<size_t>(i)]));
  }
}

// Follows one branch into `results`; a failure of it is forgotten: it may be the one that is never taken.
bool TryBranch(RuleContext& c, const onnx::Graph& branch, std::vector<Slot>* results) {
  const size_t before = c.session().problems.size();
  const int64_t more = c.session().more_problems;
  RuleContext attempt = c;
  if (attempt.RunBody(branch, {}, results)) return true;
  c.session().problems.resize(before);
  c.session().more_problems = more;
  return false;
}

// A known condition picks its branch; otherwise both are followed.
void If(RuleContext& c) {
  const onnx::Graph *yes = Body(c, "then_branch"), *no = Body(c, "else_branch");
  if (yes == nullptr || no == nullptr) return c.Fallback();
  std::vector<Slot> first, second;
  if (const std::optional<int64_t> condition = c.Scalar(0); condition.has_value()) {
    c.NoteControl(*condition != 0 ? 1 : 0, true);
    if (c.RunBody(*condition != 0 ? *yes : *no, {}, &first)) SetResults(c, std::move(first));
    return;
  }
  const bool yes_fits = TryBranch(c, *yes, &first), no_fits = TryBranch(c, *no, &second);
  if (!yes_fits && !no_fits) {
    c.RunBody(*yes, {}, &first);  // reports why
    return;
  }
  // The larger branch stands for both.
  c.NoteControl(yes_fits && (!no_fits || yes->nodes.size() >= no->nodes.size()) ? 1 : 0, false);
  if (yes_fits && no_fits) {
    for (size_t i = 0; i < first.size() && i < second.size(); ++i) first[i] = Either(first[i], second[i]);
  }
  SetResults(c, yes_fits ? std::move(first) : std::move(second));
}

bool SameSlot(const Slot& a, const Slot& b) {
  return a.state == State::kTensor && b.state == State::kTensor && a.value.sizes == b.value.sizes &&
         a.value.ints == b.value.ints && a.value.floats == b.value.floats;
}

// Follows a Loop: trip count and condition (known or not), carried values, outputs stacked per trip.
class LoopRun {
 public:
  LoopRun(RuleContext& c, const onnx::Graph& body)
      : c_(c), body_(body), carried_count_(static_cast<size_t>(c.inputs()) - 2) {}

  void Run() {
    ReadCounts();
    for (int i = 2; i < c_.inputs(); ++i) carried_.push_back(c_.InSlot(i));
    const std::vector<Slot> initial = carried_;
    int64_t trips = 0;
    while (trips < most_ && condition_.value_or(1) != 0 && !still_) {
      if (!Trip(trips++)) return;
      if (!count_known_ && trips >= 1 && most_ > kMostTrips) break;
    }
    if (still_) trips = most_;
    const int64_t stacked = trips;
    c_.NoteControl(count_known_ || most_ <= kMostTrips ? trips : kUnknownTrips, count_known_);
    if (trips == 0) {  // the body still says what an output stacked zero times looks like
      if (!Trip(0)) return;
      carried_ = initial;
    }
    SetOutputs(stacked);
  }

 private:
  void ReadCounts() {
    const std::optional<int64_t> limit = c_.Has(0) ? c_.Scalar(0) : std::optional<int64_t>(INT64_MAX);
    most_ = limit.value_or(INT64_MAX);
    count_known_ = limit.has_value();
    condition_ = c_.Has(1) ? c_.Scalar(1) : std::optional<int64_t>(1);
    count_known_ &= condition_.has_value();
  }
  bool Trip(int64_t number) {
    std::vector<Slot> arguments(2);
    SetTensor(&arguments[0], DType::kInt64, {});
    SetInts(&arguments[0].value, {number});
    SetTensor(&arguments[1], DType::kBool, {});
    if (condition_.has_value()) SetInts(&arguments[1].value, {1});
    arguments.insert(arguments.end(), carried_.begin(), carried_.end());
    arguments.resize(std::min(arguments.size(), body_.inputs.size()));
    if (!c_.RunBody(body_, arguments, &results_)) return false;
    if (results_.size() < carried_count_ + 1) return c_.Fail("the body has too few outputs");
    const BoundValue& next = results_[0].value;
    condition_ = next.has_ints && next.ints.size() == 1 ? std::optional(next.ints[0]) : std::nullopt;
    count_known_ &= condition_.has_value();
    bool same = number > 0;
    for (size_t i = 0; i < carried_count_; ++i) {
      same = same && SameSlot(carried_[i], results_[i + 1]);
      carried_[i] = results_[i + 1];
    }
    unchanged_ = same ? unchanged_ + 1 : 0;
    still_ = unchanged_ >= 8 && most_ > number + 64 && most_ <= kMaxElements && count_known_;
    return true;
  }
  void SetOutputs(int64_t stacked) {
    for (size_t i = 0; i < static_cast<size_t>(c_.outputs()); ++i) {
      const int output = static_cast<int>(i);
      if (i < carried_count_) {
        if (!count_known_) carried_[i].value.upper_bound = true;
        c_.OutSlot(output, carried_[i]);
      } else if (i + 1 < results_.size() && c_.Wants(output)) {
        const BoundValue& one = results_[i + 1].value;
        Dims sizes = one.sizes;
        sizes.insert(sizes.begin(), stacked);
        if (count_known_) {
          c_.Out(output, one.dtype, std::move(sizes));
        } else if (most_ <= kMostTrips) {
          c_.Bounded(output, one.dtype, std::move(sizes));
        } else {
          c_.Undetermined(output, one.dtype, std::move(sizes));
        }
      }
    }
  }

  RuleContext& c_;
  const onnx::Graph& body_;
  const size_t carried_count_;
  int64_t most_ = 0;
  bool count_known_ = true;  // the number of trips does not depend on data
  std::optional<int64_t> condition_;
  std::vector<Slot> carried_, results_;
  int unchanged_ = 0;
  bool still_ = false;  // nothing carried has changed for many trips: the rest is alike
};

void Loop(RuleContext& c) {
  const onnx::Graph* body = Body(c, "body");
  if (body == nullptr || c.inputs() < 2) return c.Fallback();
  LoopRun(c, *body).Run();
}

int64_t AxisAt(const RuleContext& c, absl::string_view name, size_t i, int64_t rank) {
  const std::vector<int64_t>* axes = c.node().Ints(name);
  const int64_t axis = axes != nullptr && i < axes->size() ? (*axes)[i] : 0;
  return axis < 0 ? axis + rank : axis;
}

// States, then scanned inputs cut along an axis; the body's further outputs are stacked. Opset 8 has a leading input of
// lengths and a batch dimension before everything.
void Scan(RuleContext& c) {
  const onnx::Graph* body = Body(c, "body");
  const int64_t scanned = c.node().Int("num_scan_inputs", 0);
  const int first = c.opset() < 9 ? 1 : 0, batch = first;
  if (body == nullptr || scanned < 1 || scanned > c.inputs() - first) return c.Fallback();
  const int64_t states = c.inputs() - first - scanned;
  std::vector<Slot> arguments, results;
  int64_t length = 0, batch_size = 1;
  for (int i = first; i < c.inputs(); ++i) {
    Dims sizes = c.Sizes(i);
    if (batch != 0 && !sizes.empty()) batch_size = sizes[0];
    if (batch != 0 && !sizes.empty()) sizes.erase(sizes.begin());
    if (i - first >= states) {
      const int64_t rank = static_cast<int64_t>(sizes.size());
      const int64_t axis = batch != 0 ? 0 : AxisAt(c, "scan_input_axes", static_cast<size_t>(i - first - states), rank);
      if (axis < 0 || axis >= rank) {
        c.Fail("a scanned input lacks the axis");
        return;
      }
      length = sizes[static_cast<size_t>(axis)];
      sizes.erase(sizes.begin() + axis);
    }
    SetTensor(&arguments.emplace_back(), c.Type(i), sizes);
  }
  c.NoteControl(length, true);
  if (!c.RunBody(*body, arguments, &results)) return;
  for (int i = 0; i < c.outputs() && static_cast<size_t>(i) < results.size(); ++i) {
    const BoundValue& one = results[static_cast<size_t>(i)].value;
    Dims sizes = one.sizes;
    if (i >= states) {
      const int64_t rank = static_cast<int64_t>(sizes.size()) + 1;
      const int64_t axis = AxisAt(c, "scan_output_axes", static_cast<size_t>(i - states), rank);
      sizes.insert(sizes.begin() + std::clamp<int64_t>(axis, 0, rank - 1), length);
    }
    if (batch != 0) sizes.insert(sizes.begin(), batch_size);
    c.Out(i, one.dtype, std::move(sizes));
  }
}

// The body runs on each element of the first sequence; further inputs are sequences (cut alike) or tensors.
void SequenceMap(RuleContext& c) {
  const onnx::Graph* body = Body(c, "body");
  if (body == nullptr || !c.IsSequence(0)) return c.Fallback();
  const size_t length = c.InSlot(0).sequence->items.size();
  std::vector<std::shared_ptr<SequenceValue>> outputs;
  for (int i = 0; i < c.outputs(); ++i) {
    outputs.push_back(std::make_shared<SequenceValue>());
    outputs.back()->length_known = c.InSlot(0).sequence->length_known;
  }
  for (size_t k = 0; k < length; ++k) {
    std::vector<Slot> arguments, results;
    for (int i = 0; i < c.inputs(); ++i) {
      Slot slot = c.InSlot(i);
      if (slot.state == State::kSequence && k < slot.sequence->items.size()) {
        slot = {State::kTensor, slot.sequence->items[k], nullptr};
      }
      arguments.push_back(std::move(slot));
    }
    if (!c.RunBody(*body, arguments, &results)) return;
    for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
      outputs[i]->dtype = results[i].value.dtype;
      outputs[i]->items.push_back(std::move(results[i].value));
    }
  }
  for (int i = 0; i < c.outputs(); ++i) c.OutSequence(i, outputs[static_cast<size_t>(i)]);
}

constexpr std::array kRules = {
    Rule{"If", If},
    Rule{"Loop", Loop, 0, true},
    Rule{"Scan", Scan, 0},
    Rule{"SequenceMap", SequenceMap, 1, true},
};

}  // namespace

absl::Span<const Rule> ControlRules() { return kRules; }

}  // namespace memcrest::shape
