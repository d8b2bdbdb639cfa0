#include "tests/support/eager_harness.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/ops/reduce_scratch.h"

namespace memcrest {
namespace {

// "" for what is not told.
std::string Line(const Event& e) {
  if (e.kind != Event::Kind::kAlloc && e.kind != Event::Kind::kFree) return "";
  const bool alloc = e.kind == Event::Kind::kAlloc;
  if (e.category == Category::kParameters || e.category == Category::kInputs) return "";
  if (e.seen == Seen::kAllocatorOnly) return alloc ? absl::StrCat("~", e.bytes, " ", e.op, "\n") : "";
  if (e.seen == Seen::kDispatcherOnly) return alloc ? absl::StrCat("?", e.bytes, " ", e.op, "\n") : "";
  return absl::StrCat(alloc ? "+" : "-", e.bytes, " ", e.op, "\n");
}

}  // namespace

EagerHarness::EagerHarness(KernelDevice device) : rt_(std::move(device), Ops()) { rt_.reduction_scratch = &SumScratch; }
EagerHarness::~EagerHarness() = default;

Value EagerHarness::Leaf(DimSpan sizes, DType dtype) {
  memcrest::Leaf& leaf = leaves_.emplace_back();
  leaf.param = static_cast<ParamId>(leaves_.size() - 1);
  leaf.value = rt_.MakeLeaf(&leaf, sizes, dtype, Category::kParameters, true);
  return leaf.value;
}

Value EagerHarness::Input(DimSpan sizes, DType dtype) { return rt_.MakeResident(sizes, dtype, Category::kInputs); }

Value EagerHarness::Permuted(DimSpan sizes, DimSpan order, DType dtype) {
  Dims strides(sizes.size(), 1);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[static_cast<size_t>(order[i])] = step;
    step *= sizes[static_cast<size_t>(order[i])];
  }
  return rt_.View(Input(sizes, dtype), sizes, strides);
}

Value EagerHarness::Run(absl::string_view op, std::initializer_list<Value> inputs, Attrs attrs, const Dims* hint) {
  return rt_.Call(op, absl::MakeConstSpan(inputs.begin(), inputs.size()), std::move(attrs), hint);
}

void EagerHarness::Backward(Value value) {
  Recorder& r = rt_.recorder();
  r.phase = Phase::kBackward;
  r.pass = Pass::kBackward;
  rt_.Backward(std::move(value));
  for (memcrest::Leaf& leaf : leaves_) leaf.grad.reset();
  r.phase = Phase::kForward;
  r.pass = Pass::kForward;
}

std::string EagerHarness::Events() {
  const std::vector<Event>& events = rt_.recorder().trace.events;
  std::string text;
  for (; told_ < events.size(); ++told_) text += Line(events[told_]);
  return text;
}

std::string EagerHarness::Trace(absl::string_view op, std::initializer_list<Value> inputs, Attrs attrs,
                                const Dims* hint) {
  Events();
  Value result = Run(op, inputs, std::move(attrs), hint);
  std::string text = Events() + "backward\n";
  if (result.requires_grad()) Backward(std::move(result));
  return text + Events();
}

}  // namespace memcrest
