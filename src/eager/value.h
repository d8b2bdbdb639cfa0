// Storages, and values: views of them with sizes, strides and an element type, as PyTorch's tensors are.
//
// A Value is a shared handle: copying it is another reference to the same tensor, View() makes another tensor on the same
// storage. A storage's death is an event of the trace. Sizes and strides are in elements.
#ifndef MEMCREST_EAGER_VALUE_H_
#define MEMCREST_EAGER_VALUE_H_

#include <cstdint>
#include <optional>

#include "src/base/dims.h"
#include "src/base/dtype.h"
#include "src/eager/ref.h"
#include "src/eager/trace.h"

namespace memcrest {

class Recorder;
struct TapeNode;
struct Leaf;

struct Storage {
  uint32_t refs = 0;
  StorageId id = kNone;
  Bytes bytes = 0;
  Category category = Category::kActivations;
  Seen seen = Seen::kBoth;
  Place place = Place::kDevice;
  StreamId stream = 0;
  Recorder* recorder = nullptr;  // where its end is noted
};
void Destroy(Storage* storage);  // notes the end, frees the record

// Immutable sizes, strides and type, shared by a tensor and by the tape nodes that must remember them.
struct Meta {
  uint32_t refs = 0;
  DType dtype = DType::kUndefined;
  Dims sizes, strides;
  int64_t elements = 0;
};
void Destroy(Meta* meta);
using MetaRef = Ref<Meta>;
MetaRef MakeMeta(DimSpan sizes, DimSpan strides, DType dtype);

struct TensorImpl {
  uint32_t refs = 0;
  bool requires_grad = false;
  bool is_view = false;
  uint16_t output_nr = 0;        // which output of grad_fn this is
  Ref<Storage> storage;          // null only for dead values made after an early stop
  MetaRef meta;
  Ref<TapeNode> grad_fn;         // null for leaves and for what needs no gradient
  Leaf* leaf = nullptr;          // parameters that train
};
void Destroy(TensorImpl* impl);

class Value {
 public:
  Value() = default;
  explicit Value(TensorImpl* impl) : impl_(impl) {}
  explicit operator bool() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  Storage* storage() const { return impl_->storage.get(); }
  const Meta& meta() const { return *impl_->meta; }
  const MetaRef& meta_ref() const { return impl_->meta; }
  const Dims& sizes() const { return impl_->meta->sizes; }
  const Dims& strides() const { return impl_->meta->strides; }
  DType dtype() const { return impl_->meta->dtype; }
  int rank() const { return static_cast<int>(impl_->meta->sizes.size()); }
  int64_t size(int64_t axis) const { return sizes()[static_cast<size_t>(NormalAxis(axis, rank()))]; }
  int64_t elements() const { return impl_->meta->elements; }
  Bytes bytes() const { return (impl_->meta->elements * BitsOf(impl_->meta->dtype) + 7) / 8; }
  bool requires_grad() const { return impl_->requires_grad; }
  void reset() { impl_.reset(); }
  friend bool operator==(const Value& a, const Value& b) { return a.impl_ == b.impl_; }

 private:
  Ref<TensorImpl> impl_;
};

bool IsContiguous(const Meta& meta);
bool IsChannelsLast(const Meta& meta);          // rank 4 or 5, dense in NHWC order and not also contiguous
bool IsDense(const Meta& meta);                 // non-overlapping and dense, in any order
inline bool IsContiguous(const Value& v) { return IsContiguous(v.meta()); }
inline bool IsChannelsLast(const Value& v) { return IsChannelsLast(v.meta()); }
inline bool IsDense(const Value& v) { return IsDense(v.meta()); }
// Strides that let `sizes` view `meta` without a copy (at::detail::computeStride); nullopt: a copy is needed.
std::optional<Dims> ViewStrides(const Meta& meta, DimSpan sizes);
// Strides of an empty_like(preserve_format) result: those of a dense tensor, the order of dimensions otherwise.
Dims LikeStrides(const Meta& meta);
// Strides TensorIterator gives a fresh result of these operands (sizes already broadcast to `sizes`).
Dims PointwiseStrides(absl::Span<const Meta* const> operands, DimSpan sizes);

}  // namespace memcrest

#endif  // MEMCREST_EAGER_VALUE_H_
