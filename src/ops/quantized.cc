// bitsandbytes' linear layers: packed weights are unpacked inside the product in forward, and visibly in backward.
//
// linear_4bit(x, packed, bias?, absmax, quant_map[, nested_absmax, nested_quant_map, offset]), linear_8bit(x, CB, bias?, SCB);
// Key::kSizes [out, in], Key::kDtype the compute type. Neither saves through autograd: their functions keep the packed
// weight (and int8 its input) by plain references. Source: bitsandbytes 0.50, autograd/_functions.py, nn/modules.py,
// backends/cuda/ops.py (gemm_4bit: from some tens of rows on it unpacks the whole weight and calls F.linear).
#include <algorithm>

#include "src/ops/kernels.h"
#include "src/ops/products.h"

namespace memcrest {
namespace {

constexpr int64_t kCustomRows = 32;  // fewer rows are multiplied without unpacking
constexpr size_t kAbsmax = 3, kNested = 5;

const Dims& WeightSizes(const Attrs& attrs) {
  static const Dims kNothing = {0, 0};
  const Dims* sizes = attrs.Ints(Key::kSizes);
  return sizes != nullptr && sizes->size() == 2 ? *sizes : kNothing;
}

Dims Folded(const Meta& x) {
  const int64_t features = std::max<int64_t>(1, x.sizes.empty() ? 1 : x.sizes.back());
  return {x.elements / features, features};
}

Dims WithLast(const Meta& x, int64_t last) {
  Dims sizes = x.sizes;
  if (!sizes.empty()) sizes.back() = last;
  return sizes;
}

// x.to(compute type) @ W.T + bias, in the type that came in.
void Linear4Bit(Eager& rt, OpCall& call) {
  const DType compute = call.attrs.Type(Key::kDtype, DType::kBFloat16);
  absl::InlinedVector<Value, 8> in(call.in.begin(), call.in.end());
  in[0] = rt.Call("to", {in[0]}, Attrs{{Key::kDtype, compute}});
  static const OpEntry& product = Op("matmul_4bit");
  const Value out = rt.Run(product, in, call.attrs)[0];
  call.Out(0) = rt.Call("to", {out}, Attrs{{Key::kDtype, call.in[0].dtype()}});
}

void Product4Bit(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Dims& weight = WeightSizes(call.attrs);
  const int64_t rows = Folded(x.meta())[0];
  HiddenBlock statistics, shifted, unpacked;
  if (rows > kCustomRows) {
    if (call.Has(kNested)) {
      statistics = rt.Hidden(call.in[kAbsmax].elements() * 4);
      shifted = rt.Hidden(call.in[kAbsmax].elements() * 4);
    }
    unpacked = rt.Hidden(weight[0] * weight[1] * BytesOf(x.dtype()));
    rt.UseCublas();
  }
  call.Out(0) = rt.Empty(WithLast(x.meta(), weight[0]), x.dtype());
}

// dequantize_4bit gives the type that the weight had before it was packed: the model's.
Value Unpacked4Bit(Eager& rt, GradCall& grad, DType type) {
  const Dims& weight = WeightSizes(grad.attrs());
  rt.recorder().op = "dequantize_blockwise";
  const Value statistics =
      grad.inputs() > kNested && grad.node.in[kNested] ? rt.Empty(grad.In(kAbsmax).sizes, DType::kFloat32) : Value();
  rt.recorder().op = "dequantize_4bit";
  Value made = rt.Empty(weight, rt.default_float);
  rt.recorder().op = "_to_copy";
  return rt.To(made, type);
}

void InputGradient(Eager& rt, GradCall& grad, const Value& weight) {
  const Meta& x = grad.In(0);
  const Value rows = rt.Reshape(grad.Grad(), Folded(grad.Grad().meta()));
  rt.recorder().op = "mm";
  const Value product = rt.Mm(rows, weight);
  grad.Set(0, x.sizes.size() == 2 ? product : rt.View(product, x.sizes, ContiguousStrides(x.sizes)));
}

void Backward4Bit(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(2)) grad.Set(2, rt.SumTo(grad.Grad(), grad.In(2).sizes));
  if (grad.Need(0)) InputGradient(rt, grad, Unpacked4Bit(rt, grad, grad.Grad().dtype()));
}

// ---- int8: x is quantised row by row, the product is int32, then float16, then the type of x

void Linear8Bit(Eager& rt, OpCall& call) {
  static const OpEntry& product = Op("matmul_8bit");
  call.Out(0) = rt.Run(product, call.in, call.attrs)[0];
}

void Product8Bit(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Dims& weight = WeightSizes(call.attrs);
  const Dims rows = Folded(x.meta());
  const Value folded = rt.Reshape(x, rows);
  // ctx.tensors: a plain reference, that a checkpointed region does not see.
  if (call.Recorded() && call.Need(0)) call.saved.push_back(rt.Alias(folded));
  Value half = rt.To(folded, DType::kFloat16);
  const Value statistics = rt.Empty(Dims{rows[0]}, DType::kFloat32);
  const Value packed = rt.Empty(rows, DType::kInt8);
  {
    const HiddenBlock magnitude = rt.Hidden(half.bytes()), outliers = rt.Hidden(half.elements());
  }
  half.reset();
  const Dims sizes = {rows[0], weight[0]};
  Value out;
  {
    const Bytes results = sizes[0] * sizes[1];
    const HiddenBlock sums = rt.Hidden(results * 4), scaled = rt.Hidden(x.dtype() == DType::kFloat16 ? 0 : results * 2);
    out = rt.Empty(sizes, x.dtype());
  }
  const Dims shaped = WithLast(x.meta(), weight[0]);
  call.Out(0) = x.rank() == 2 ? out : rt.View(out, shaped, ContiguousStrides(shaped));
}

// The weight is unpacked into the type of x: CB.to(dtype).mul_(SCB / 127).
void Backward8Bit(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  if (grad.Need(2)) grad.Set(2, rt.SumTo(grad.Grad(), grad.In(2).sizes));
  if (!grad.Need(0)) return;
  rt.recorder().op = "_to_copy";
  const Value weight = rt.Empty(WeightSizes(grad.attrs()), grad.In(0).dtype);
  InputGradient(rt, grad, weight);
}

// The whole weight, as peft's DoRA reads it.
void Dequantize(Eager& rt, OpCall& call) { call.Out(0) = rt.Empty(WeightSizes(call.attrs), rt.default_float); }

constexpr Autocast kPlain = Autocast::kPlain;
const OpEntry kEntries[] = {
    {"linear_4bit", Linear4Bit, nullptr, kPlain, true, true, false, "matmul_4bit between two casts"},
    {"matmul_4bit", Product4Bit, Backward4Bit, kPlain, false, true, false,
     "saves nothing; backward unpacks the weight again"},
    {"linear_8bit", Linear8Bit, nullptr, kPlain, true, true, false, "matmul_8bit"},
    {"dequantize", Dequantize, nullptr, kPlain, false, false, false, "the unpacked weight"},
    {"matmul_8bit", Product8Bit, Backward8Bit, kPlain, false, true, false,
     "keeps its input; backward unpacks the weight again"},
};

}  // namespace

void RegisterQuantized(OpRegistry& registry) {
  for (const OpEntry& entry : kEntries) registry.Add(entry);
}

}  // namespace memcrest
