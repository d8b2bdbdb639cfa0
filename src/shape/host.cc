#include "src/shape/host.h"

#include <utility>

namespace memcrest::shape {

void SetInts(BoundValue* out, std::vector<int64_t> ints) {
  out->has_ints = true;
  out->ints = std::move(ints);
}

void SetFloats(BoundValue* out, std::vector<double> floats) {
  for (double& f : floats) f = RoundTo(out->dtype, f);
  out->has_floats = true;
  out->floats = std::move(floats);
}

void CopyHost(const BoundValue& from, BoundValue* out) {
  if (from.has_ints) SetInts(out, from.ints);
  if (from.has_floats) SetFloats(out, from.floats);
}

std::vector<int64_t> FlatIndices(int64_t offset, DimSpan strides, DimSpan sizes) {
  std::vector<int64_t> indices(static_cast<size_t>(NumElements(sizes)));
  Dims position(sizes.size(), 0);
  for (int64_t& index : indices) {
    index = offset;
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++position[d] < sizes[d]) break;
      offset -= strides[d] * sizes[d];
      position[d] = 0;
    }
  }
  return indices;
}

void TakeFlat(const BoundValue& from, absl::Span<const int64_t> indices, BoundValue* out) {
  const auto take = [&](const auto& source, auto* target) {
    target->reserve(indices.size());
    for (const int64_t i : indices) target->push_back(source[static_cast<size_t>(i)]);
  };
  if (from.has_ints) take(from.ints, &out->ints);
  if (from.has_floats) take(from.floats, &out->floats);
  out->has_ints = from.has_ints;
  out->has_floats = from.has_floats;
}

void TakeStrided(const BoundValue& from, int64_t offset, DimSpan strides, BoundValue* out) {
  if (HasHost(from)) TakeFlat(from, FlatIndices(offset, strides, out->sizes), out);
}

Dims BroadcastStrides(DimSpan from, size_t rank) {
  Dims strides(rank, 0);
  const Dims own = ContiguousStrides(from);
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) strides[rank - from.size() + d] = own[d];
  }
  return strides;
}

double RoundTo(DType dtype, double value) {
  return dtype == DType::kFloat64 ? value : static_cast<double>(static_cast<float>(value));
}

}  // namespace memcrest::shape
