#include "src/lift/onnx_view.h"

#include <cmath>

namespace memcrest {

using onnx::kNoValue;
using onnx::ValueId;

OnnxView::OnnxView(const onnx::Model& model) : model_(model), is_output_(model.graph.values.size()) {
  const onnx::Graph& g = model.graph;
  users_begin_.assign(g.values.size() + 1, 0);
  for (const onnx::Node& n : g.nodes) {
    for (const ValueId v : n.inputs) {
      if (v != kNoValue) ++users_begin_[static_cast<size_t>(v) + 1];
    }
  }
  for (size_t i = 1; i < users_begin_.size(); ++i) users_begin_[i] += users_begin_[i - 1];
  users_.resize(static_cast<size_t>(users_begin_.back()));
  std::vector<int> next(users_begin_.begin(), users_begin_.end() - 1);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    for (const ValueId v : g.nodes[i].inputs) {
      if (v != kNoValue) users_[static_cast<size_t>(next[static_cast<size_t>(v)]++)] = static_cast<int>(i);
    }
  }
  for (const ValueId v : g.outputs) is_output_[static_cast<size_t>(v)] = true;
}

absl::Span<const int> OnnxView::Users(ValueId v) const {
  const size_t i = static_cast<size_t>(v);
  return absl::MakeConstSpan(users_).subspan(static_cast<size_t>(users_begin_[i]), static_cast<size_t>(users_begin_[i + 1] - users_begin_[i]));
}

ValueId OnnxView::In(int node_index, size_t i) const {
  if (node_index < 0) return kNoValue;
  const onnx::Node& n = node(node_index);
  return i < n.inputs.size() ? n.inputs[i] : kNoValue;
}

ValueId OnnxView::Through(ValueId v) const {
  while (v != kNoValue) {
    const int n = value(v).node;
    if (n < 0 || node(n).op_type != "Identity") return v;
    v = In(n, 0);
  }
  return v;
}

int OnnxView::Maker(ValueId v) const {
  v = Through(v);
  return v == kNoValue ? -1 : value(v).node;
}

int OnnxView::MakerOf(ValueId v, absl::string_view op_type) const {
  const int n = Maker(v);
  return n >= 0 && node(n).op_type == op_type ? n : -1;
}

const onnx::Literal* OnnxView::LiteralOf(ValueId v) const {
  v = Through(v);
  if (v == kNoValue) return nullptr;
  const onnx::Value& x = value(v);
  if (x.initializer >= 0) return &graph().initializers[static_cast<size_t>(x.initializer)];
  if (x.node < 0 || node(x.node).op_type != "Constant") return nullptr;
  const onnx::Attribute* a = node(x.node).Find("value");
  return a != nullptr && !a->tensors.empty() ? &a->tensors[0] : nullptr;
}

std::optional<double> OnnxView::Number(ValueId v, int depth) const {
  if (v == kNoValue || depth == 0) return std::nullopt;
  if (const onnx::Literal* t = LiteralOf(v)) {
    const bool parameter = IsFloating(t->dtype) && t->name.find('.') != absl::string_view::npos;
    if (!t->has_data || NumElements(t->dims) != 1 || parameter) return std::nullopt;
    if (!t->floats.empty()) return t->floats[0];
    if (!t->ints.empty()) return static_cast<double>(t->ints[0]);
    return std::nullopt;
  }
  const int n = Maker(v);
  if (n < 0) return std::nullopt;
  const onnx::Node& made = node(n);
  if (made.op_type == "Constant") {
    if (const onnx::Attribute* a = made.Find("value_float")) return a->f;
    if (const onnx::Attribute* a = made.Find("value_int")) return static_cast<double>(a->i);
    return std::nullopt;
  }
  const auto a = [&](size_t i) { return Number(In(n, i), depth - 1); };
  if (made.op_type == "Cast") return a(0);
  if (made.op_type == "Sqrt" && a(0).has_value()) return std::sqrt(*a(0));
  if (made.op_type == "Reciprocal" && a(0).has_value() && *a(0) != 0) return 1 / *a(0);
  if (made.op_type == "Mul" && a(0).has_value() && a(1).has_value()) return *a(0) * *a(1);
  if (made.op_type == "Div" && a(0).has_value() && a(1).has_value() && *a(1) != 0) return *a(0) / *a(1);
  return std::nullopt;
}

bool OnnxView::IsNumber(ValueId v, double is, double tolerance) const {
  const std::optional<double> n = Number(v);
  return n.has_value() && std::abs(*n - is) <= tolerance * std::max(1.0, std::abs(is));
}

std::optional<std::vector<int64_t>> OnnxView::Ints(ValueId v) const {
  if (v == kNoValue) return std::nullopt;
  if (const onnx::Literal* t = LiteralOf(v)) {
    if (!t->has_data || IsFloating(t->dtype)) return std::nullopt;
    return t->ints;
  }
  const int n = Maker(v);
  if (n < 0 || node(n).op_type != "Constant") return std::nullopt;
  if (const onnx::Attribute* a = node(n).Find("value_ints")) return a->ints;
  if (const onnx::Attribute* a = node(n).Find("value_int")) return std::vector<int64_t>{a->i};
  return std::nullopt;
}

}  // namespace memcrest
