// Rules of ai.onnx.preview.training: optimizers as operators.
#include <array>

#include "src/shape/rule.h"

namespace memcrest::shape {
namespace {

// R, T, then n parameters, n gradients and n of each of `states` states -> new parameters and states.
void OptimizerRule(RuleContext& c, int states) {
  const int n = (c.inputs() - 2) / (states + 2);
  for (int i = 0; i < c.outputs(); ++i) {
    const int from = i < n ? 2 + i : 2 + n + i;  // skips the gradients
    if (!c.Has(from)) {
      c.Fail("inputs and outputs do not fit");
      return;
    }
    c.Out(i, c.Type(from), c.Sizes(from));
  }
}
void OneState(RuleContext& c) { OptimizerRule(c, 1); }
void TwoStates(RuleContext& c) { OptimizerRule(c, 2); }

// One gradient per name in xs, of the sizes of the inputs in order.
void Gradient(RuleContext& c) {
  for (int i = 0; i < c.outputs() && c.Has(i); ++i) c.Out(i, c.Type(i), c.Sizes(i));
}

constexpr std::array kRules = {
    Rule{"Adagrad", OneState, 5},
    Rule{"Momentum", OneState, 5},
    Rule{"Adam", TwoStates, 6},
    Rule{"Gradient", Gradient},
};

}  // namespace

absl::Span<const Rule> PreviewRules() { return kRules; }

}  // namespace memcrest::shape
