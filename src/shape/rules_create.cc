// Rules of operators that make tensors out of attributes or sizes: Constant, ConstantOfShape, Range, Random* ...
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// Value attributes of Constant other than tensors: kind -> dtype; one element or a list.
void ConstantOfAttribute(RuleContext& c, const onnx::Attribute& attribute) {
  using Kind = onnx::Attribute::Kind;
  const auto count = [](const auto& list) { return Dims{static_cast<int64_t>(list.size())}; };
  switch (attribute.kind) {
    case Kind::kInt:
      return SetInts(&c.Out(0, DType::kInt64, {}), {attribute.i});
    case Kind::kInts:
      return SetInts(&c.Out(0, DType::kInt64, count(attribute.ints)), attribute.ints);
    case Kind::kFloat:
      return SetFloats(&c.Out(0, DType::kFloat32, {}), {attribute.f});
    case Kind::kFloats:
      return SetFloats(&c.Out(0, DType::kFloat32, count(attribute.floats)), attribute.floats);
    case Kind::kString:
      c.Out(0, DType::kString, {});
      return;
    case Kind::kStrings:
      c.Out(0, DType::kString, count(attribute.strings));
      return;
    default:
      return c.Fallback();
  }
}

void Constant(RuleContext& c) {
  const onnx::Attribute* value = c.node().Find("value");
  if (value != nullptr && !value->tensors.empty()) {
    Slot slot = {State::kTensor, FromLiteral(value->tensors[0]), nullptr};
    return c.OutSlot(0, std::move(slot));
  }
  for (const onnx::Attribute& attribute : c.node().attributes) {
    if (attribute.name.substr(0, 6) == "value_" || attribute.name == "sparse_value")
      return ConstantOfAttribute(c, attribute);
  }
  c.Fail("has no value");
}

void ConstantOfShape(RuleContext& c) {
  const IntList shape = c.Ints(0);
  const onnx::Attribute* value = c.node().Find("value");
  const onnx::Literal* fill = value != nullptr && !value->tensors.empty() ? &value->tensors[0] : nullptr;
  const DType dtype = fill != nullptr ? fill->dtype : DType::kFloat32;
  if (!shape.known) {
    constexpr int64_t kMostDimensions = 64;
    const int64_t rank = NumElements(c.Sizes(0));
    rank <= kMostDimensions ? void(c.Undetermined(0, dtype, Dims(static_cast<size_t>(rank), 1)))
                            : void(c.Fail(absl::StrCat("a shape of ", rank, " numbers")));
    return;
  }
  BoundValue& out = c.Out(0, dtype, Dims(shape.values.begin(), shape.values.end()));
  if (c.failed() || !IsSmall(out.sizes)) return;
  const size_t n = static_cast<size_t>(NumElements(out.sizes));
  if (IsFloating(dtype)) {
    SetFloats(&out, std::vector<double>(n, fill != nullptr && !fill->floats.empty() ? fill->floats[0] : 0));
  } else if (!fill->ints.empty()) {
    SetInts(&out, std::vector<int64_t>(n, fill->ints[0]));
  }
}

// start + i * delta; of host values only.
void IntRange(RuleContext& c, int64_t start, int64_t limit, int64_t delta) {
  const std::optional<int64_t> span =
      limit == INT64_MIN || start == INT64_MIN ? std::nullopt : CheckedAdd(limit, -start);
  if (delta == 0 || delta == INT64_MIN || !span.has_value() || *span == INT64_MIN) {
    c.Fail(absl::StrCat("from ", start, " to ", limit, " by ", delta));
    return;
  }
  const bool forward = (*span > 0) == (delta > 0);
  const int64_t count = *span == 0 || !forward ? 0 : (*span - (delta > 0 ? 1 : -1)) / delta + 1;
  BoundValue& out = c.Out(0, c.Type(0), {count});
  if (c.failed() || !IsSmall(out.sizes)) return;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(start + i * delta);
  SetInts(&out, std::move(values));
}

void FloatRange(RuleContext& c, double start, double limit, double delta) {
  const double steps = std::ceil((limit - start) / delta);
  if (std::isnan(steps) || steps > static_cast<double>(kMaxElements)) {
    c.Fail(absl::StrCat("from ", start, " to ", limit, " by ", delta));
    return;
  }
  BoundValue& out = c.Out(0, c.Type(0), {std::max<int64_t>(0, static_cast<int64_t>(std::max(steps, 0.0)))});
  if (!IsSmall(out.sizes)) return;
  std::vector<double> values;
  for (int64_t i = 0; i < out.sizes[0]; ++i) values.push_back(start + static_cast<double>(i) * delta);
  SetFloats(&out, std::move(values));
}

void Range(RuleContext& c) {
  const auto single = [&](int i) { return NumElements(c.Sizes(i)) == 1 && HasHost(c.In(i)); };
  if (!single(0) || !single(1) || !single(2)) {
    c.Undetermined(0, c.Type(0), {1});
  } else if (IsFloating(c.Type(0))) {
    FloatRange(c, AsDouble(c.In(0), 0), AsDouble(c.In(1), 0), AsDouble(c.In(2), 0));
  } else if (c.In(0).has_ints && c.In(1).has_ints && c.In(2).has_ints) {
    IntRange(c, c.In(0).ints[0], c.In(1).ints[0], c.In(2).ints[0]);
  } else {
    c.Undetermined(0, c.Type(0), {1});
  }
}

DType TypeAttribute(const RuleContext& c, DType otherwise) {
  const DType dtype = DTypeOf(c.node().Int("dtype", 0));
  return dtype != DType::kUndefined ? dtype : otherwise;
}

void EyeLike(RuleContext& c) { c.Out(0, TypeAttribute(c, c.Type(0)), c.Sizes(0)); }

// RandomNormal, RandomUniform: sizes are an attribute.
void RandomOfShape(RuleContext& c) {
  const std::vector<int64_t>* shape = c.node().Ints("shape");
  if (shape == nullptr) {
    c.Fallback();
    return;
  }
  c.Out(0, TypeAttribute(c, DType::kFloat32), Dims(shape->begin(), shape->end()));
}

void Multinomial(RuleContext& c) {
  if (c.Rank(0) != 2) {
    c.Fail("needs a matrix of log-probabilities");
    return;
  }
  c.Out(0, TypeAttribute(c, DType::kInt32), {c.Sizes(0)[0], c.node().Int("sample_size", 1)});
}

constexpr std::array kRules = {
    Rule{"Constant", Constant, 0},    Rule{"ConstantOfShape", ConstantOfShape}, Rule{"Range", Range, 3},
    Rule{"EyeLike", EyeLike},         Rule{"RandomNormal", RandomOfShape, 0},   Rule{"RandomUniform", RandomOfShape, 0},
    Rule{"Multinomial", Multinomial},
};

}  // namespace

absl::Span<const Rule> CreateRules() { return kRules; }

}  // namespace memcrest::shape
