#include "src/ops/reduce_scratch.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memcrest {
namespace {

// TensorIterator's view of a reduction: dimensions innermost first, reduced ones in front, strides in bytes.
struct Iterator {
  struct Dim {
    int64_t size = 1, in = 0, out = 0;
    bool reduced = false;
  };
  absl::InlinedVector<Dim, 6> dims;
  int element = 4;  // bytes of one input element
  int out_element = 4;

  int64_t Elements() const {
    int64_t n = 1;
    for (const Dim& d : dims) n *= d.size;
    return n;
  }
  int64_t Outputs() const {
    int64_t n = 1;
    for (const Dim& d : dims) n *= d.reduced ? 1 : d.size;
    return n;
  }
  size_t Reduced() const {
    return static_cast<size_t>(std::count_if(dims.begin(), dims.end(), [](const Dim& d) { return d.reduced; }));
  }
};

// 1: `inner` and `outer` change places, -1: they stay, 0: undecided (TensorIteratorBase::reorder_dimensions; the output
// first).
int Compare(const Iterator::Dim& inner, const Iterator::Dim& outer) {
  if (inner.reduced != outer.reduced) return outer.reduced ? 1 : -1;
  for (const auto& [a, b] : {std::pair(inner.out, outer.out), std::pair(inner.in, outer.in)}) {
    if (a == 0 || b == 0) continue;
    if (a != b) return a < b ? -1 : 1;
    if (inner.size > outer.size) return 1;
  }
  return 0;
}

void Reorder(Iterator& it) {
  for (size_t i = 1; i < it.dims.size(); ++i) {
    size_t at = i;
    for (size_t below = i; below-- > 0;) {
      const int c = Compare(it.dims[below], it.dims[at]);
      if (c > 0) {
        std::swap(it.dims[below], it.dims[at]);
        at = below;
      } else if (c < 0) {
        break;
      }
    }
  }
}

bool CanMerge(const Iterator::Dim& a, const Iterator::Dim& b) {
  if (a.size == 1 || b.size == 1) return true;
  return a.size * a.in == b.in && a.size * a.out == b.out;
}

void Coalesce(Iterator& it) {
  if (it.dims.size() < 2) return;
  size_t last = 0;
  for (size_t i = 1; i < it.dims.size(); ++i) {
    Iterator::Dim& into = it.dims[last];
    const Iterator::Dim& d = it.dims[i];
    if (CanMerge(into, d)) {
      if (into.size == 1) into = Iterator::Dim{1, d.in, d.out, d.reduced};
      into.size *= d.size;
    } else {
      it.dims[++last] = d;
    }
  }
  it.dims.resize(last + 1);
  for (Iterator::Dim& d : it.dims) d.reduced = d.out == 0;
}

Iterator MakeIterator(const Meta& input, DimSpan axes, int element, int out_element) {
  const size_t rank = input.sizes.size();
  absl::InlinedVector<bool, 6> reduced(rank, axes.empty());
  for (const int64_t a : axes) {
    if (rank > 0) reduced[static_cast<size_t>(NormalAxis(a, static_cast<int>(rank)))] = true;
  }
  Iterator it;
  it.element = element;
  it.out_element = out_element;
  int64_t step = out_element;
  for (size_t i = rank; i-- > 0;) {
    it.dims.push_back({input.sizes[i], input.strides[i] * element, reduced[i] ? 0 : step, reduced[i]});
    if (!reduced[i]) step *= input.sizes[i];
  }
  Reorder(it);
  Coalesce(it);
  return it;
}

int FloorPow2(int64_t n, int limit) {
  if (n >= limit) return limit;
  int p = 1;
  while (p * 2 <= n) p *= 2;
  return p;
}

// CUDA programming guide, technical specifications per compute capability.
int MaxThreadsPerMultiprocessor(int sm) {
  return sm == 75 ? 1024 : sm == 86 || sm == 87 || sm == 89 || sm >= 120 ? 1536 : 2048;
}

// get_output_vec_size: the widest load (up to 4 elements) that all strides and the size allow.
int OutputVector(const Iterator& it) {
  const size_t at = it.Reduced();
  int64_t width = 4;
  const auto fit = [&](int64_t n) {
    while (n % width != 0) width /= 2;
  };
  fit(it.dims[at].size);
  for (size_t i = 0; i < it.dims.size(); ++i) {
    if (i != at) fit(it.dims[i].in / it.element);
  }
  return static_cast<int>(width);
}

// One launch (setReduceConfig), then the buffers it asks for.
Bytes LaunchScratch(const KernelDevice& device, const Iterator& it, const ReduceKernel& kernel) {
  if (it.dims.empty() || it.Elements() == 0) return 0;
  const int64_t outputs = it.Outputs(), inputs = it.Elements() / outputs;
  const size_t reduced = it.Reduced();
  const bool along_fastest = reduced == it.dims.size() || it.dims[0].in < it.dims[reduced].in;
  int64_t dim0 = along_fastest ? inputs : outputs, dim1 = along_fastest ? outputs : inputs;
  int vector = 1;
  if ((along_fastest ? it.dims[0].in : it.dims[reduced].in) == it.element) {
    if (!along_fastest) {
      vector = OutputVector(it);
      dim0 /= vector;
    } else if (dim0 >= 128 && reduced == 1) {
      dim0 /= kernel.input_vector;
    }
  }
  constexpr int kWarp = 32;
  const int max_threads = 512 / vector;
  const int width_limit = FloorPow2(dim0, max_threads), height_limit = FloorPow2(dim1, max_threads);
  int width = std::min(width_limit, kWarp);
  const int height = std::min(height_limit, max_threads / width);
  width = std::min(width_limit, max_threads / height);

  int64_t step_input = along_fastest ? width : 1, step_output = along_fastest ? 1 : width;
  // setReduceConfig of Reduce.cuh: values a thread should get at least and at most.
  constexpr int64_t kMinValues = 16, kMaxValues = 256;
  const bool across_warps = CeilDiv(inputs, step_input) >= std::min<int64_t>(height * 16, kMaxValues);
  (across_warps ? step_input : step_output) *= height;
  const int64_t blocks = int64_t{device.multiprocessors} * (MaxThreadsPerMultiprocessor(device.sm) / (width * height));
  const int64_t grid = CeilDiv(outputs / vector, step_output), values = CeilDiv(inputs, step_input);
  if (!across_warps || values < kMaxValues || grid > blocks) return 0;
  const int64_t ctas =
      std::max(CeilDiv(values, kMaxValues), std::min(CeilDiv(blocks, grid), CeilDiv(values, kMinValues)));
  if (ctas <= 1) return 0;
  const Bytes partial = kernel.partial_bytes * outputs * ctas * (along_fastest ? 1 : int64_t{width} * vector);
  return partial + 4 * grid;  // partial results; one semaphore (int) a block column
}

bool Fits32Bits(const Iterator& it) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  int64_t in = 1, out = 1;
  for (const Iterator::Dim& d : it.dims) {
    in += (d.size - 1) * d.in;
    out += (d.size - 1) * d.out;
  }
  return it.Elements() <= kMax && in <= kMax && out <= kMax;
}

// Large iterators are halved along their longest extent until offsets fit 32 bits; the launches follow one another.
Bytes SplitScratch(const KernelDevice& device, const Iterator& it, const ReduceKernel& kernel) {
  if (Fits32Bits(it)) return LaunchScratch(device, it, kernel);
  size_t longest = 0;
  int64_t extent = -1;
  for (size_t i = it.dims.size(); i-- > 0;) {
    const int64_t e = (it.dims[i].size - 1) * std::max(it.dims[i].in, it.dims[i].out);
    if (e > extent) extent = e, longest = i;
  }
  Iterator low = it, high = it;
  low.dims[longest].size /= 2;
  high.dims[longest].size -= low.dims[longest].size;
  return std::max(SplitScratch(device, low, kernel), SplitScratch(device, high, kernel));
}

}  // namespace

ReduceKernel SumKernel(DType input, DType result) {
  ReduceKernel k;
  k.partial_bytes = IsLowPrecision(input) ? 4 : BytesOf(input);
  k.input_vector = BytesOf(input) == 2 ? 8 : 4;
  k.partial_in_output = !(IsLowPrecision(input) && IsLowPrecision(result));
  return k;
}

ReduceKernel ExtremeKernel(DType input, bool with_index) {
  ReduceKernel k;
  // Value and int64 index of one candidate.
  k.partial_bytes = with_index ? 16 : BytesOf(input);
  k.partial_in_output = !with_index;
  return k;
}

ReduceKernel MomentKernel(DType input) {
  ReduceKernel k;
  // WelfordData: mean, m2, count and their padding (SharedReduceOps.h).
  k.partial_bytes = input == DType::kFloat64 ? 32 : 16;
  k.input_vector = 2;
  k.partial_in_output = false;
  return k;
}

ReduceKernel BoolKernel() {
  ReduceKernel k;
  k.partial_bytes = 1;
  return k;
}

Bytes ReductionScratch(const KernelDevice& device, const Meta& input, DimSpan axes, const ReduceKernel& kernel) {
  const Iterator it = MakeIterator(input, axes, BytesOf(input.dtype), BytesOf(input.dtype));
  Bytes bytes = SplitScratch(device, it, kernel);
  if (!kernel.partial_in_output && !Fits32Bits(it)) bytes += it.Outputs() * kernel.partial_bytes;  // AccumulationBuffer
  return bytes;
}

Bytes SumScratch(const KernelDevice& device, const Meta& input, DimSpan axes, DType result) {
  if (!IsDifferentiable(input.dtype) && input.dtype != result) {  // integers are summed in a cast copy, made first
    const MetaRef cast = MakeMeta(input.sizes, LikeStrides(input), result);
    return ReductionScratch(device, *cast, axes, SumKernel(result, result));
  }
  return ReductionScratch(device, input, axes, SumKernel(input.dtype, result));
}

}  // namespace memcrest
