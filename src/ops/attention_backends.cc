#include "src/ops/attention_backends.h"

#include <array>

namespace memcrest {
namespace {

int64_t HeadSize(const AttentionRequest& r) { return r.query.size(-1); }

bool HalfPrecision(const AttentionRequest& r) { return IsLowPrecision(r.query.dtype()); }

// check_cudnn_*, check_flash_attention_* ... of aten/src/ATen/native/transformers/cuda/sdp_utils.cpp; sm: compute capability x 10.
bool CudnnRuns(const KernelDevice& device, const AttentionRequest& r) {
  const int64_t head = HeadSize(r);  // sdp_utils.cpp, check_cudnn_tensor_shapes
  const bool head_fits = head % 8 == 0 && (head <= 128 || (head == 256 && device.sm >= 90 && device.sm < 100));
  return device.sm >= 80 && HalfPrecision(r) && head_fits && r.value.size(-1) % 8 == 0 && r.dropout == 0 &&
         !r.mask_trains && r.key.size(-2) > 1;
}

bool FlashRuns(const KernelDevice& device, const AttentionRequest& r) {
  const int64_t head = HeadSize(r);  // sdp_utils.cpp, check_flash_attention_hardware_support, check_head_dim_size_flash
  if (device.sm < 80 || !HalfPrecision(r) || r.masked || head > 256 || r.value.size(-1) != head) return false;
  if (r.causal && r.query.size(-2) != r.key.size(-2)) return false;
  // Consumer Ampere and Ada have too little shared memory for large heads in backward.
  const bool small = device.sm == 86 || device.sm == 89 || device.sm >= 120;
  return !(small && r.trains && ((head > 192 && head <= 224) || (head > 224 && r.dropout > 0)));
}

// Elements a row must be a multiple of: what its tensor core instruction loads (minimum_gemm_alignment).
int64_t EfficientAlignment(const KernelDevice& device, DType dtype) {
  if (IsLowPrecision(dtype)) return device.sm >= 75 ? 8 : 4;
  return device.sm >= 80 ? 4 : 1;
}

bool EfficientRuns(const KernelDevice& device, const AttentionRequest& r) {
  const DType dtype = r.query.dtype();  // sdp_utils.cpp, use_mem_efficient_attention: bfloat16 from sm 80
  if (dtype != DType::kFloat32 && dtype != DType::kFloat16 && !(dtype == DType::kBFloat16 && device.sm >= 80))
    return false;
  const int64_t alignment = EfficientAlignment(device, dtype);
  return HeadSize(r) % alignment == 0 && r.value.size(-1) % alignment == 0;
}

bool Runs(AttentionBackend backend, const KernelDevice& device, const AttentionRequest& r) {
  if (backend == AttentionBackend::kMath) return true;
  if (r.query.rank() != 4 || r.query.size(-2) == 0 || r.key.size(-2) == 0) return false;
  if (backend == AttentionBackend::kCudnn) return CudnnRuns(device, r);
  return backend == AttentionBackend::kFlash ? FlashRuns(device, r) : EfficientRuns(device, r);
}

struct Named {
  const char* name;
  AttentionBackend backend;
};
constexpr std::array<Named, 4> kNamed = {{{"cudnn", AttentionBackend::kCudnn},
                                          {"flash", AttentionBackend::kFlash},
                                          {"efficient", AttentionBackend::kEfficient},
                                          {"math", AttentionBackend::kMath}}};

}  // namespace

AttentionBackend ChooseBackend(const KernelDevice& device, const AttentionRequest& request) {
  for (const Named& n : kNamed) {
    if (device.attention == n.name && Runs(n.backend, device, request)) return n.backend;
  }
  // sdp_utils.cpp, priority_order: cuDNN first on sm 9.x and 10.x.
  const bool cudnn_first = device.sm / 10 == 9 || device.sm / 10 == 10;
  for (const Named& n : kNamed) {
    if (n.backend == AttentionBackend::kCudnn && !cudnn_first) continue;
    if (Runs(n.backend, device, request)) return n.backend;
  }
  return AttentionBackend::kMath;
}

}  // namespace memcrest
