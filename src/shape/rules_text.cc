// Rules of operators on strings and files. Strings take no device memory; sizes are kept for what follows.
#include <algorithm>
#include <array>

#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

void StringConcat(RuleContext& c) {
  std::optional<Dims> sizes = Broadcast(c.Sizes(0), c.Sizes(1));
  if (!sizes.has_value()) {
    c.Fail("sizes do not broadcast");
    return;
  }
  c.Out(0, DType::kString, *std::move(sizes));
}

void RegexFullMatch(RuleContext& c) { c.Out(0, DType::kBool, c.Sizes(0)); }

// Stop words may be dropped, but one element is always left.
void StringNormalizer(RuleContext& c) {
  const onnx::Attribute* stopwords = c.node().Find("stopwords");
  const bool drops = stopwords != nullptr && !stopwords->strings.empty();
  drops ? c.Bounded(0, DType::kString, c.Sizes(0)) : c.Out(0, DType::kString, c.Sizes(0));
}

// Parts per string are only known when running; the counts are not padded.
void StringSplit(RuleContext& c) {
  Dims sizes = c.Sizes(0);
  sizes.push_back(Plus(c.node().Int("maxsplit", 0), 1));
  c.Out(1, DType::kInt64, c.Sizes(0));
  c.Undetermined(0, DType::kString, std::move(sizes));
}

// One weight per n-gram: as many columns as the largest index says.
void TfIdfVectorizer(RuleContext& c) {
  const std::vector<int64_t>* indexes = c.node().Ints("ngram_indexes");
  if (indexes == nullptr || indexes->empty()) {
    c.Fallback();
    return;
  }
  Dims sizes(c.Sizes(0).begin(), c.Sizes(0).empty() ? c.Sizes(0).begin() : c.Sizes(0).end() - 1);
  sizes.push_back(Plus(*std::max_element(indexes->begin(), indexes->end()), 1));
  c.Out(0, DType::kFloat32, std::move(sizes));
}

// An encoded file: height, width and channels are inside.
void ImageDecoder(RuleContext& c) {
  const bool gray = c.node().String("pixel_format", "RGB") == "Grayscale";
  c.Undetermined(0, DType::kUInt8, {1, 1, gray ? 1 : 3});
}

constexpr std::array kRules = {
    Rule{"StringConcat", StringConcat, 2},      Rule{"RegexFullMatch", RegexFullMatch},
    Rule{"StringNormalizer", StringNormalizer}, Rule{"StringSplit", StringSplit},
    Rule{"TfIdfVectorizer", TfIdfVectorizer},   Rule{"ImageDecoder", ImageDecoder},
};

}  // namespace

absl::Span<const Rule> TextRules() { return kRules; }

}  // namespace memcrest::shape
