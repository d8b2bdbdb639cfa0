// Rules of quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear (products and convolutions: see
// those).
#include <array>

#include "src/shape/rule.h"
#include "src/shape/rule_parts.h"

namespace memcrest::shape {
namespace {

// The zero point's dtype, else attribute output_dtype (opset 21 on), else uint8.
void QuantizeLinear(RuleContext& c) {
  const DType stated = DTypeOf(c.node().Int("output_dtype", 0));
  c.Out(0, c.Has(2) ? c.Type(2) : stated != DType::kUndefined ? stated : DType::kUInt8, c.Sizes(0));
}

// Attribute output_dtype (opset 23 on), else the scale's dtype.
void DequantizeLinear(RuleContext& c) {
  const DType stated = DTypeOf(c.node().Int("output_dtype", 0));
  c.Out(0, stated != DType::kUndefined ? stated : c.Type(1), c.Sizes(0));
}

// y, scale, zero point.
void DynamicQuantizeLinear(RuleContext& c) {
  c.Out(1, DType::kFloat32, {});
  c.Out(2, DType::kUInt8, {});
  c.Out(0, DType::kUInt8, c.Sizes(0));
}

constexpr std::array kRules = {
    Rule{"QuantizeLinear", QuantizeLinear, 2},
    Rule{"DequantizeLinear", DequantizeLinear, 2},
    Rule{"DynamicQuantizeLinear", DynamicQuantizeLinear},
};

}  // namespace

absl::Span<const Rule> QuantRules() { return kRules; }

}  // namespace memcrest::shape
