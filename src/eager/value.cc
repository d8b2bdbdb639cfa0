#include "src/eager/value.h"

#include <algorithm>
#include <numeric>

#include "src/eager/recorder.h"
#include "src/eager/tape.h"

namespace memcrest {

void Destroy(Storage* storage) {
  if (storage->recorder != nullptr) storage->recorder->Freed(*storage);
  delete storage;
}
void Destroy(Meta* meta) { delete meta; }
void Destroy(TensorImpl* impl) { delete impl; }

MetaRef MakeMeta(DimSpan sizes, DimSpan strides, DType dtype) {
  Meta* meta = new Meta;
  meta->dtype = dtype;
  meta->sizes.assign(sizes.begin(), sizes.end());
  meta->strides.assign(strides.begin(), strides.end());
  meta->elements = NumElements(sizes);
  return MetaRef(meta);
}

bool IsContiguous(const Meta& meta) {
  if (meta.elements == 0) return true;
  int64_t expected = 1;
  for (size_t i = meta.sizes.size(); i-- > 0;) {
    if (meta.sizes[i] == 1) continue;
    if (meta.strides[i] != expected) return false;
    expected *= meta.sizes[i];
  }
  return true;
}

bool IsChannelsLast(const Meta& meta) {
  const size_t rank = meta.sizes.size();
  if (rank != 4 && rank != 5) return false;
  if (IsContiguous(meta)) return false;
  return Dims(meta.strides) == ChannelsLastStrides(meta.sizes);
}

namespace {

// Dimensions in the order of growing stride; size-1 dimensions go where their stride says.
absl::InlinedVector<size_t, 6> ByStride(const Meta& meta) {
  absl::InlinedVector<size_t, 6> order(meta.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return meta.strides[a] < meta.strides[b]; });
  return order;
}

// Stride of `dim` (of the broadcast shape) in an operand; 0 where it is broadcast and so has no say.
int64_t StrideIn(const Meta& m, DimSpan sizes, size_t dim) {
  const size_t pad = sizes.size() - m.sizes.size();
  if (dim < pad) return 0;
  return m.sizes[dim - pad] == 1 && sizes[dim] != 1 ? 0 : m.strides[dim - pad];
}

// Should `inner` and `outer` change places? 1 yes, -1 no, 0 nobody decides (TensorIterator::reorder_dimensions).
int CompareDims(absl::Span<const Meta* const> operands, DimSpan sizes, size_t inner, size_t outer) {
  for (const Meta* m : operands) {
    const int64_t a = StrideIn(*m, sizes, inner), b = StrideIn(*m, sizes, outer);
    if (a == 0 || b == 0) continue;
    if (a != b) return a < b ? -1 : 1;
    if (sizes[inner] > sizes[outer]) return 1;  // equal strides: the larger dimension goes outside
  }
  return 0;
}

// TensorIterator's order of dimensions, innermost first: an insertion sort that ambiguous comparisons pass through.
absl::InlinedVector<size_t, 6> IteratorOrder(absl::Span<const Meta* const> operands, DimSpan sizes) {
  const size_t rank = sizes.size();
  absl::InlinedVector<size_t, 6> perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = rank - 1 - i;
  for (size_t i = 1; i < rank; ++i) {
    size_t dim1 = i;
    for (size_t dim0 = i; dim0-- > 0;) {
      const int c = CompareDims(operands, sizes, perm[dim0], perm[dim1]);
      if (c > 0) {
        std::swap(perm[dim0], perm[dim1]);
        dim1 = dim0;
      } else if (c < 0) {
        break;
      }
    }
  }
  return perm;
}

}  // namespace

bool IsDense(const Meta& meta) {
  if (meta.elements == 0 || IsContiguous(meta)) return true;
  int64_t expected = 1;
  for (const size_t d : ByStride(meta)) {
    if (meta.sizes[d] == 1) continue;
    if (meta.strides[d] != expected) return false;
    expected *= meta.sizes[d];
  }
  return true;
}

std::optional<Dims> ViewStrides(const Meta& meta, DimSpan sizes) {
  Dims strides(sizes.size(), 1);
  if (meta.elements == 0) return ContiguousStrides(sizes);
  if (meta.sizes.empty()) return strides;
  size_t view = sizes.size();
  int64_t chunk_base = meta.strides.back();
  int64_t chunk = 1, view_chunk = 1;
  for (size_t dim = meta.sizes.size(); dim-- > 0;) {
    chunk *= meta.sizes[dim];
    const bool ends = dim == 0 || (meta.sizes[dim - 1] != 1 && meta.strides[dim - 1] != chunk * chunk_base);
    if (!ends) continue;
    while (view > 0 && (view_chunk < chunk || sizes[view - 1] == 1)) {
      --view;
      strides[view] = view_chunk * chunk_base;
      view_chunk *= sizes[view];
    }
    if (view_chunk != chunk) return std::nullopt;
    if (dim > 0) {
      chunk_base = meta.strides[dim - 1];
      chunk = view_chunk = 1;
    }
  }
  if (view != 0) return std::nullopt;
  return strides;
}

Dims LikeStrides(const Meta& meta) {
  if (IsContiguous(meta)) return ContiguousStrides(meta.sizes);
  if (IsDense(meta)) return meta.strides;
  const Meta* one = &meta;
  return PointwiseStrides(absl::MakeConstSpan(&one, 1), meta.sizes);
}

Dims PointwiseStrides(absl::Span<const Meta* const> operands, DimSpan sizes) {
  bool plain = true;
  for (const Meta* m : operands) plain = plain && IsContiguous(*m);
  if (plain || sizes.size() < 2) return ContiguousStrides(sizes);
  // All operands of the full size with one dense layout: that layout (the iterator's fast path).
  const Meta* first = nullptr;
  bool same = true;
  for (const Meta* m : operands) {
    if (Dims(m->sizes) != Dims(sizes.begin(), sizes.end())) {
      same = false;
      break;
    }
    if (first == nullptr) first = m;
    same = same && m->strides == first->strides;
  }
  if (same && first != nullptr && IsDense(*first)) return first->strides;
  Dims strides(sizes.size());
  int64_t step = 1;
  for (const size_t d : IteratorOrder(operands, sizes)) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

}  // namespace memcrest
