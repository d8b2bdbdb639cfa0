#include "src/ops/indexed.h"

#include <algorithm>
#include <utility>

#include "src/ops/views.h"

namespace memcrest {
namespace {

bool IsMask(const Value& v) { return v && (v.dtype() == DType::kBool || v.dtype() == DType::kUInt8); }

// Dimensions of x that one index takes.
size_t Takes(const Value& index) { return IsMask(index) ? static_cast<size_t>(index.rank()) : 1; }

// One flag per dimension of x: is it indexed?
std::vector<bool> IndexedDims(const Meta& x, absl::Span<const Value> indices) {
  std::vector<bool> flags;
  for (const Value& index : indices) flags.insert(flags.end(), index ? Takes(index) : 1, static_cast<bool>(index));
  flags.resize(x.sizes.size(), false);
  return flags;
}

// Result sizes to the left and right of the broadcast index; `position` counts those on the left.
void LocateBroadcast(Indexed& plan, const Meta& x, const std::vector<bool>& flags) {
  const auto first = std::find(flags.begin(), flags.end(), true);
  const auto last = std::find(flags.rbegin(), flags.rend(), true).base();
  plan.adjacent = std::find(first, last, false) == last;
  plan.position = plan.adjacent && first != flags.end() ? static_cast<size_t>(first - flags.begin()) : 0;
  plan.moved = !plan.adjacent;
  int64_t trailing = 1;
  for (size_t i = static_cast<size_t>(last - flags.begin()); i < flags.size(); ++i) trailing *= x.sizes[i];
  plan.rows = trailing > 0 ? std::max<int64_t>(1, x.elements / trailing) : 1;
}

// Sizes that all index tensors broadcast to; a mask is one dimension of as many elements as it picks.
Dims CommonSizes(absl::Span<const Value> indices, const Dims* picked, size_t position) {
  Dims common;
  for (const Value& index : indices) {
    if (!index) continue;
    Dims own = index.sizes();
    if (IsMask(index)) own = {picked != nullptr && position < picked->size() ? (*picked)[position] : index.elements()};
    common = Broadcast(common, own).value_or(NumElements(own) > NumElements(common) ? own : common);
  }
  return common;
}

// Strides of x seen in the result's dimensions: 0 where an index chooses.
Meta Restrided(const Meta& x, const std::vector<bool>& flags, const Indexed& plan) {
  Meta seen;
  seen.dtype = x.dtype;
  seen.sizes = plan.result;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) seen.strides.push_back(x.strides[i]);
  }
  const size_t at = std::min(plan.position, seen.strides.size());
  seen.strides.insert(seen.strides.begin() + static_cast<std::ptrdiff_t>(at), plan.broadcast.size(), 0);
  seen.elements = NumElements(seen.sizes);
  return seen;
}

// The same for an index: 0 outside its own dimensions.
Meta IndexMeta(const Indexed& plan) {
  Meta seen;
  seen.dtype = DType::kInt64;
  seen.sizes = plan.result;
  seen.strides.resize(plan.result.size(), 0);
  const Dims own = ContiguousStrides(plan.broadcast);
  for (size_t i = 0; i < own.size() && plan.position + i < seen.strides.size(); ++i)
    seen.strides[plan.position + i] = own[i];
  seen.elements = NumElements(seen.sizes);
  return seen;
}

}  // namespace

int BitsFor(int64_t rows) {
  int bits = 1;
  for (int64_t largest = rows - 1; largest > 1; largest >>= 1) ++bits;
  return bits;
}

// cub::DeviceRadixSort::SortPairs (dispatch_radix_sort.cuh): up to one tile in one block; else look-back state and histograms of
// 8-bit digits, each 256-byte aligned.
Bytes SortPairsScratch(int64_t n, int bits) {
  // cub, dispatch_radix_sort.cuh; items of a tile: its tuning for 8-byte keys and values.
  constexpr int64_t kOneTile = 2304, kTile = 4608, kDigits = 256;
  if (n <= kOneTile) return 1;
  // cub::AliasTemporaries aligns to 256 bytes.
  const auto aligned = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
  const int64_t passes = (bits + 7) / 8, tiles = (n + kTile - 1) / kTile;
  const Bytes buffers = passes > 1 ? 2 * aligned(8 * n) : 0;
  return 255 + passes * kDigits * 8 + tiles * kDigits * 4 + aligned(passes * 4) + buffers;
}

Indexed PlanIndexing(const Meta& x, absl::Span<const Value> indices, const Dims* picked) {
  Indexed plan;
  const std::vector<bool> flags = IndexedDims(x, indices);
  if (flags.size() != x.sizes.size()) {  // more indices than dimensions: the bound sizes are all that is known
    plan.result = picked != nullptr ? *picked : x.sizes;
    plan.strides = ContiguousStrides(plan.result);
    plan.broadcast = plan.result;
    plan.count = NumElements(plan.result);
    return plan;
  }
  LocateBroadcast(plan, x, flags);
  plan.broadcast = CommonSizes(indices, picked, plan.position);
  plan.count = NumElements(plan.broadcast);
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) plan.result.push_back(x.sizes[i]);
  }
  const size_t at = std::min(plan.position, plan.result.size());
  plan.result.insert(plan.result.begin() + static_cast<std::ptrdiff_t>(at), plan.broadcast.begin(),
                     plan.broadcast.end());
  const Meta seen = Restrided(x, flags, plan), index = IndexMeta(plan);
  const Meta* operands[] = {&seen, &index};
  plan.strides = PointwiseStrides(operands, plan.result);
  if (picked != nullptr && *picked != plan.result) {
    plan.result = *picked;
    plan.strides = ContiguousStrides(plan.result);
  }
  return plan;
}

std::vector<HiddenBlock> PreparedIndices(Eager& rt, absl::Span<const Value> indices, const Indexed& plan) {
  std::vector<HiddenBlock> blocks;
  int64_t tensors = 0;
  bool expanded = false;
  for (const Value& index : indices) {
    if (!index) continue;
    ++tensors;
    if (IsMask(index)) {
      blocks.push_back(rt.Hidden(plan.count * 8 * index.rank()));  // nonzero
    } else {
      if (index.dtype() != DType::kInt64) blocks.push_back(rt.Hidden(index.elements() * 8));
      expanded = expanded || index.sizes() != plan.broadcast;
    }
  }
  // Index tensors whose strides differ after broadcasting are all copied (AdvancedIndex).
  for (int64_t i = 0; tensors > 1 && expanded && i < tensors; ++i) blocks.push_back(rt.Hidden(plan.count * 8));
  return blocks;
}

void SortAndAdd(Eager& rt, const Value& x, absl::Span<const Value> indices, const Value& values, const Indexed& plan) {
  const Bytes each = plan.count * 8;
  HiddenBlock linear;
  {
    std::vector<HiddenBlock> cast;
    for (const Value& index : indices) {
      if (IsMask(index)) {
        cast.push_back(rt.Hidden(each * index.rank()));
      } else if (index && index.dtype() != DType::kInt64) {
        cast.push_back(rt.Hidden(index.elements() * 8));
      }
    }
    bool first = true;
    for (const Value& index : indices) {
      for (size_t k = 0; index && k < Takes(index); ++k) {
        HiddenBlock wrapped = rt.Hidden(each);
        HiddenBlock scaled = rt.Hidden(each);
        wrapped = HiddenBlock();
        if (std::exchange(first, false)) linear = std::move(scaled);
      }
    }
  }
  const HiddenBlock row_major = rt.Hidden(!values || IsContiguous(values) ? 0 : values.bytes());
  const HiddenBlock moved = rt.Hidden(plan.moved ? x.bytes() : 0);
  const HiddenBlock sorted = rt.Hidden(each), positions = rt.Hidden(each), range = rt.Hidden(each);
  const HiddenBlock scratch = rt.Hidden(SortPairsScratch(plan.count, BitsFor(plan.rows)));
}

}  // namespace memcrest
