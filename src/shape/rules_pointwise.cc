// Rules of element-wise operators: sizes broadcast, a few integers and floats are computed.
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/shape/host.h"
#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"
#include "src/shape/scalar_math.h"

namespace memcrest::shape {
namespace {

struct BinaryMath {
  IntBinary ints;
  FloatBinary floats;
};

// Every element of `out` (sizes and dtype set) from a and b.
void ComputeBinary(const BoundValue& a, const BoundValue& b, BinaryMath math, BoundValue* out) {
  const bool ints = a.has_ints && b.has_ints && math.ints != nullptr;
  if (!ints && (!HasHost(a) || !HasHost(b) || math.floats == nullptr)) return;
  const size_t rank = out->sizes.size();
  const std::vector<int64_t> from_a = FlatIndices(0, BroadcastStrides(a.sizes, rank), out->sizes);
  const std::vector<int64_t> from_b = FlatIndices(0, BroadcastStrides(b.sizes, rank), out->sizes);
  std::vector<int64_t> int_result;
  std::vector<double> float_result;
  for (size_t k = 0; k < from_a.size(); ++k) {
    const size_t i = static_cast<size_t>(from_a[k]), j = static_cast<size_t>(from_b[k]);
    if (ints) {
      const std::optional<int64_t> r = math.ints(a.ints[i], b.ints[j]);
      if (!r.has_value()) return;
      int_result.push_back(*r);
    } else {
      const double r = math.floats(AsDouble(a, i), AsDouble(b, j));
      if (IsFloating(out->dtype)) {
        float_result.push_back(r);
      } else if (std::abs(r) < 9e18) {  // also refuses NaN
        int_result.push_back(static_cast<int64_t>(r));
      } else {
        return;
      }
    }
  }
  if (IsFloating(out->dtype)) return ints ? void() : SetFloats(out, std::move(float_result));
  SetInts(out, std::move(int_result));
}

bool BroadcastAll(RuleContext& c, Dims* sizes) {
  *sizes = c.Sizes(0);
  for (int i = 1; i < c.inputs(); ++i) {
    if (!c.Has(i)) continue;
    const Dims& next = c.Sizes(i);
    if (next == *sizes) continue;
    std::optional<Dims> both = Broadcast(*sizes, next);
    if (!both.has_value()) {
      return c.Fail(absl::StrCat("sizes ", ToText(*sizes), " and ", ToText(next), " do not broadcast"));
    }
    *sizes = *std::move(both);
  }
  return true;
}

// The axis and broadcast attributes of opset < 7: B is laid over A from `axis` on. Gives A's sizes.
bool IsLegacyBroadcast(const RuleContext& c) { return c.opset() < 7 && c.node().Find("broadcast") != nullptr; }

void BinaryRule(RuleContext& c, DType dtype, BinaryMath math) {
  Dims sizes = c.Sizes(0);
  if (IsLegacyBroadcast(c)) {
    c.Out(0, dtype, std::move(sizes));
    return;
  }
  if (!BroadcastAll(c, &sizes)) return;
  BoundValue& out = c.Out(0, dtype, std::move(sizes));
  if (!c.failed() && IsSmall(out.sizes)) ComputeBinary(c.In(0), c.In(1), math, &out);
}

template <IntBinary kInts, FloatBinary kFloats>
void Arithmetic(RuleContext& c) {
  BinaryRule(c, c.Type(0), {kInts, kFloats});
}
template <IntBinary kInts, FloatBinary kFloats>
void Comparison(RuleContext& c) {
  BinaryRule(c, DType::kBool, {kInts, kFloats});
}

void Mod(RuleContext& c) {
  BinaryRule(c, c.Type(0), {c.node().Int("fmod", 0) != 0 ? TruncModInt : FloorModInt, ModFloat});
}

// Sum, Max, Min, Mean: any number of inputs, folded from the left.
void FoldRule(RuleContext& c, BinaryMath math) {
  Dims sizes;
  if (!BroadcastAll(c, &sizes)) return;
  BoundValue& out = c.Out(0, c.Type(0), std::move(sizes));
  if (c.failed() || !IsSmall(out.sizes) || math.ints == nullptr) return;
  BoundValue folded = c.In(0);
  for (int i = 1; i < c.inputs(); ++i) {
    BoundValue next = {true, out.dtype, *Broadcast(folded.sizes, c.Sizes(i)), false, false, false, {}, {}};
    ComputeBinary(folded, c.In(i), math, &next);
    folded = std::move(next);
  }
  CopyHost(folded, &out);
}
template <IntBinary kInts, FloatBinary kFloats>
void Fold(RuleContext& c) {
  FoldRule(c, {kInts, kFloats});
}

// Integers go through double only where they are exact there.
template <Unary kMath>
void UnaryMath(RuleContext& c) {
  BoundValue& out = c.Same();
  const BoundValue& in = c.In(0);
  if (c.failed() || !IsSmall(out.sizes)) return;
  if (in.has_floats) {
    std::vector<double> result;
    for (const double x : in.floats) result.push_back(kMath(x));
    SetFloats(&out, std::move(result));
  } else if (in.has_ints) {
    std::vector<int64_t> result;
    for (const int64_t x : in.ints) {
      if (std::abs(static_cast<double>(x)) > 9e15) return;
      result.push_back(static_cast<int64_t>(kMath(static_cast<double>(x))));
    }
    SetInts(&out, std::move(result));
  }
}

void Not(RuleContext& c) {
  BoundValue& out = c.Same();
  if (!c.In(0).has_ints || !IsSmall(out.sizes)) return;
  std::vector<int64_t> result;
  for (const int64_t x : c.In(0).ints) result.push_back(x == 0 ? 1 : 0);
  SetInts(&out, std::move(result));
}

void SameSizesBool(RuleContext& c) { c.Out(0, DType::kBool, c.Sizes(0)); }

void PRelu(RuleContext& c) {
  const std::optional<Dims> both = Broadcast(c.Sizes(0), c.Sizes(1));
  const bool per_channel = c.opset() < 7 || NumElements(c.Sizes(1)) == 1;
  if (!per_channel && (!both.has_value() || *both != c.Sizes(0))) {
    c.Fail(absl::StrCat("the slope of ", ToText(c.Sizes(1)), " does not broadcast to the input"));
    return;
  }
  c.Same();
}

void SwiGlu(RuleContext& c) {
  if (c.Sizes(0) != c.Sizes(1)) c.Fail("gate and value differ in size");
  c.Same();
}

// Elements of `in` as `out->dtype` holds them.
void ConvertHost(const BoundValue& in, BoundValue* out) {
  if (!HasHost(in)) return;
  const size_t n = in.has_ints ? in.ints.size() : in.floats.size();
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (size_t i = 0; i < n; ++i) {
    if (IsFloating(out->dtype)) {
      floats.push_back(AsDouble(in, i));
    } else if (out->dtype == DType::kBool) {
      ints.push_back(AsDouble(in, i) != 0 ? 1 : 0);
    } else if (in.has_ints) {
      ints.push_back(in.ints[i]);
    } else if (std::abs(in.floats[i]) < 9e18) {
      ints.push_back(static_cast<int64_t>(in.floats[i]));
    } else {
      return;
    }
  }
  if (IsFloating(out->dtype)) SetFloats(out, std::move(floats));
  if (IsIntegral(out->dtype) || out->dtype == DType::kBool) SetInts(out, std::move(ints));
}

void CastTo(RuleContext& c, DType dtype) {
  BoundValue& out = c.Out(0, dtype, c.Sizes(0));
  // Beyond the limit only integers are converted to integers: literals used as sizes or indices.
  if (IsSmall(out.sizes) || (c.In(0).has_ints && !IsFloating(dtype))) ConvertHost(c.In(0), &out);
}
// Opset 1 spelled the type as a string ("FLOAT").
DType CastTarget(const RuleContext& c) {
  const absl::string_view name = c.node().String("to", "");
  if (name.empty()) return DTypeOf(c.node().Int("to", 0));
  std::string lower(name);
  for (char& ch : lower) ch = ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch - 'A' + 'a') : ch;
  return DTypeFromName(lower);
}
void Cast(RuleContext& c) { CastTo(c, CastTarget(c)); }
void CastLike(RuleContext& c) { CastTo(c, c.Type(1)); }
void BitCast(RuleContext& c) { c.Out(0, DTypeOf(c.node().Int("to", 0)), c.Sizes(0)); }

void Where(RuleContext& c) {
  Dims sizes;
  if (!BroadcastAll(c, &sizes)) return;
  BoundValue& out = c.Out(0, c.Type(1), std::move(sizes));
  const BoundValue &condition = c.In(0), &yes = c.In(1), &no = c.In(2);
  const bool same_kind = (yes.has_ints && no.has_ints) || (yes.has_floats && no.has_floats);
  if (c.failed() || !IsSmall(out.sizes) || !condition.has_ints || !same_kind) return;
  const size_t rank = out.sizes.size();
  const std::vector<int64_t> from_condition = FlatIndices(0, BroadcastStrides(condition.sizes, rank), out.sizes);
  const std::vector<int64_t> from_yes = FlatIndices(0, BroadcastStrides(yes.sizes, rank), out.sizes);
  const std::vector<int64_t> from_no = FlatIndices(0, BroadcastStrides(no.sizes, rank), out.sizes);
  for (size_t k = 0; k < from_condition.size(); ++k) {
    const bool take_yes = condition.ints[static_cast<size_t>(from_condition[k])] != 0;
    const BoundValue& from = take_yes ? yes : no;
    const size_t i = static_cast<size_t>(take_yes ? from_yes[k] : from_no[k]);
    from.has_ints ? out.ints.push_back(from.ints[i]) : out.floats.push_back(from.floats[i]);
  }
  out.has_ints = yes.has_ints;
  out.has_floats = yes.has_floats;
}

// A bound of Clip: input `i` (opset 11 on), else an attribute, else none. nullopt if it is unknown.
std::optional<double> ClipBound(const RuleContext& c, int i, absl::string_view attribute, double otherwise) {
  if (!c.Has(i)) return c.node().Float(attribute, otherwise);
  if (!HasHost(c.In(i)) || NumElements(c.Sizes(i)) != 1) return std::nullopt;
  return AsDouble(c.In(i), 0);
}

void Clip(RuleContext& c) {
  BoundValue& out = c.Same();
  const BoundValue& in = c.In(0);
  const std::optional<double> low = ClipBound(c, 1, "min", -HUGE_VAL), high = ClipBound(c, 2, "max", HUGE_VAL);
  if (!HasHost(in) || !IsSmall(out.sizes) || !low.has_value() || !high.has_value()) return;
  if (in.has_floats) {
    std::vector<double> result;
    for (const double x : in.floats) result.push_back(std::min(std::max(x, *low), *high));
    return SetFloats(&out, std::move(result));
  }
  // Integers stay exact unless a bound replaces them.
  std::vector<int64_t> result;
  for (const int64_t x : in.ints) {
    const double as_double = static_cast<double>(x);
    result.push_back(as_double < *low ? FromDouble(*low) : as_double > *high ? FromDouble(*high) : x);
  }
  SetInts(&out, std::move(result));
}

void Identity(RuleContext& c) {
  if (c.IsSequence(0)) return c.OutSlot(0, c.InSlot(0));
  CopyHost(c.In(0), &c.Same());
}

// Bernoulli and the Random*Like operators: the input's sizes, dtype from an attribute or the input.
void LikeInput(RuleContext& c) {
  const DType dtype = DTypeOf(c.node().Int("dtype", 0));
  c.Out(0, dtype != DType::kUndefined ? dtype : c.Type(0), c.Sizes(0));
}

constexpr std::array kRules = {
    Rule{"Add", Arithmetic<AddInt, AddFloat>, 2},
    Rule{"Sub", Arithmetic<SubInt, SubFloat>, 2},
    Rule{"Mul", Arithmetic<MulInt, MulFloat>, 2},
    Rule{"Div", Arithmetic<DivInt, DivFloat>, 2},
    Rule{"Pow", Arithmetic<PowInt, PowFloat>, 2},
    Rule{"Mod", Mod, 2},
    Rule{"BitShift", Arithmetic<nullptr, nullptr>, 2},
    Rule{"BitwiseAnd", Arithmetic<AndInt, nullptr>, 2},
    Rule{"BitwiseOr", Arithmetic<OrInt, nullptr>, 2},
    Rule{"BitwiseXor", Arithmetic<XorInt, nullptr>, 2},
    Rule{"And", Comparison<AndInt, nullptr>, 2},
    Rule{"Or", Comparison<OrInt, nullptr>, 2},
    Rule{"Xor", Comparison<XorInt, nullptr>, 2},
    Rule{"Equal", Comparison<EqualInt, EqualFloat>, 2},
    Rule{"Less", Comparison<LessInt, LessFloat>, 2},
    Rule{"LessOrEqual", Comparison<LessEqualInt, LessEqualFloat>, 2},
    Rule{"Greater", Comparison<GreaterInt, GreaterFloat>, 2},
    Rule{"GreaterOrEqual", Comparison<GreaterEqualInt, GreaterEqualFloat>, 2},
    Rule{"Sum", Fold<AddInt, AddFloat>},
    Rule{"Max", Fold<MaxInt, MaxFloat>},
    Rule{"Min", Fold<MinInt, MinFloat>},
    Rule{"Mean", Fold<nullptr, nullptr>},
    Rule{"Abs", UnaryMath<Absolute>},
    Rule{"Neg", UnaryMath<Negate>},
    Rule{"Sign", UnaryMath<SignOf>},
    Rule{"Floor", UnaryMath<FloorOf>},
    Rule{"Ceil", UnaryMath<CeilOf>},
    Rule{"Round", UnaryMath<RoundOf>},
    Rule{"Sqrt", UnaryMath<SqrtOf>},
    Rule{"Exp", UnaryMath<ExpOf>},
    Rule{"Log", UnaryMath<LogOf>},
    Rule{"Reciprocal", UnaryMath<Inverse>},
    Rule{"Relu", UnaryMath<Positive>},
    Rule{"Not", Not},
    Rule{"IsNaN", SameSizesBool},
    Rule{"IsInf", SameSizesBool},
    Rule{"PRelu", PRelu, 2},
    Rule{"SwiGLU", SwiGlu, 2},
    Rule{"Cast", Cast},
    Rule{"CastLike", CastLike, 2},
    Rule{"BitCast", BitCast},
    Rule{"Where", Where, 3},
    Rule{"Clip", Clip},
    Rule{"Identity", Identity, 1, true},
    Rule{"Bernoulli", LikeInput},
    Rule{"RandomNormalLike", LikeInput},
    Rule{"RandomUniformLike", LikeInput},
    Rule{"BitwiseNot", LikeFirst},
    Rule{"Acos", LikeFirst},
    Rule{"Acosh", LikeFirst},
    Rule{"Asin", LikeFirst},
    Rule{"Asinh", LikeFirst},
    Rule{"Atan", LikeFirst},
    Rule{"Atanh", LikeFirst},
    Rule{"Celu", LikeFirst},
    Rule{"Cos", LikeFirst},
    Rule{"Cosh", LikeFirst},
    Rule{"Elu", LikeFirst},
    Rule{"Erf", LikeFirst},
    Rule{"Gelu", LikeFirst},
    Rule{"HardSigmoid", LikeFirst},
    Rule{"HardSwish", LikeFirst},
    Rule{"Hardmax", LikeFirst},
    Rule{"LeakyRelu", LikeFirst},
    Rule{"LogSoftmax", LikeFirst},
    Rule{"Mish", LikeFirst},
    Rule{"Selu", LikeFirst},
    Rule{"Shrink", LikeFirst},
    Rule{"Sigmoid", LikeFirst},
    Rule{"Sin", LikeFirst},
    Rule{"Sinh", LikeFirst},
    Rule{"Softmax", LikeFirst},
    Rule{"Softplus", LikeFirst},
    Rule{"Softsign", LikeFirst},
    Rule{"Swish", LikeFirst},
    Rule{"Tan", LikeFirst},
    Rule{"Tanh", LikeFirst},
    Rule{"ThresholdedRelu", LikeFirst},
    // Experimental operators of the first releases that old files still use.
    Rule{"Affine", LikeFirst},
    Rule{"ImageScaler", LikeFirst},
    Rule{"ParametricSoftplus", LikeFirst},
    Rule{"ScaledTanh", LikeFirst},
};

}  // namespace

absl::Span<const Rule> PointwiseRules() { return kRules; }

}  // namespace memcrest::shape
