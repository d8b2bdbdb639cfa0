#include "src/lift/pattern.h"

#include <algorithm>
#include <cstring>

namespace memcrest {

void RegisterAllPatterns(PatternRegistry& registry);  // generated from src/lift/CMakeLists.txt

void PatternRegistry::Add(const Pattern& pattern) {
  const auto before = [](const Pattern& a, const Pattern& b) {
    return a.priority != b.priority ? a.priority > b.priority : std::strcmp(a.name, b.name) < 0;
  };
  patterns_.insert(std::upper_bound(patterns_.begin(), patterns_.end(), pattern, before), pattern);
}

const PatternRegistry& Patterns() {
  static const PatternRegistry* const registry = [] {
    auto* r = new PatternRegistry;
    RegisterAllPatterns(*r);
    return r;
  }();
  return *registry;
}

std::pair<int, onnx::ValueId> Split(const OnnxView& view, int node, absl::string_view op_type) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const int n = view.MakerOf(view.In(node, i), op_type);
    if (n >= 0 && view.UsedOnce(view.In(node, i))) return {n, view.In(node, 1 - i)};
  }
  return {-1, onnx::kNoValue};
}

onnx::ValueId WithoutNumber(const OnnxView& view, int node, double number) {
  if (node < 0) return onnx::kNoValue;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (view.IsNumber(view.In(node, i), number, 1e-3)) return view.In(node, 1 - i);  // exported as float32
  }
  return onnx::kNoValue;
}

}  // namespace memcrest
