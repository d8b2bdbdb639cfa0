// Convolutions of one to three dimensions, plain, grouped, depthwise and transposed, as cuDNN and the native depthwise
// kernels run them (aten/src/ATen/native/Convolution.cpp, cudnn/ConvShared.cpp). cuDNN's workspaces are not here: they
// depend on its choice.
//
// Saves input and weight. Both directions work in one memory format: channels_last as soon as input or weight is; what
// differs is copied inside the kernel.
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/layout.h"
#include "src/ops/windows.h"

namespace memcrest {
namespace {

// Sizes of the result of x * w; x may lack the batch dimension.
Dims ResultSizes(const Attrs& attrs, DimSpan x, DimSpan w) {
  const size_t spatial = w.size() - 2, first = x.size() - spatial;
  const bool transposed = attrs.Bool(Key::kTransposed);
  Dims sizes(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(first));
  sizes.back() = transposed ? w[1] * attrs.Int(Key::kGroups, 1) : w[0];
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t stride = std::max<int64_t>(1, WindowItem(attrs, Key::kStride, i, 1)),
                  pad = WindowItem(attrs, Key::kPadding, i, 0);
    const int64_t reach = WindowItem(attrs, Key::kDilation, i, 1) * (w[i + 2] - 1) + 1, in = x[first + i];
    sizes.push_back(transposed ? (in - 1) * stride - 2 * pad + reach + WindowItem(attrs, Key::kOutputPadding, i, 0)
                               : std::max<int64_t>(0, (in + 2 * pad - reach) / stride + 1));
  }
  return sizes;
}

struct Plan {
  bool channels_last = false;
  bool native_depthwise = false;  // contiguous 2-D depthwise: not cuDNN, weight gradient first
  bool line = false;              // 1-D: made contiguous first, then run as 2-D
};

Plan PlanOf(const Attrs& attrs, const Meta& x, const Meta& w) {
  Plan plan;
  plan.channels_last = x.sizes.size() == w.sizes.size() && (SuggestsChannelsLast(x) || SuggestsChannelsLast(w));
  plan.line = w.sizes.size() == 3;
  const int64_t groups = attrs.Int(Key::kGroups, 1), channels = x.sizes[x.sizes.size() + 1 - w.sizes.size()];
  plan.native_depthwise =
      w.sizes.size() <= 4 && !plan.channels_last && !attrs.Bool(Key::kTransposed) && groups > 1 && groups == channels;
  return plan;
}

void ConvolutionForward(Eager& rt, OpCall& call) {
  const Value &x = call.in[0], &w = call.in[1];
  if (call.Recorded()) {
    call.Save(rt, 0, x);
    call.Save(rt, 1, w);
  }
  const bool channels_last = PlanOf(call.attrs, x.meta(), w.meta()).channels_last;
  const Dims sizes = call.Hint(0) != nullptr ? *call.Hint(0) : ResultSizes(call.attrs, x.sizes(), w.sizes());
  const HiddenBlock input = rt.Hidden(FormatCopyBytes(x.meta(), channels_last));
  call.Out(0) = rt.EmptyStrided(sizes, StridesIn(sizes, channels_last), x.dtype());
  const HiddenBlock weight = rt.Hidden(FormatCopyBytes(w.meta(), channels_last));
}

// A gradient made from `grad` and `other`, both brought into the format for the time of this kernel.
Value Gradient(Eager& rt, const Meta& of, bool channels_last, Bytes grad_copy, Bytes other_copy) {
  Value result = rt.EmptyStrided(of.sizes, StridesIn(of.sizes, channels_last), of.dtype);
  const HiddenBlock first = rt.Hidden(grad_copy), second = rt.Hidden(other_copy);
  return result;
}

void InputAndWeight(Eager& rt, GradCall& grad, const Plan& plan) {
  const Meta &g = grad.Grad().meta(), &w = grad.Saved(1).meta();
  const bool cl = plan.channels_last;
  // A gradient of the other format is converted once; one that is not dense (expanded) by each kernel for itself.
  const bool converted = !plan.line && SuggestsChannelsLast(g) != cl;
  const HiddenBlock once = rt.Hidden(converted ? FormatCopyBytes(g, cl) : 0);
  const Bytes each = converted ? 0 : FormatCopyBytes(g, cl);
  if (plan.native_depthwise && grad.Need(1)) grad.Set(1, Gradient(rt, grad.In(1), cl, each, 0));
  if (grad.Need(0)) grad.Set(0, Gradient(rt, grad.In(0), cl, each, FormatCopyBytes(w, cl)));
  if (!plan.native_depthwise && grad.Need(1)) grad.Set(1, Gradient(rt, grad.In(1), cl, each, 0));
}

void ConvolutionBackward(Eager& rt, GradCall& grad) {
  const Plan plan = PlanOf(grad.attrs(), grad.Saved(0).meta(), grad.Saved(1).meta());
  HiddenBlock input =
      rt.Hidden(grad.Need(0) || grad.Need(1) ? FormatCopyBytes(grad.Saved(0).meta(), plan.channels_last) : 0);
  InputAndWeight(rt, grad, plan);
  if (!plan.line) input = HiddenBlock();
  if (!grad.Need(2)) return;
  Dims axes;
  const int channel = grad.Grad().rank() + 1 - static_cast<int>(grad.In(1).sizes.size());
  for (int i = 0; i < grad.Grad().rank(); ++i) {
    if (i != channel) axes.push_back(i);
  }
  grad.Set(2, rt.Reduce(grad.Grad(), axes, false));
}

}  // namespace

void RegisterConvolution(OpRegistry& registry) {
  registry.Add({.name = "convolution",
                .forward = ConvolutionForward,
                .backward = ConvolutionBackward,
                .autocast = Autocast::kLower,
                .doc = "saves input and weight if anything needs a gradient"});
}

}  // namespace memcrest
