// Rules of ai.onnx.ml: classical models, which produce labels and scores per row.
#include <algorithm>
#include <array>

#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

int64_t Rows(const RuleContext& c) { return c.Rank(0) >= 2 ? c.Sizes(0)[0] : 1; }

// Number of elements of the first list attribute that is there.
int64_t CountOf(const RuleContext& c, std::initializer_list<absl::string_view> names) {
  for (const absl::string_view name : names) {
    const onnx::Attribute* a = c.node().Find(name);
    if (a == nullptr) continue;
    return static_cast<int64_t>(std::max({a->ints.size(), a->floats.size(), a->strings.size()}));
  }
  return 0;
}

bool HasStrings(const RuleContext& c, absl::string_view name) {
  const onnx::Attribute* a = c.node().Find(name);
  return a != nullptr && !a->strings.empty();
}

void SameAsFloat(RuleContext& c) { c.Out(0, DType::kFloat32, c.Sizes(0)); }

// Labels per row and a score per class.
void Classifier(RuleContext& c) {
  const int64_t classes =
      CountOf(c, {"classlabels_ints", "classlabels_int64s", "classlabels_strings", "intercepts", "rho"});
  c.Out(1, DType::kFloat32, {Rows(c), std::max<int64_t>(classes, 1)});
  c.Out(0, HasStrings(c, "classlabels_strings") ? DType::kString : DType::kInt64, {Rows(c)});
}

void Regressor(RuleContext& c) {
  const int64_t targets = std::max(c.node().Int("n_targets", 1), c.node().Int("targets", 1));
  c.Out(0, c.node().op_type == "TreeEnsemble" ? c.Type(0) : DType::kFloat32, {Rows(c), targets});
}

// The last dimension's elements that the second input names.
void ArrayFeatureExtractor(RuleContext& c) {
  const int64_t count = NumElements(c.Sizes(1));
  Dims sizes = c.Rank(0) >= 2 ? c.Sizes(0) : Dims{1, 0};
  sizes.back() = count;
  c.Out(0, c.Type(0), std::move(sizes));
}

// Strings to integers or back.
void CategoryMapper(RuleContext& c) {
  c.Out(0, c.Type(0) == DType::kString ? DType::kInt64 : DType::kString, c.Sizes(0));
}

// The dtype of the values attribute that is there.
void LabelEncoder(RuleContext& c) {
  const auto has = [&](absl::string_view name) { return c.node().Find(name) != nullptr; };
  DType dtype = c.Type(0) == DType::kString ? DType::kInt64 : DType::kString;  // opset 1 maps strings and integers
  if (has("values_floats")) dtype = DType::kFloat32;
  if (has("values_int64s")) dtype = DType::kInt64;
  if (has("values_strings")) dtype = DType::kString;
  const onnx::Attribute* tensor = c.node().Find("values_tensor");
  if (tensor != nullptr && !tensor->tensors.empty()) dtype = tensor->tensors[0].dtype;
  c.Out(0, dtype, c.Sizes(0));
}

void OneHotEncoder(RuleContext& c) {
  Dims sizes = c.Sizes(0);
  sizes.push_back(CountOf(c, {"cats_int64s", "cats_strings"}));
  c.Out(0, DType::kFloat32, std::move(sizes));
}

void FeatureVectorizer(RuleContext& c) {
  const std::vector<int64_t>* widths = c.node().Ints("inputdimensions");
  int64_t total = 0;
  for (int i = 0; i < c.inputs(); ++i) {
    const bool stated = widths != nullptr && static_cast<size_t>(i) < widths->size();
    total += stated ? (*widths)[static_cast<size_t>(i)] : c.Rank(i) >= 2 ? c.Sizes(i)[1] : NumElements(c.Sizes(i));
  }
  c.Out(0, DType::kFloat32, {Rows(c), total});
}

constexpr std::array kRules = {
    Rule{"ArrayFeatureExtractor", ArrayFeatureExtractor, 2},
    Rule{"Binarizer", LikeFirst},
    Rule{"CategoryMapper", CategoryMapper},
    Rule{"FeatureVectorizer", FeatureVectorizer},
    Rule{"Imputer", LikeFirst},
    Rule{"LabelEncoder", LabelEncoder},
    Rule{"LinearClassifier", Classifier},
    Rule{"LinearRegressor", Regressor},
    Rule{"Normalizer", SameAsFloat},
    Rule{"OneHotEncoder", OneHotEncoder},
    Rule{"SVMClassifier", Classifier},
    Rule{"SVMRegressor", Regressor},
    Rule{"Scaler", SameAsFloat},
    Rule{"TreeEnsemble", Regressor},
    Rule{"TreeEnsembleClassifier", Classifier},
    Rule{"TreeEnsembleRegressor", Regressor},
};

}  // namespace

absl::Span<const Rule> MlRules() { return kRules; }

}  // namespace memcrest::shape
