// Rules of signal processing: DFT, STFT, windows, the mel matrix.
#include <array>

#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// The transformed dimension: attribute axis (opset 17), an input (20 on).
bool DftAxis(RuleContext& c, int* axis) {
  const int rank = c.Rank(0);
  if (c.opset() < 20) return c.Axis(c.node().Int("axis", 1), rank, axis);
  return c.Axis(c.Has(2) ? c.Scalar(2).value_or(-2) : -2, rank, axis);
}

// x[..., 1 or 2]: real or complex numbers. onesided keeps n / 2 + 1 of n frequencies; its inverse gives real numbers.
void Dft(RuleContext& c) {
  int axis = 0;
  if (c.Rank(0) < 2) {
    c.Fail("needs a dimension of real and imaginary parts");
    return;
  }
  if (!DftAxis(c, &axis)) return;
  const bool onesided = c.node().Int("onesided", 0) != 0, inverse = c.node().Int("inverse", 0) != 0;
  Dims sizes = c.Sizes(0);
  int64_t& length = sizes[static_cast<size_t>(axis)];
  if (onesided && inverse) length = Times(2, length - 1);
  if (c.Has(1)) length = c.Scalar(1).value_or(length);
  if (onesided && !inverse) length = length / 2 + 1;
  sizes.back() = onesided && inverse ? 1 : 2;
  c.Has(1) && !c.Scalar(1).has_value() ? c.Undetermined(0, c.Type(0), std::move(sizes))
                                       : c.Out(0, c.Type(0), std::move(sizes));
}

// signal[B, L, 1 or 2], frame_step, window, frame_length -> [B, frames, frequencies, 2].
void Stft(RuleContext& c) {
  const std::optional<int64_t> step = c.Scalar(1), stated = c.Scalar(3);
  const std::optional<int64_t> length = c.Has(2) && c.Rank(2) == 1 ? std::optional(c.Sizes(2)[0]) : stated;
  if (c.Rank(0) < 2 || !step.has_value() || !length.has_value()) {
    c.Fallback();
    return;
  }
  if (*step <= 0 || *length <= 0 || *length > c.Sizes(0)[1]) {
    c.Fail("the frame does not fit into the signal");
    return;
  }
  const int64_t frames = (c.Sizes(0)[1] - *length) / *step + 1;
  const int64_t frequencies = c.node().Int("onesided", 1) != 0 ? *length / 2 + 1 : *length;
  c.Out(0, c.Type(0), {c.Sizes(0)[0], frames, frequencies, 2});
}

DType OutputType(const RuleContext& c) { return DTypeOf(c.node().Int("output_datatype", 1)); }

void WindowOf(RuleContext& c) {
  const std::optional<int64_t> size = c.Scalar(0);
  size.has_value() ? c.Out(0, OutputType(c), {*size}) : c.Undetermined(0, OutputType(c), {1});
}

// num_mel_bins, dft_length, ... -> [dft_length / 2 + 1, num_mel_bins].
void MelWeightMatrix(RuleContext& c) {
  const std::optional<int64_t> bins = c.Scalar(0), length = c.Scalar(1);
  if (!bins.has_value() || !length.has_value()) {
    c.Undetermined(0, OutputType(c), {1, 1});
    return;
  }
  c.Out(0, OutputType(c), {*length / 2 + 1, *bins});
}

constexpr std::array kRules = {
    Rule{"DFT", Dft},
    Rule{"STFT", Stft, 2},
    Rule{"BlackmanWindow", WindowOf},
    Rule{"HammingWindow", WindowOf},
    Rule{"HannWindow", WindowOf},
    Rule{"MelWeightMatrix", MelWeightMatrix, 2},
};

}  // namespace

absl::Span<const Rule> SignalRules() { return kRules; }

}  // namespace memcrest::shape
