// embedding and embedding_bag: rows of a table; dense gradients of the table's size.
//
// Saves the indices. More than 3072 of them are sorted in backward and summed segment by segment
// (aten/src/ATen/native/cuda/Embedding.cu, EmbeddingBackwardKernel.cu, cuda/cub.cuh).
#include <algorithm>
#include <utility>

#include "src/eager/eager.h"

namespace memcrest {
namespace {

constexpr int64_t kDirectIndices = 3072;  // up to here one kernel adds without sorting
constexpr int64_t kRowsPerThread = 10;    // NROWS_PER_THREAD: indices of one partial segment

int BitLength(int64_t n) {
  int bits = 0;
  for (; n > 0; n /= 2) ++bits;
  return bits;
}

// Scratch of cub's radix sort of n pairs with keys below `limit`: alternate buffers when more than one pass of 8 bits
// is needed, look-back state per tile of 4608 items, histograms.
Bytes SortScratch(int64_t n, int64_t limit, int64_t key, int64_t item) {
  constexpr int64_t kTile = 4608, kPerTile = 1024, kPerPass = 2048, kAlign = 256, kSlack = 511;
  const int64_t passes = CeilDiv(std::max(BitLength(limit), 1), 8);
  const int64_t buffers = passes > 1 ? RoundUp(n * key, kAlign) + RoundUp(n * item, kAlign) : 0;
  return buffers + CeilDiv(n, kTile) * kPerTile + passes * kPerPass + kSlack;
}

constexpr Bytes kScanScratch = 1279;  // cub's unique-by-key and scans at everyday sizes

// The segmented sum: `table` [V, D] made from n sorted indices of `index` bytes each.
Value SegmentedSum(Eager& rt, const Meta& table, int64_t n, int64_t index) {
  Value result = rt.Empty(table.sizes, table.dtype);
  const int64_t rows = table.sizes[0], width = table.sizes[1], segments = std::min(n, rows);
  const HiddenBlock offsets = rt.Hidden(n * index), count = rt.Hidden(index);
  { const HiddenBlock keys = rt.Hidden(n * index), scratch = rt.Hidden(kScanScratch); }
  const HiddenBlock partials = rt.Hidden(segments * index), first = rt.Hidden(segments * index);
  { const HiddenBlock scratch = rt.Hidden(kScanScratch); }
  const HiddenBlock total = rt.Hidden(index);
  const int64_t pieces = n / kRowsPerThread + segments;
  const HiddenBlock piece_offsets = rt.Hidden(pieces * index);
  // Few segments with many members each are summed without partial results in memory.
  const bool direct = segments < 4 * rt.device().multiprocessors && n > 30 * segments;
  const HiddenBlock sums = rt.Hidden(direct ? pieces * index : pieces * width * 4);
  return result;
}

Value SortedSum(Eager& rt, const Meta& table, int64_t n, int64_t index) {
  const HiddenBlock sorted = rt.Hidden(n * index), original = rt.Hidden(n * index);
  { const HiddenBlock range = rt.Hidden(n * index), scratch = rt.Hidden(SortScratch(n, table.sizes[0], index, index)); }
  return SegmentedSum(rt, table, n, index);
}

void EmbeddingForward(Eager& rt, OpCall& call) {
  const Value &table = call.in[0], &indices = call.in[1];
  call.Save(rt, 0, indices);
  Dims sizes = indices.sizes();
  sizes.push_back(table.size(-1));
  call.Out(0) = rt.Empty(sizes, table.dtype());
}

void EmbeddingBackward(Eager& rt, GradCall& grad) {
  if (!grad.Need(0)) return;
  const Value& indices = grad.Saved(0);
  const HiddenBlock contiguous = rt.Hidden(IsContiguous(grad.Grad()) ? 0 : grad.Grad().bytes());
  const int64_t n = indices.elements();
  const Meta& table = grad.In(0);
  grad.Set(
      0, n <= kDirectIndices ? rt.Zeros(table.sizes, table.dtype) : SortedSum(rt, table, n, BytesOf(indices.dtype())));
}

// ---- embedding_bag(table, indices, offsets?): sums, means or maxima of bags

bool Maximum(const Attrs& attrs) { return attrs.Text(Key::kMode, "mean") == "max"; }

void EmbeddingBagForward(Eager& rt, OpCall& call) {
  const Value &table = call.in[0], &indices = call.in[1];
  const int64_t n = indices.elements(), bags = call.Has(2) ? call.in[2].size(0) : indices.size(0);
  const Dims bag = {bags}, each = {n}, sizes = {bags, table.size(-1)};
  const DType index = indices.dtype();
  const Value offsets = call.Has(2) ? call.in[2] : rt.Empty(bag, index);  // arange when bags are the rows
  const Value bag_size = rt.Empty(bag, index), bag_of = rt.Empty(each, index);
  call.Out(0) = rt.Empty(sizes, table.dtype());
  const Value largest = Maximum(call.attrs) ? rt.Empty(sizes, index) : Value();
  const Value* kept[] = {&indices, &offsets, &bag_of, &bag_size, &largest};
  for (size_t i = 0; i < 5; ++i) call.Save(rt, i, *kept[i]);
}

void EmbeddingBagBackward(Eager& rt, GradCall& grad) {
  if (!grad.Need(0)) return;
  const Value& indices = grad.Saved(0);
  const HiddenBlock contiguous = rt.Hidden(IsContiguous(grad.Grad()) ? 0 : grad.Grad().bytes());
  const Meta& table = grad.In(0);
  grad.Set(0, Maximum(grad.attrs()) ? rt.Zeros(table.sizes, table.dtype)
                                    : SortedSum(rt, table, indices.elements(), BytesOf(indices.dtype())));
}

}  // namespace

void RegisterEmbedding(OpRegistry& registry) {
  registry.Add(
      {.name = "embedding", .forward = EmbeddingForward, .backward = EmbeddingBackward, .doc = "saves the indices"});
  registry.Add({.name = "embedding_bag",
                .forward = EmbeddingBagForward,
                .backward = EmbeddingBagBackward,
                .doc = "saves indices, offsets, each index's bag and the bags' sizes (maxima: the winners)"});
}

}  // namespace memcrest
