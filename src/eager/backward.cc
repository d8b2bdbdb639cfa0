#include "src/eager/backward.h"

#include <algorithm>
#include <utility>

#include "src/eager/region.h"

namespace memcrest {
namespace {

bool RunsLater(const Ref<TapeNode>& a, const Ref<TapeNode>& b) { return a->seq < b->seq; }

// A sum made by autograd in place is made out of place while a dispatcher watches (isTensorSubclassLike): the watcher sees
// one more tensor for an instant.
void NoteWatchedSum(Eager& rt, Bytes bytes) {
  if (!rt.stopped()) rt.recorder().Alloc(bytes, rt.recorder().CategoryNow(), Seen::kDispatcherOnly);
}

}  // namespace

void Eager::Backward(Value loss) { BackwardEngine(*this).Run(std::move(loss)); }
void Eager::Backward(absl::Span<const Value> results, absl::Span<const Value> gradients) {
  BackwardEngine(*this).Run(results, gradients);
}

void BackwardEngine::Prepare(TapeNode& root) {
  const uint32_t visit = rt_.next_visit_++;
  std::vector<TapeNode*> stack{&root};
  root.visit = visit;
  root.pending = 0;
  while (!stack.empty()) {
    TapeNode* node = stack.back();
    stack.pop_back();
    for (const Edge& e : node->next) {
      if (!e.node) continue;
      if (e.node->visit != visit) {
        if (e.node->leaf != nullptr && e.node->pending > 0) Displace(*e.node);
        e.node->visit = visit;
        e.node->pending = 0;
        stack.push_back(e.node.get());
      }
      ++e.node->pending;
    }
  }
}

// A backward inside another one may reach a parameter that the outer one is still collecting gradients for.
void BackwardEngine::Displace(TapeNode& leaf) {
  displaced_.push_back({Ref<TapeNode>(&leaf), leaf.visit, leaf.pending, std::move(leaf.grads)});
  leaf.grads.clear();
}

void BackwardEngine::Restore() {
  for (Displaced& d : displaced_) {
    d.node->visit = d.visit;
    d.node->pending = d.pending;
    d.node->grads = std::move(d.grads);
  }
  displaced_.clear();
}

void BackwardEngine::Push(Ref<TapeNode> node) {
  ready_.push_back(std::move(node));
  std::push_heap(ready_.begin(), ready_.end(), RunsLater);
}

void BackwardEngine::Run(Value loss) {
  Ref<TapeNode> root = loss.impl()->grad_fn;
  if (!root) return;
  const uint16_t output = loss.impl()->output_nr;
  Prepare(*root);
  rt_.recorder().op = "ones_like";
  root->grads.resize(root->out.size());
  root->grads[output] = rt_.EmptyLike(loss);
  loss.reset();
  Push(std::move(root));
  Drain();
}

// A root node whose edges lead to the results hands the gradients on (GraphRoot).
void BackwardEngine::Run(absl::Span<const Value> results, absl::Span<const Value> gradients) {
  TapeNode* const made = new TapeNode;
  const Ref<TapeNode> root(made);
  absl::InlinedVector<Value, 1> none;
  for (const Value& v : results) root->next.push_back(Edge{v.impl()->grad_fn, v.impl()->output_nr});
  GradCall grad(*root, none);
  for (size_t i = 0; i < gradients.size(); ++i) grad.in_grads[i] = gradients[i];
  Prepare(*root);
  HandOn(*root, grad);
  Drain();
  Restore();
}

void BackwardEngine::Drain() {
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end(), RunsLater);
    const Ref<TapeNode> node = std::move(ready_.back());
    ready_.pop_back();
    RunNode(node);
  }
}

void BackwardEngine::RunNode(const Ref<TapeNode>& node) {
  Recorder& r = rt_.recorder();
  r.node = node->node;
  r.call = node->call;
  if (node->leaf != nullptr) {
    r.op = "accumulate_grad";
    Value gradient = std::move(node->grads[0]);
    node->grads.clear();
    Accumulate(*node->leaf, *node->out[0], std::move(gradient));
    if (rt_.grad_ready != nullptr && node->leaf->param != kNone) rt_.grad_ready(rt_.hook_owner, *node->leaf);
    return;
  }
  if (node->hooked && rt_.before_node != nullptr) rt_.before_node(rt_.hook_owner, *node);
  absl::InlinedVector<Value, 1> arrived = std::move(node->grads);
  node->grads.clear();
  arrived.resize(node->out.size());
  GradCall grad(*node, arrived);
  const bool any = std::any_of(arrived.begin(), arrived.end(), [](const Value& v) { return static_cast<bool>(v); });
  if (any && node->op->backward != nullptr) {
    Unpack(*node, grad);
    r.op = node->op->name;
    const bool enabled = rt_.grad_enabled();
    rt_.set_grad_enabled(false);
    node->op->backward(rt_, grad);
    rt_.set_grad_enabled(enabled);
    if (rt_.observer != nullptr) rt_.observer->Backward(grad);
  }
  grad.unpacked.clear();
  for (size_t i = 0; i < grad.in_grads.size(); ++i) {
    if (grad.in_grads[i]) grad.in_grads[i] = Validated(*node, i, std::move(grad.in_grads[i]));
  }
  arrived.clear();  // after validation: the engine's call holds the arrived gradients until its results are checked
  Release(*node);
  HandOn(*node, grad);
}

void BackwardEngine::Unpack(TapeNode& node, GradCall& grad) {
  grad.unpacked.resize(node.saved.size());
  for (size_t i = 0; i < node.saved.size(); ++i) grad.unpacked[i] = rt_.Unpack(node.saved[i]);
}

void BackwardEngine::Release(TapeNode& node) {
  for (Saved& s : node.saved) rt_.Release(s);
  node.saved.clear();
}

Value BackwardEngine::Validated(const TapeNode& node, size_t input, Value gradient) {
  if (!node.next[input].node) return Value();
  const Meta& want = *node.in[input];
  if (gradient.sizes() != want.sizes) {
    rt_.recorder().op = "sum";
    if (rt_.observer != nullptr) rt_.observer->Move(gradient.bytes());
    gradient = rt_.SumTo(gradient, want.sizes);
  }
  if (gradient.dtype() != want.dtype) {
    rt_.recorder().op = "_to_copy";
    if (rt_.observer != nullptr) rt_.observer->Move(gradient.bytes() + gradient.elements() * BytesOf(want.dtype));
    gradient = rt_.To(gradient, want.dtype);
  }
  return gradient;
}

void BackwardEngine::HandOn(TapeNode& node, GradCall& grad) {
  for (size_t i = 0; i < node.next.size(); ++i) {
    const Edge& e = node.next[i];
    if (!e.node) continue;
    TapeNode& to = *e.node;
    if (i < grad.in_grads.size() && grad.in_grads[i]) {
      if (to.grads.size() < to.out.size()) to.grads.resize(to.out.size());
      Value gradient = std::move(grad.in_grads[i]);
      Value& slot = to.grads[e.input];
      if (slot) {
        Add(slot, std::move(gradient));
      } else {
        slot = std::move(gradient);
      }
    }
    if (--to.pending == 0) {
      const bool arrived = std::any_of(to.grads.begin(), to.grads.end(), [](const Value& v) { return static_cast<bool>(v); });
      if (arrived || to.leaf == nullptr) Push(e.node);
    }
  }
}

void BackwardEngine::Add(Value& into, Value gradient) {
  rt_.recorder().op = "add";
  // A view refers to its base, base and view to one storage: can_accumulate_inplace() counts two (input_buffer.cpp).
  const bool alone = into.impl()->refs == 1 && into.storage()->refs == 1 && !into.impl()->is_view && IsDense(into);
  if (rt_.observer != nullptr) rt_.observer->Move(into.bytes() + 2 * gradient.bytes());
  if (alone && into.dtype() == gradient.dtype() && into.sizes() == gradient.sizes()) {
    NoteWatchedSum(rt_, into.bytes());
    return;  // added in place, the arriving one dies
  }
  const Value operands[] = {into, gradient};
  into = rt_.Pointwise(operands);
}

void BackwardEngine::Accumulate(Leaf& leaf, const Meta& want, Value gradient) {
  if (leaf.grad) {
    if (rt_.observer != nullptr) rt_.observer->Move(3 * gradient.bytes());
    return;  // += in place
  }
  const bool contract = IsDense(want) ? gradient.strides() == want.strides || (IsContiguous(want) && IsContiguous(gradient)) : IsContiguous(gradient);
  if (contract && gradient.impl()->refs == 1) {
    leaf.grad = std::move(gradient);  // stolen
  } else {
    rt_.recorder().op = "clone";
    if (rt_.observer != nullptr) rt_.observer->Move(2 * gradient.bytes());
    leaf.grad = rt_.EmptyStrided(want.sizes, IsDense(want) ? want.strides : ContiguousStrides(want.sizes), gradient.dtype());
  }
  if (leaf.param != kNone) rt_.Retag(leaf.grad, Category::kGradients);
}

}  // namespace memcrest
