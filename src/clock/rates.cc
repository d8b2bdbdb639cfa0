#include "src/clock/rates.h"

#include <algorithm>
#include <cmath>

namespace memcrest {
namespace {

// Share of a data sheet's rate that a large matrix product reaches. A100: 250-270 of 312 bf16 Tflop/s; H100 SXM: 650-720 of 989,
// where power bounds the clock (published cuBLAS figures; the same shares bound the best reported model-flop utilisations).
constexpr double kProductShare = 0.82, kProductShareHopper = 0.70;
// cuDNN's convolutions reach less than its products of the same size: implicit matrices, halos.
constexpr double kConvolutionShare = 0.65;
// Fused attention, forward and backward together: FlashAttention-2, arXiv 2307.08691: up to 73 % forward and 63 % backward of
// an A100; 35-40 % of an H100; cuDNN's on Hopper about 60 %.
constexpr double kAttentionShare = 0.6, kAttentionShareHopper = 0.5;
// Element-wise kernels reach nine tenths of the data sheet's bandwidth (BabelStream triad on V100, A100, H100).
constexpr double kBandwidthShare = 0.9;
constexpr double kHostLinkShare = 0.8;  // pinned copies over PCIe
// From one kernel's end to the next one's start on a busy stream, and a kernel's ramp up and down.
constexpr double kKernelFloor = 2.5e-6;
// One eager operator on the host: Python, dispatcher, autograd's record, launch; and one tape node in the C++ engine. Known order
// of magnitude on server processors, not measured here: the floor of small networks is uncertain by half.
constexpr double kForwardIssue = 7e-6, kBackwardIssue = 6e-6;
// A product is cut into tiles of 128 x 128 results; a multiprocessor works on one at a time (NVIDIA, "Matrix Multiplication
// Background", tile and wave quantization). Small ones are cut finer, down to 64 x 64, or along the depth.
constexpr double kTile = 128, kSmallTile = 64;
constexpr double kDepthRamp = 128;  // depth at which loading the first and storing the last tile cost as much as computing

}  // namespace

Rates::Rates(const Device& device)
    : peak_(device.peak_tflops),
      bandwidth_(device.bandwidth_gb_per_second * 1e9 * kBandwidthShare),
      host_bandwidth_((device.link.empty() ? 16.0 : device.link.back().gb_per_second) * 1e9 * kHostLinkShare),
      sm_(device.sm()),
      multiprocessors_(static_cast<double>(std::max<int64_t>(1, device.multiprocessors))) {}

double Rates::PeakFlops(ComputeUnit unit, DType dtype) const {
  double tflops = peak_.fp32;
  if (dtype == DType::kBFloat16) tflops = peak_.bf16 > 0 ? peak_.bf16 : peak_.fp32 / 2;
  if (dtype == DType::kFloat16) tflops = peak_.fp16 > 0 ? peak_.fp16 : peak_.fp32;
  if (dtype == DType::kFloat64) tflops = peak_.fp64 > 0 ? peak_.fp64 : peak_.fp32 / 32;
  // PyTorch's defaults: convolutions in float32 may use TF32, matrix products may not.
  if (dtype == DType::kFloat32 && unit == ComputeUnit::kConvolution && peak_.tf32 > 0) tflops = peak_.tf32;
  return tflops * 1e12;
}

double Rates::Utilisation(const Work& w) const {
  const bool hopper = sm_ >= 90;
  if (w.unit == ComputeUnit::kAttention) return hopper ? kAttentionShareHopper : kAttentionShare;
  const double share = w.unit == ComputeUnit::kConvolution ? kConvolutionShare : hopper ? kProductShareHopper : kProductShare;
  if (w.rows <= 0 || w.columns <= 0 || w.depth <= 0) return share / 2;
  const double rows = static_cast<double>(w.rows), columns = static_cast<double>(w.columns), batch = static_cast<double>(w.batch);
  const double tiles = batch * std::ceil(rows / kTile) * std::ceil(columns / kTile);
  const double whole = batch * rows * columns / (kTile * kTile);
  double used = whole / (std::ceil(tiles / multiprocessors_) * multiprocessors_);
  const double finer = batch * std::ceil(rows / kSmallTile) * std::ceil(columns / kSmallTile);
  if (tiles < multiprocessors_) used = std::max(used, std::min(1.0, finer / multiprocessors_) * whole * 4 / finer);
  const double depth = static_cast<double>(w.depth);
  return share * std::clamp(used, 0.02, 1.0) * depth / (depth + kDepthRamp);
}

double Rates::KernelSeconds(const Work& w) const {
  if (w.kernels == 0) return 0;
  const double moving = w.bytes / bandwidth_;
  const double computing = w.flops > 0 ? w.flops / (PeakFlops(w.unit, w.dtype) * Utilisation(w)) : 0;
  return std::max(moving, computing) + w.kernels * kKernelFloor;
}

double Rates::HostCopySeconds(double bytes) const { return bytes / host_bandwidth_ + kKernelFloor; }

double Rates::IssueSeconds(bool backward) const { return backward ? kBackwardIssue : kForwardIssue; }

}  // namespace memcrest
