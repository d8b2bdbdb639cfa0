// Rules of operators on images: Resize and Upsample in all versions, grids, pixel shuffles, crops.
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// Scaled sizes are rounded down in single precision, as onnx's own inference and the runtimes do.
int64_t Scaled(int64_t size, double scale) {
  return FromDouble(std::floor(static_cast<float>(size) * static_cast<float>(scale)));
}

// Applies `scales` to the dimensions `axes` of `sizes`.
bool Scale(RuleContext& c, absl::Span<const double> scales, absl::Span<const int> axes, Dims* sizes) {
  if (scales.size() != axes.size())
    return c.Fail(absl::StrCat(scales.size(), " scales for ", axes.size(), " dimensions"));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t& size = (*sizes)[static_cast<size_t>(axes[i])];
    size = Scaled(size, scales[i]);
  }
  return true;
}

// The dimensions that scales and sizes refer to: attribute axes (opset 18 on), else all.
bool ResizedAxes(RuleContext& c, std::vector<int>* axes) {
  const std::vector<int64_t>* stated = c.node().Ints("axes");
  for (int d = 0; stated == nullptr && d < c.Rank(0); ++d) axes->push_back(d);
  if (stated == nullptr) return true;
  for (const int64_t axis : *stated) {
    if (!c.Axis(axis, c.Rank(0), &axes->emplace_back())) return false;
  }
  return true;
}

// Target sizes, possibly changed to keep the aspect ratio: all dimensions get the smallest or largest of the scales.
bool FitSizes(RuleContext& c, absl::Span<const int64_t> target, absl::Span<const int> axes, Dims* sizes) {
  if (target.size() != axes.size())
    return c.Fail(absl::StrCat(target.size(), " sizes for ", axes.size(), " dimensions"));
  const absl::string_view policy = c.node().String("keep_aspect_ratio_policy", "stretch");
  double scale = policy == "not_larger" ? INFINITY : 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const double own = static_cast<double>(target[i]) / static_cast<double>((*sizes)[static_cast<size_t>(axes[i])]);
    scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t& size = (*sizes)[static_cast<size_t>(axes[i])];
    size = policy == "stretch" ? target[i] : FromDouble(std::floor(scale * static_cast<double>(size) + 0.5));
  }
  return true;
}

// Runtimes treat an empty tensor like an absent input.
bool IsGiven(const RuleContext& c, int input) { return c.Has(input) && NumElements(c.Sizes(input)) > 0; }

// X, scales (opset 10); X, roi, scales, sizes (11 on).
void Resize(RuleContext& c) {
  const int scales = c.opset() < 11 ? 1 : 2;
  std::vector<int> axes;
  if (!ResizedAxes(c, &axes)) return;
  Dims sizes = c.Sizes(0);
  const bool by_sizes = IsGiven(c, 3);
  if (by_sizes && c.In(3).has_ints) {
    if (!FitSizes(c, c.In(3).ints, axes, &sizes)) return;
  } else if (IsGiven(c, scales) && c.In(scales).has_floats) {
    if (!Scale(c, c.In(scales).floats, axes, &sizes)) return;
  } else if (by_sizes || IsGiven(c, scales)) {
    c.Undetermined(0, c.Type(0), std::move(sizes));
    return;
  }
  c.Out(0, c.Type(0), std::move(sizes));
}

// Scales as an input (opset 9), as attribute scales (7), as height_scale and width_scale (1).
void Upsample(RuleContext& c) {
  std::vector<int> axes;
  if (!ResizedAxes(c, &axes)) return;
  Dims sizes = c.Sizes(0);
  const onnx::Attribute* scales = c.node().Find("scales");
  if (c.Has(1) && !c.In(1).has_floats) {
    c.Undetermined(0, c.Type(0), std::move(sizes));
    return;
  }
  std::vector<double> list = c.Has(1) ? c.In(1).floats : scales != nullptr ? scales->floats : std::vector<double>();
  if (list.empty()) list = {1, 1, c.node().Float("height_scale", 1), c.node().Float("width_scale", 1)};
  if (Scale(c, list, axes, &sizes)) c.Out(0, c.Type(0), std::move(sizes));
}

// X[N, C, ...], grid[N, ..., rank]: the grid's spatial sizes.
void GridSample(RuleContext& c) {
  if (c.Rank(0) < 3 || c.Rank(1) != c.Rank(0)) {
    c.Fail("needs an image batch and a grid of the same rank");
    return;
  }
  Dims sizes = {c.Sizes(0)[0], c.Sizes(0)[1]};
  Append(&sizes, c.Sizes(1).begin() + 1, c.Sizes(1).end() - 1);
  c.Out(0, c.Type(0), std::move(sizes));
}

// theta[N, 2, 3] and size [N, C, H, W] -> [N, H, W, 2]; one more dimension in 3D.
void AffineGrid(RuleContext& c) {
  const IntList size = c.Ints(1);
  if (!size.known || size.values.size() < 4) {
    c.Fallback();
    return;
  }
  Dims sizes = {size.values[0]};
  Append(&sizes, size.values.begin() + 2, size.values.end());
  sizes.push_back(static_cast<int64_t>(size.values.size()) - 2);
  c.Out(0, c.Type(0), std::move(sizes));
}

bool IsImage(RuleContext& c, int64_t block) {
  return (c.Rank(0) == 4 && block > 0 && block < (1 << 20)) ||
         c.Fail("needs a tensor of rank 4 and a positive blocksize");
}

void DepthToSpace(RuleContext& c) {
  const int64_t block = c.node().Int("blocksize", 1);
  if (!IsImage(c, block)) return;
  const Dims& x = c.Sizes(0);
  if (x[1] % (block * block) != 0) {
    c.Fail(absl::StrCat(x[1], " channels are no multiple of ", block * block));
    return;
  }
  c.Out(0, c.Type(0), {x[0], x[1] / (block * block), Times(x[2], block), Times(x[3], block)});
}

void SpaceToDepth(RuleContext& c) {
  const int64_t block = c.node().Int("blocksize", 1);
  if (!IsImage(c, block)) return;
  const Dims& x = c.Sizes(0);
  if (x[2] % block != 0 || x[3] % block != 0) {
    c.Fail(absl::StrCat("the image is no multiple of blocksize ", block));
    return;
  }
  c.Out(0, c.Type(0), {x[0], Times(x[1], block * block), x[2] / block, x[3] / block});
}

void CenterCropPad(RuleContext& c) {
  const IntList shape = c.Ints(1);
  std::vector<int> axes;
  if (!ResizedAxes(c, &axes)) return;
  Dims sizes = c.Sizes(0);
  if (!shape.known || shape.values.size() != axes.size()) {
    c.Undetermined(0, c.Type(0), std::move(sizes));
    return;
  }
  for (size_t i = 0; i < axes.size(); ++i) sizes[static_cast<size_t>(axes[i])] = shape.values[i];
  c.Out(0, c.Type(0), std::move(sizes));
}

// boxes[B, N, 4], scores[B, C, N], max_output_boxes_per_class -> [selected, 3].
void NonMaxSuppression(RuleContext& c) {
  if (c.Rank(0) != 3 || c.Rank(1) != 3) {
    c.Fail("needs boxes and scores of rank 3");
    return;
  }
  const int64_t boxes = c.Sizes(0)[1];
  const int64_t most = c.Has(2) ? std::clamp<int64_t>(c.Scalar(2).value_or(boxes), 0, boxes) : 0;
  c.Bounded(0, DType::kInt64, {Times(Times(c.Sizes(1)[0], c.Sizes(1)[1]), most), 3});
}

constexpr std::array kRules = {
    Rule{"Resize", Resize},
    Rule{"Upsample", Upsample},
    Rule{"GridSample", GridSample, 2},
    Rule{"AffineGrid", AffineGrid, 2},
    Rule{"DepthToSpace", DepthToSpace},
    Rule{"SpaceToDepth", SpaceToDepth},
    Rule{"CenterCropPad", CenterCropPad, 2},
    Rule{"NonMaxSuppression", NonMaxSuppression, 2},
};

}  // namespace

absl::Span<const Rule> ResizeRules() { return kRules; }

}  // namespace memcrest::shape
