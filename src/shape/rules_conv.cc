// Rules of convolutions and pools: everything that slides a window.
#include <array>

#include "absl/strings/str_cat.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

bool HasSpatial(RuleContext& c, int input) {
  return c.Rank(input) >= 3 || c.Fail("needs a tensor of batch, channels and spatial dimensions");
}

// x[N, C, ...] * w[M, C / group, ...]; `w` is the index of the weight.
void ConvRule(RuleContext& c, int w, DType dtype) {
  if (!HasSpatial(c, 0)) return;
  const Dims &x = c.Sizes(0), &weight = c.Sizes(w);
  if (weight.size() != x.size()) {
    c.Fail("input and weight differ in rank");
    return;
  }
  const int64_t group = c.node().Int("group", 1);
  if (x[1] != Times(weight[1], group)) {
    c.Fail(absl::StrCat("the input has ", x[1], " channels, the weight ", weight[1], " x ", group, " groups"));
    return;
  }
  Window window;
  Dims sizes = {x[0], weight[0]};
  if (!ReadWindow(c, c.Rank(0) - 2, DimSpan(weight).subspan(2), &window)) return;
  if (SlideWindow(c, window, DimSpan(x).subspan(2), &sizes)) c.Out(0, dtype, std::move(sizes));
}

void Conv(RuleContext& c) { ConvRule(c, 1, c.Type(0)); }
void ConvInteger(RuleContext& c) { ConvRule(c, 1, DType::kInt32); }
// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias
void QLinearConv(RuleContext& c) { ConvRule(c, 3, c.Type(7)); }

// Deformable convolution: the offsets are shaped like the result.
void DeformConv(RuleContext& c) { ConvRule(c, 1, c.Type(0)); }

int64_t At(const std::vector<int64_t>* list, size_t i, int64_t otherwise) {
  return list != nullptr && i < list->size() ? (*list)[i] : otherwise;
}

// x[N, C, ...] with w[C, M / group, ...].
void ConvTranspose(RuleContext& c) {
  if (!HasSpatial(c, 0)) return;
  const Dims &x = c.Sizes(0), &weight = c.Sizes(1);
  if (weight.size() != x.size() || x[1] != weight[0]) {
    c.Fail("input channels and weight do not fit");
    return;
  }
  Window window;
  if (!ReadWindow(c, c.Rank(0) - 2, DimSpan(weight).subspan(2), &window)) return;
  const std::vector<int64_t>*output_shape = c.node().Ints("output_shape"), *extra = c.node().Ints("output_padding");
  Dims sizes = {x[0], Times(weight[1], c.node().Int("group", 1))};
  const size_t spatial = x.size() - 2;
  // output_shape may list the spatial sizes only.
  const size_t skip = output_shape != nullptr && output_shape->size() == x.size() ? 2 : 0;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t stride = window.stride[d];
    const int64_t span = Plus(Times(window.dilation[d], Minus(window.kernel[d], 1)), 1);
    const int64_t grown = Plus(Times(stride, x[d + 2] - 1), Plus(At(extra, d, 0), span));
    const int64_t cropped = Minus(Minus(grown, window.pad_begin[d]), window.pad_end[d]);
    sizes.push_back(At(output_shape, d + skip, window.same ? Times(x[d + 2], stride) : cropped));
  }
  c.Out(0, c.Type(0), std::move(sizes));
}

// Average, Lp and max pools; MaxPool's second output are the indices.
void Pool(RuleContext& c) {
  if (!HasSpatial(c, 0)) return;
  const Dims& x = c.Sizes(0);
  Window window;
  Dims sizes = {x[0], x[1]};
  if (!ReadWindow(c, c.Rank(0) - 2, {}, &window) || !SlideWindow(c, window, DimSpan(x).subspan(2), &sizes)) return;
  if (c.outputs() > 1) c.Out(1, DType::kInt64, sizes);
  c.Out(0, c.Type(0), std::move(sizes));
}

void GlobalPool(RuleContext& c) {
  if (c.Rank(0) < 2) {
    c.Fail("needs batch and channels");
    return;
  }
  Dims sizes = c.Sizes(0);
  std::fill(sizes.begin() + 2, sizes.end(), 1);
  c.Out(0, c.Type(0), std::move(sizes));
}

// The inverse of MaxPool: sizes from output_shape, else the window undone.
void MaxUnpool(RuleContext& c) {
  if (!HasSpatial(c, 0)) return;
  if (const IntList shape = c.Ints(2); shape.present && shape.known) {
    c.Out(0, c.Type(0), Dims(shape.values.begin(), shape.values.end()));
    return;
  }
  const Dims& x = c.Sizes(0);
  Window window;
  if (!ReadWindow(c, c.Rank(0) - 2, {}, &window)) return;
  Dims sizes = {x[0], x[1]};
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    const int64_t grown = Plus(Times(x[d + 2] - 1, window.stride[d]), window.kernel[d]);
    sizes.push_back(Minus(Minus(grown, window.pad_begin[d]), window.pad_end[d]));
  }
  c.Has(2) ? c.Undetermined(0, c.Type(0), std::move(sizes)) : c.Out(0, c.Type(0), std::move(sizes));
}

// x[N, C, H, W], rois[R, 4 or 5] -> [R, C, h, w].
void MaxRoiPool(RuleContext& c) {
  const std::vector<int64_t>* pooled = c.node().Ints("pooled_shape");
  if (c.Rank(0) != 4 || c.Rank(1) != 2 || pooled == nullptr || pooled->size() != 2) {
    c.Fail("needs an image batch, regions and a pooled_shape of 2");
    return;
  }
  c.Out(0, c.Type(0), {c.Sizes(1)[0], c.Sizes(0)[1], (*pooled)[0], (*pooled)[1]});
}

void RoiAlign(RuleContext& c) {
  if (c.Rank(0) != 4 || c.Rank(1) != 2) {
    c.Fail("needs an image batch and a matrix of regions");
    return;
  }
  c.Out(0, c.Type(0),
        {c.Sizes(1)[0], c.Sizes(0)[1], c.node().Int("output_height", 1), c.node().Int("output_width", 1)});
}

// [N, C * prod(block), L] -> [N, C, image...].
void Col2Im(RuleContext& c) {
  const IntList image = c.Ints(1), block = c.Ints(2);
  if (!image.known || !block.known || c.Rank(0) != 3) {
    c.Fallback();
    return;
  }
  int64_t area = 1;
  for (const int64_t b : block.values) area = Times(area, b);
  if (area <= 0 || c.Sizes(0)[1] % area != 0) {
    c.Fail("channels are no multiple of the block");
    return;
  }
  Dims sizes = {c.Sizes(0)[0], c.Sizes(0)[1] / area};
  Append(&sizes, image.values.begin(), image.values.end());
  c.Out(0, c.Type(0), std::move(sizes));
}

constexpr std::array kRules = {
    Rule{"Conv", Conv, 2},
    Rule{"ConvInteger", ConvInteger, 2},
    Rule{"QLinearConv", QLinearConv, 8},
    Rule{"DeformConv", DeformConv, 3},
    Rule{"ConvTranspose", ConvTranspose, 2},
    Rule{"AveragePool", Pool},
    Rule{"LpPool", Pool},
    Rule{"MaxPool", Pool},
    Rule{"GlobalAveragePool", GlobalPool},
    Rule{"GlobalLpPool", GlobalPool},
    Rule{"GlobalMaxPool", GlobalPool},
    Rule{"MaxUnpool", MaxUnpool, 2},
    Rule{"MaxRoiPool", MaxRoiPool, 2},
    Rule{"RoiAlign", RoiAlign, 3},
    Rule{"Col2Im", Col2Im, 3},
};

}  // namespace

absl::Span<const Rule> ConvRules() { return kRules; }

}  // namespace memcrest::shape
