// Element-wise ONNX operators.
#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/ascii.h"
#include "src/lift/plain_ops.h"
#include "src/lift/position_tables.h"

namespace memcrest {
namespace {

using onnx::ValueId;

struct Renamed {
  absl::string_view onnx;
  const char* op;
};

constexpr std::array<Renamed, 37> kUnary = {{
    {"Relu", "relu"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Exp", "exp"}, {"Log", "log"}, {"Sqrt", "sqrt"},
    {"Reciprocal", "reciprocal"}, {"Sin", "sin"}, {"Cos", "cos"}, {"Tan", "tan"}, {"Asin", "asin"}, {"Acos", "acos"},
    {"Atan", "atan"}, {"Sinh", "sinh"}, {"Cosh", "cosh"}, {"Abs", "abs"}, {"Neg", "neg"}, {"Erf", "erf"}, {"Floor", "floor"},
    {"Ceil", "ceil"}, {"Round", "round"}, {"Sign", "sign"}, {"Softplus", "softplus"}, {"Softsign", "softsign"}, {"Elu", "elu"},
    {"Selu", "selu"}, {"Celu", "celu"}, {"LeakyRelu", "leaky_relu"}, {"HardSigmoid", "hardsigmoid"}, {"HardSwish", "hardswish"},
    {"Mish", "mish"}, {"Not", "logical_not"}, {"IsNaN", "isnan"}, {"IsInf", "isinf"}, {"BitwiseNot", "bitwise_not"},
    {"ThresholdedRelu", "threshold"}, {"Shrink", "softshrink"},
}};
constexpr std::array<Renamed, 23> kBinary = {{
    {"Add", "add"}, {"Sub", "sub"}, {"Mul", "mul"}, {"Div", "div"}, {"Pow", "pow"}, {"Min", "minimum"}, {"Max", "maximum"},
    {"Mod", "remainder"}, {"Equal", "eq"}, {"Less", "lt"}, {"Greater", "gt"}, {"LessOrEqual", "le"}, {"GreaterOrEqual", "ge"},
    {"And", "logical_and"}, {"Or", "logical_or"}, {"Xor", "logical_xor"}, {"BitwiseAnd", "bitwise_and"}, {"BitwiseOr", "bitwise_or"},
    {"BitwiseXor", "bitwise_xor"}, {"PRelu", "prelu"}, {"Mean", "add"}, {"Sum", "add"}, {"BitShift", "bitwise_or"},
}};

template <size_t N>
const char* FindIn(const std::array<Renamed, N>& table, absl::string_view op) {
  const auto at = std::find_if(table.begin(), table.end(), [&](const Renamed& r) { return r.onnx == op; });
  return at == table.end() ? nullptr : at->op;
}

// An integer stays one: a float number would turn an integer tensor into floats. ONNX has no mixed operands.
bool IsInteger(const OnnxView& view, ValueId v) {
  while (v != onnx::kNoValue) {
    if (const onnx::Literal* literal = view.LiteralOf(v)) return !IsFloating(literal->dtype);
    const int maker = view.Maker(v);
    if (maker < 0) return !IsFloating(view.value(v).dtype);
    const onnx::Node& made = view.node(maker);
    if (made.op_type == "Shape" || made.op_type == "Size" || made.Find("value_int") != nullptr) return true;
    if (made.op_type == "Cast") return !IsFloating(static_cast<DType>(made.Int("to", 1)));
    v = view.In(maker, made.op_type == "Where" ? 1 : 0);
  }
  return false;
}

// The number an operand is; where the host computed it, any number that is not special.
AttrValue ScalarOf(const PlainState& s, size_t i) {
  const std::optional<double> number = s.Number(i);
  if (IsInteger(s.view, s.view.In(s.current, i))) return static_cast<int64_t>(number.value_or(3));
  return number.value_or(1.5);
}

// Numbers are attributes; three and more operands are a chain of two.
void Binary(PlainState& s, const char* op) {
  const onnx::Node& n = s.node();
  const auto operand = [&](size_t i) {
    const TensorId bias = n.op_type == "Add" ? RestorePositionTable(s, s.view.In(s.current, i)) : kNone;
    return bias != kNone ? bias : s.In(i);
  };
  TensorId left = operand(0);
  if (n.inputs.size() == 1) return s.Alias(n.outputs[0], left);
  for (size_t i = 1; i < n.inputs.size(); ++i) {
    const TensorId right = operand(i);
    const bool last = i + 1 == n.inputs.size();
    Attrs attrs;
    std::vector<TensorId> in = {left, right};
    if (left == kNone || right == kNone) {
      attrs.Set(Key::kScalar, ScalarOf(s, left == kNone ? i - 1 : i));
      if (left == kNone) attrs.Set(Key::kScalarFirst, true);
      in = {left == kNone ? right : left};
    }
    left = last ? s.Emit(op, in, attrs, {n.outputs[0]}) : s.EmitInner(op, in, attrs);
  }
}

void Clip(PlainState& s) {
  const onnx::Node& n = s.node();
  const auto bound = [&](absl::string_view attribute, size_t i) -> std::optional<double> {
    if (const onnx::Attribute* a = n.Find(attribute)) return a->f;
    return s.Number(i);
  };
  const std::optional<double> low = bound("min", 1), high = bound("max", 2);
  const bool relu6 = low == 0.0 && high.has_value();
  const char* op = relu6 ? "hardtanh" : low.has_value() && high.has_value() ? "clamp" : low.has_value() ? "clamp_min" : "clamp_max";
  s.Emit(op, {s.In(0)}, {}, {n.outputs[0]});
}

void Where(PlainState& s) {
  const onnx::Node& n = s.node();
  const TensorId condition = s.In(0), a = s.In(1), b = s.In(2);
  if (condition == kNone) return s.Alias(n.outputs[0], a == kNone ? b : a);
  // Where(mask, number, x) is masked_fill; the other way round torch.where with a number.
  if (a == kNone && b != kNone) {
    s.Emit("masked_fill", {b, condition}, {{Key::kScalar, s.Number(1).value_or(0)}}, {n.outputs[0]});
    return;
  }
  Attrs attrs;
  if (b == kNone) attrs.Set(Key::kScalar, s.Number(2).value_or(0));
  const ValueId number = s.view.In(s.current, 2);
  if (a == kNone && b == kNone && !IsInteger(s.view, number)) {  // two numbers of the model's type (a mask to be added)
    const onnx::Literal* const literal = s.view.LiteralOf(number);
    attrs.Set(Key::kDtype, literal != nullptr ? literal->dtype : DType::kFloat32);
  }
  s.Emit("where", {condition, a, b}, attrs, {n.outputs[0]});
}

}  // namespace

bool LiftPointwise(PlainState& s) {
  const onnx::Node& n = s.node();
  const absl::string_view type = n.op_type;
  if (const char* op = FindIn(kUnary, type)) {
    Attrs attrs;
    if (const onnx::Attribute* alpha = n.Find("alpha")) attrs.Set(Key::kAlpha, alpha->f);
    s.Emit(op, {s.In(0)}, attrs, {n.outputs[0]});
  } else if (const char* binary = FindIn(kBinary, type)) {
    Binary(s, binary);
  } else if (type == "Gelu" || type == "FastGelu" || type == "BiasGelu") {
    const std::string form(type == "FastGelu" ? "tanh" : n.String("approximate", "none"));
    s.Emit("gelu", {s.In(0)}, {{Key::kApproximate, form}}, {n.outputs[0]});
  } else if (type == "Clip") {
    Clip(s);
  } else if (type == "Where") {
    Where(s);
  } else if (type == "Cast") {
    s.Emit("to", {s.In(0)}, {{Key::kDtype, static_cast<DType>(n.Int("to", 1))}}, {n.outputs[0]});
  } else {
    return false;
  }
  return true;
}

}  // namespace memcrest
