#include "src/eager/eager.h"

#include <algorithm>
#include <utility>

namespace memcrest {
namespace {

// Bytes a storage needs for strided sizes: to the last element, packed for sub-byte types.
Bytes SpanBytes(DimSpan sizes, DimSpan strides, DType dtype) {
  int64_t last = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return (last * BitsOf(dtype) + 7) / 8;
}

// PyTorch's result type (c10 ResultTypeState): tensors with dimensions outrank zero-dimensional ones of the same category.
DType ResultType(absl::Span<const Value> operands) {
  DType ranked = DType::kUndefined, scalar = DType::kUndefined;
  for (const Value& v : operands) {
    if (!v) continue;
    DType& into = v.rank() > 0 ? ranked : scalar;
    into = Promote(into, v.dtype());
  }
  if (ranked == DType::kUndefined) return scalar;
  if (scalar == DType::kUndefined) return ranked;
  const auto category = [](DType d) { return IsComplex(d) ? 3 : IsFloating(d) ? 2 : IsIntegral(d) ? 1 : 0; };
  return category(scalar) > category(ranked) ? Promote(ranked, scalar) : ranked;
}

}  // namespace

Eager::Eager(KernelDevice device, const OpRegistry& ops) : ops_(ops), device_(std::move(device)) {}
Eager::~Eager() = default;

Value Eager::NewTensor(Ref<Storage> storage, MetaRef meta, bool is_view) {
  TensorImpl* impl = new TensorImpl;
  impl->storage = std::move(storage);
  impl->meta = std::move(meta);
  impl->is_view = is_view;
  return Value(impl);
}

Value Eager::EmptyStrided(DimSpan sizes, DimSpan strides, DType dtype) {
  const Bytes bytes = stopped_ ? 0 : SpanBytes(sizes, strides, dtype);
  return NewTensor(recorder_.Alloc(bytes, recorder_.CategoryNow()), MakeMeta(sizes, strides, dtype), false);
}

Value Eager::Empty(DimSpan sizes, DType dtype) { return EmptyStrided(sizes, ContiguousStrides(sizes), dtype); }

Value Eager::EmptyLike(const Meta& like, DType dtype) {
  return EmptyStrided(like.sizes, LikeStrides(like), dtype == DType::kUndefined ? like.dtype : dtype);
}
Value Eager::EmptyLike(const Value& like, DType dtype) { return EmptyLike(like.meta(), dtype); }

Value Eager::Pointwise(absl::Span<const Value> operands, DType dtype) {
  absl::InlinedVector<const Meta*, 4> metas;
  Dims sizes;
  for (const Value& v : operands) {
    if (!v) continue;
    // Sizes were validated when shapes were bound; a misfit here comes from an upper bound: the larger size is kept.
    const std::optional<Dims> joined = metas.empty() ? Dims(v.sizes()) : Broadcast(sizes, v.sizes());
    if (joined.has_value()) {
      sizes = *joined;
    } else if (v.elements() > NumElements(sizes)) {
      sizes = v.sizes();
    }
    metas.push_back(&v.meta());
  }
  metas.erase(std::remove_if(metas.begin(), metas.end(), [&](const Meta* m) { return m->sizes.size() > sizes.size(); }), metas.end());
  return EmptyStrided(sizes, PointwiseStrides(metas, sizes), dtype == DType::kUndefined ? ResultType(operands) : dtype);
}

HiddenBlock Eager::Hidden(Bytes bytes) {
  if (stopped_ || bytes <= 0) return HiddenBlock();
  return HiddenBlock(recorder_.Alloc(bytes, Category::kWorkspace, Seen::kAllocatorOnly));
}

void Eager::UseCublas() {
  if (stopped_ || recorder_.muted) return;
  bool& taken = cublas_handles_[recorder_.thread * 65536 + recorder_.stream];
  if (taken) return;
  taken = true;
  workspaces_.push_back(recorder_.Alloc(device_.cublas_workspace, Category::kWorkspace, Seen::kAllocatorOnly));
}

Value Eager::View(const Value& base, DimSpan sizes, DimSpan strides) {
  return NewTensor(base.impl()->storage, MakeMeta(sizes, strides, base.dtype()), true);
}

Value Eager::Transposed(const Value& base, int a, int b) {
  Dims sizes = base.sizes(), strides = base.strides();
  if (sizes.empty()) return Alias(base);
  const size_t x = static_cast<size_t>(NormalAxis(a, base.rank())), y = static_cast<size_t>(NormalAxis(b, base.rank()));
  std::swap(sizes[x], sizes[y]);
  std::swap(strides[x], strides[y]);
  return View(base, sizes, strides);
}

Value Eager::Permuted(const Value& base, DimSpan perm) {
  Dims sizes, strides;
  for (const int64_t p : perm) {
    const size_t d = static_cast<size_t>(NormalAxis(p, base.rank()));
    sizes.push_back(base.sizes()[d]);
    strides.push_back(base.strides()[d]);
  }
  return View(base, sizes, strides);
}

Value Eager::Expanded(const Value& base, DimSpan sizes) {
  Dims strides(sizes.size(), 0);
  const size_t pad = sizes.size() >= base.sizes().size() ? sizes.size() - base.sizes().size() : 0;
  for (size_t i = pad; i < sizes.size(); ++i) {
    if (base.sizes()[i - pad] == sizes[i]) strides[i] = base.strides()[i - pad];
  }
  return View(base, sizes, strides);
}

Value Eager::Reshape(const Value& v, DimSpan sizes) {
  if (const std::optional<Dims> strides = ViewStrides(v.meta(), sizes); strides.has_value()) return View(v, sizes, *strides);
  const Value copy = Empty(v.sizes(), v.dtype());
  return View(copy, sizes, ContiguousStrides(sizes));
}

Value Eager::Contiguous(const Value& v) { return IsContiguous(v) ? v : Empty(v.sizes(), v.dtype()); }

Value Eager::ContiguousAs(const Value& v, bool channels_last) {
  if (!channels_last || (v.rank() != 4 && v.rank() != 5)) return Contiguous(v);
  const Dims strides = ChannelsLastStrides(v.sizes());
  return v.strides() == strides ? v : EmptyStrided(v.sizes(), strides, v.dtype());
}

Value Eager::To(const Value& v, DType dtype) { return v.dtype() == dtype ? v : EmptyLike(v, dtype); }

Value Eager::Reduce(const Value& v, DimSpan axes, bool keepdim, DType dtype) {
  absl::InlinedVector<bool, 6> reduced(v.sizes().size(), axes.empty());
  for (const int64_t a : axes) {
    if (!reduced.empty()) reduced[static_cast<size_t>(NormalAxis(a, v.rank()))] = true;
  }
  Dims sizes;
  for (size_t i = 0; i < v.sizes().size(); ++i) {
    if (!reduced[i]) {
      sizes.push_back(v.sizes()[i]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  const DType type = dtype == DType::kUndefined ? v.dtype() : dtype;
  Value result = Empty(sizes, type);  // the iterator makes the result before its kernel asks for scratch
  const HiddenBlock scratch = Hidden(reduction_scratch == nullptr ? 0 : reduction_scratch(device_, v.meta(), axes, type));
  return result;
}

Value Eager::SumTo(const Value& v, DimSpan sizes) {
  if (v.sizes() == Dims(sizes.begin(), sizes.end())) return v;
  if (v.sizes().size() < sizes.size()) return v;  // cannot be a broadcast of it: left to the caller
  const size_t lead = v.sizes().size() - sizes.size();
  Dims axes;
  for (size_t i = 0; i < v.sizes().size(); ++i) {
    if (i < lead || (sizes[i - lead] == 1 && v.sizes()[i] != 1)) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return v;
  const Value summed = Reduce(v, axes, true);
  return lead == 0 ? summed : View(summed, sizes, ContiguousStrides(sizes));
}

Value Eager::Mm(const Value& a, const Value& b) {
  UseCublas();
  Dims sizes = a.sizes();
  if (!sizes.empty()) sizes.back() = b.size(-1);
  return Empty(sizes, a.dtype());
}

Value Eager::MmTransposed(const Value& a, const Value& b) {
  UseCublas();
  const int64_t rows = a.size(-2), cols = b.size(-1);
  const Dims sizes = {rows, cols}, strides = {1, rows};
  return EmptyStrided(sizes, strides, a.dtype());
}

Value Eager::MakeLeaf(Leaf* leaf, DimSpan sizes, DType dtype, Category category, bool requires_grad) {
  Value v = MakeResident(sizes, dtype, category);
  v.impl()->requires_grad = requires_grad;
  v.impl()->leaf = requires_grad ? leaf : nullptr;
  return v;
}

void Eager::RequireGrad(Value& value) {
  if (!grad_enabled_ || value.requires_grad()) return;
  activation_leaves_.push_back(std::make_unique<Leaf>());
  activation_leaves_.back()->activation = true;
  value.impl()->leaf = activation_leaves_.back().get();
  value.impl()->requires_grad = true;
}

Value Eager::MakeResident(DimSpan sizes, DType dtype, Category category) {
  const Dims strides = ContiguousStrides(sizes);
  return NewTensor(recorder_.Alloc(SpanBytes(sizes, strides, dtype), category), MakeMeta(sizes, strides, dtype), false);
}

void Eager::Retag(const Value& value, Category category) { recorder_.Retag(*value.storage(), category); }

}  // namespace memcrest
