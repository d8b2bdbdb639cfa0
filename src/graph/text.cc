#include "src/graph/text.h"

#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/graph/text_words.h"

namespace memcrest {
namespace {

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", absl::CEscape(text), "\""); }
std::string IdText(int32_t id) { return id == kNone ? "-" : absl::StrCat(id); }
std::string TensorText(TensorId id) { return id == kNone ? "-" : absl::StrCat("%", id); }
std::string List(DimSpan dims) { return absl::StrCat("[", absl::StrJoin(dims, ", "), "]"); }

// A float that cannot be read as an integer: "3.0", "1e-05", "inf".
std::string FloatText(double value) {
  const std::string text = absl::StrFormat("%.17g", value);
  const std::string brief = absl::StrFormat("%g", value);
  std::string out = std::strtod(brief.c_str(), nullptr) == value ? brief : text;
  if (out.find_first_of(".einf") == std::string::npos) out += ".0";
  return out;
}

struct ValueText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return FloatText(value); }
  std::string operator()(DType value) const { return std::string(NameOf(value)); }
  std::string operator()(const std::string& value) const { return Quoted(value); }
  std::string operator()(const Dims& value) const { return List(value); }
};

void AppendModule(const Network& net, size_t i, std::string& out) {
  const Module& module = net.modules[i];
  absl::StrAppend(&out, "module ", i, " ", Quoted(module.path), " ", Quoted(module.cls), " parent ",
                  IdText(module.parent));
  if (!module.own.empty()) absl::StrAppend(&out, " own [", absl::StrJoin(module.own, ", "), "]");
  out += "\n";
}

void AppendParam(const Network& net, size_t i, std::string& out) {
  const Param& param = net.params[i];
  absl::StrAppend(&out, "param ", i, " ", Quoted(param.fqn), " ", NameOf(param.stored), " ", List(param.dims),
                  " order ", param.order);
  if (param.buffer) out += " buffer";
  if (!param.used) out += " unused";
  if (!param.persistent) out += " transient";
  if (param.format != StorageFormat::kPlain) absl::StrAppend(&out, " format ", static_cast<int>(param.format));
  for (const std::string& alias : param.aliases) absl::StrAppend(&out, " alias ", Quoted(alias));
  out += "\n";
}

void AppendCall(const Network& net, size_t i, std::string& out) {
  const Call& call = net.calls[i];
  absl::StrAppend(&out, "call ", i, " module ", call.module, " parent ", IdText(call.parent));
  if (call.nth != 0) absl::StrAppend(&out, " nth ", call.nth);
  absl::StrAppend(&out, " nodes [", call.begin, ", ", call.end, ")\n");
}

void AppendTensor(const Network& net, size_t i, std::string& out) {
  const Tensor& tensor = net.tensors[i];
  absl::StrAppend(&out, "tensor ", i, " ", Quoted(tensor.name));
  if (tensor.role == Role::kInput) out += " input";
  if (tensor.role == Role::kParam) absl::StrAppend(&out, " param ", tensor.param);
  if (tensor.role == Role::kConstant) absl::StrAppend(&out, " constant ", List(tensor.dims));
  absl::StrAppend(&out, " ", NameOf(tensor.exported));
  if (tensor.source != kNone) absl::StrAppend(&out, " source ", tensor.source);
  if (tensor.released_after != kNone) absl::StrAppend(&out, " released ", tensor.released_after);
  out += "\n";
}

void AppendNode(const Network& net, size_t i, OpNameFn name_of, std::string& out) {
  const Node& node = net.nodes[i];
  absl::StrAppend(&out, "node ", i, " call ", IdText(node.call), " ", ToText(net, node, name_of));
  const Origin& origin = node.origin;
  if (origin.first_onnx != kNone) absl::StrAppend(&out, " onnx ", origin.first_onnx, " ", origin.onnx_count);
  absl::StrAppend(&out, " ", NameOf(origin.evidence));
  if (origin.source_line != kNone) absl::StrAppend(&out, " line ", origin.source_line);
  out += "\n";
}

}  // namespace

std::string ToText(const Attrs& attrs) {
  std::string out = "{";
  for (const auto& [key, value] : attrs.items()) {
    absl::StrAppend(&out, out.size() > 1 ? ", " : "", NameOf(key), "=", std::visit(ValueText(), value));
  }
  return out + "}";
}

std::string ToText(const Network&, const Node& node, OpNameFn name_of) {
  const auto ids = [](std::string* out, TensorId id) { *out += TensorText(id); };
  std::string out = absl::StrJoin(node.out, ", ", ids);
  absl::StrAppend(&out, out.empty() ? "" : " ", "= ", node.op == nullptr ? "?" : name_of(node.op), "(");
  absl::StrAppend(&out, absl::StrJoin(node.in, ", ", ids), ")");
  if (!node.attrs.items().empty()) absl::StrAppend(&out, " ", ToText(node.attrs));
  return out;
}

std::string ToText(const Network& net, OpNameFn name_of) {
  std::string out;
  for (size_t i = 0; i < net.modules.size(); ++i) AppendModule(net, i, out);
  for (size_t i = 0; i < net.params.size(); ++i) AppendParam(net, i, out);
  for (size_t i = 0; i < net.calls.size(); ++i) AppendCall(net, i, out);
  for (size_t i = 0; i < net.source_lines.size(); ++i)
    absl::StrAppend(&out, "line ", i, " ", Quoted(net.source_lines[i]), "\n");
  for (size_t i = 0; i < net.tensors.size(); ++i) AppendTensor(net, i, out);
  for (size_t i = 0; i < net.nodes.size(); ++i) AppendNode(net, i, name_of, out);
  const auto ids = [](std::string* text, TensorId id) { *text += TensorText(id); };
  absl::StrAppend(&out, "inputs ", absl::StrJoin(net.inputs, ", ", ids), "\noutputs ",
                  absl::StrJoin(net.outputs, ", ", ids), "\n");
  for (const Assumption& a : net.assumptions) {
    absl::StrAppend(&out, "assumption ", Quoted(a.code), " ", Quoted(a.message), " ", a.bytes, "\n");
  }
  return out;
}

}  // namespace memcrest
