// Rules of ONNX Runtime's contributed operators (com.microsoft) other than attention: fused, quantized and blocked
// products.
#include <array>

#include "absl/strings/str_cat.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// input, skip, gamma, beta, bias -> output, mean, inverse deviation, sum; the simplified form has no mean to give but
// keeps the output's place.
void SkipLayerNormalization(RuleContext& c) {
  Dims rows = c.Sizes(0);
  if (!rows.empty()) rows.back() = 1;
  for (int i = 1; i <= 2; ++i) c.Out(i, DType::kFloat32, rows);
  c.Out(3, c.Type(0), c.Sizes(0));
  c.Same();
}

// input_ids, segment_ids, word_embedding, ... -> output, mask_index, sum.
void EmbedLayerNormalization(RuleContext& c) {
  if (c.Rank(0) != 2 || c.Rank(2) != 2) {
    c.Fail("needs token ids and a word embedding of rank 2");
    return;
  }
  const Dims sizes = {c.Sizes(0)[0], c.Sizes(0)[1], c.Sizes(2)[1]};
  c.Out(1, DType::kInt32, {c.Sizes(0)[0]});
  c.Out(2, c.Type(2), sizes);
  c.Out(0, c.Type(2), sizes);
}

void Swap(Dims* sizes) {
  if (sizes->size() >= 2) std::swap((*sizes)[sizes->size() - 1], (*sizes)[sizes->size() - 2]);
}

// MatMul of inputs that may be transposed in the last two dimensions.
void FusedMatMul(RuleContext& c) {
  Dims x = c.Sizes(0), y = c.Sizes(1);
  if (x.size() < 2 || y.size() < 2 || c.node().Int("transBatchA", 0) != 0 || c.node().Int("transBatchB", 0) != 0) {
    return c.Fallback();
  }
  if (c.node().Int("transA", 0) != 0) Swap(&x);
  if (c.node().Int("transB", 0) != 0) Swap(&y);
  std::optional<Dims> sizes = Broadcast(DimSpan(x).first(x.size() - 2), DimSpan(y).first(y.size() - 2));
  if (!sizes.has_value() || x.back() != y[y.size() - 2]) {
    c.Fail(absl::StrCat("factors of ", ToText(x), " and ", ToText(y), " do not fit"));
    return;
  }
  sizes->push_back(x[x.size() - 2]);
  sizes->push_back(y.back());
  c.Out(0, c.Type(0), *std::move(sizes));
}

// The weight is packed: attributes K and N are its sizes.
void PackedMatMul(RuleContext& c) {
  const int64_t n = c.node().Int("N", 0), k = c.node().Int("K", 0);
  if (c.Rank(0) == 0 || c.Sizes(0).back() != k) {
    c.Fail(absl::StrCat("the input's last dimension is not K = ", k));
    return;
  }
  Dims sizes = c.Sizes(0);
  sizes.back() = n;
  c.Out(0, c.Type(0), std::move(sizes));
}

// Quantized factors, float result; scales and zero points follow.
void MatMulToFloat(RuleContext& c) {
  Dims sizes;
  if (MatMulSizes(c, 0, 1, &sizes)) c.Out(0, DType::kFloat32, std::move(sizes));
}

// A, A_scale, A_zero_point, B, ...
void QLinearBinary(RuleContext& c) {
  std::optional<Dims> sizes = Broadcast(c.Sizes(0), c.Sizes(3));
  if (!sizes.has_value()) {
    c.Fail("sizes do not broadcast");
    return;
  }
  c.Out(0, c.Type(0), *std::move(sizes));
}

// Y_scale, Y_zero_point, then tensor, scale, zero point for each part.
void QLinearConcat(RuleContext& c) {
  int axis = 0;
  if (!c.Axis(c.node().Int("axis", 0), c.Rank(2), &axis)) return;
  Dims sizes = c.Sizes(2);
  for (int i = 5; i < c.inputs(); i += 3) {
    if (c.Rank(i) != c.Rank(2)) {
      c.Fail("parts differ in rank");
      return;
    }
    sizes[static_cast<size_t>(axis)] += c.Sizes(i)[static_cast<size_t>(axis)];
  }
  c.Out(0, c.Type(2), std::move(sizes));
}

void QLinearGlobalAveragePool(RuleContext& c) {
  const bool last = c.node().Int("channels_last", 0) != 0;
  Dims sizes = c.Sizes(0);
  for (size_t d = 1; d < sizes.size(); ++d) {
    if (d != (last ? sizes.size() - 1 : 1)) sizes[d] = 1;
  }
  c.Out(0, c.Type(0), std::move(sizes));
}

// A linear layer that splits its result in two and multiplies the halves.
void BiasSplitGelu(RuleContext& c) {
  Dims sizes = c.Sizes(0);
  if (!sizes.empty()) sizes.back() /= 2;
  c.Out(0, c.Type(0), std::move(sizes));
}

void BiasDropout(RuleContext& c) {
  c.Out(1, DType::kBool, c.Sizes(0));
  c.Same();
}

// Distances between the rows of two matrices.
void CDist(RuleContext& c) {
  if (c.Rank(0) != 2 || c.Rank(1) != 2) {
    c.Fail("needs two matrices");
    return;
  }
  c.Out(0, c.Type(0), {c.Sizes(0)[0], c.Sizes(1)[0]});
}

// image, regions, batch indices, crop size.
void CropAndResize(RuleContext& c) {
  const IntList crop = c.Ints(3);
  if (!crop.known || crop.values.size() != 2 || c.Rank(0) != 4 || c.Rank(1) != 2) return c.Fallback();
  c.Out(0, c.Type(0), {c.Sizes(1)[0], c.Sizes(0)[1], crop.values[0], crop.values[1]});
}

constexpr std::array kRules = {
    Rule{"SkipLayerNormalization", SkipLayerNormalization, 3},
    Rule{"SkipSimplifiedLayerNormalization", SkipLayerNormalization, 3},
    Rule{"EmbedLayerNormalization", EmbedLayerNormalization, 3},
    Rule{"FusedMatMul", FusedMatMul, 2},
    Rule{"FusedMatMulActivation", FusedMatMul, 2},
    Rule{"TransposeMatMul", FusedMatMul, 2},
    Rule{"GemmFastGelu", FusedMatMul, 2},
    Rule{"MatMulNBits", PackedMatMul, 2},
    Rule{"MatMulBnb4", PackedMatMul, 2},
    Rule{"MatMulFpQ4", FusedMatMul, 2},
    Rule{"MatMulIntegerToFloat", MatMulToFloat, 2},
    Rule{"DynamicQuantizeMatMul", MatMulToFloat, 2},
    Rule{"QLinearAdd", QLinearBinary, 4},
    Rule{"QLinearMul", QLinearBinary, 4},
    Rule{"QLinearConcat", QLinearConcat, 3},
    Rule{"QLinearGlobalAveragePool", QLinearGlobalAveragePool},
    Rule{"QLinearSigmoid", LikeFirst},
    Rule{"QLinearLeakyRelu", LikeFirst},
    Rule{"QLinearSoftmax", LikeFirst},
    Rule{"FastGelu", LikeFirst},
    Rule{"BiasGelu", LikeFirst},
    Rule{"QuickGelu", LikeFirst},
    Rule{"BiasAdd", LikeFirst},
    Rule{"BiasSoftmax", LikeFirst},
    Rule{"BiasSplitGelu", BiasSplitGelu},
    Rule{"BiasDropout", BiasDropout},
    Rule{"GroupNorm", LikeFirst},
    Rule{"Inverse", LikeFirst},
    Rule{"MoE", LikeFirst},
    Rule{"QMoE", LikeFirst},
    Rule{"CDist", CDist, 2},
    Rule{"CropAndResize", CropAndResize, 4},
};

}  // namespace

absl::Span<const Rule> ContribRules() { return kRules; }

}  // namespace memcrest::shape
