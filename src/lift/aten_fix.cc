#include "src/lift/aten_fix.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"

namespace memcrest {
namespace {

const onnx::Node* FindOnnx(const FxGraph& graph, const FxNode& node, absl::string_view op_type) {
  for (int i = node.first; i < node.first + node.count; ++i) {
    const onnx::Node& onnx_node = graph.model->graph.nodes[static_cast<size_t>(i)];
    if (absl::StartsWith(onnx_node.op_type, op_type)) return &onnx_node;
  }
  return nullptr;
}

int64_t RankOf(const FxGraph& graph, const FxNode& node) {
  if (node.results.empty() || node.results[0] == onnx::kNoValue) return -1;
  const onnx::Value& value = graph.model->graph.values[static_cast<size_t>(node.results[0])];
  return value.has_shape ? static_cast<int64_t>(value.shape.size()) : -1;
}

int64_t IntArg(const FxCall& call, size_t i) { return i < call.args.size() ? call.args[i].i : 0; }

void FixPerm(const FxGraph& graph, const FxNode& node, Attrs& attrs) {
  if (const onnx::Node* const transpose = FindOnnx(graph, node, "Transpose"); transpose != nullptr) {
    if (const std::vector<int64_t>* const perm = transpose->Ints("perm"); perm != nullptr) {
      return attrs.Set(Key::kPerm, Dims(perm->begin(), perm->end()));
    }
  }
  const int64_t rank = RankOf(graph, node);
  if (attrs.Has(Key::kPerm) || rank < 0 || AtenBaseName(node.call.target) == "movedim") return;
  Dims perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
  if (rank > 0) {
    const int a = NormalAxis(IntArg(node.call, 1), static_cast<int>(rank)),
              b = NormalAxis(IntArg(node.call, 2), static_cast<int>(rank));
    std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
  }
  attrs.Set(Key::kPerm, perm);
}

// A list of one element counts for every spatial dimension; an absent one takes the default.
void Spread(Attrs& attrs, Key key, size_t rank, int64_t otherwise) {
  const Dims* const given = attrs.Ints(key);
  if (given != nullptr && given->size() == rank) return;
  int64_t value = otherwise;
  if (given != nullptr && !given->empty()) value = (*given)[0];
  else if (given == nullptr && attrs.Find(key) != nullptr) value = attrs.Int(key, otherwise);
  attrs.Set(key, Dims(rank, value));
}

size_t SpatialRank(const FxGraph& graph, const FxNode& node) {
  const absl::string_view base = AtenBaseName(node.call.target);
  for (const char digit : {'1', '2', '3'}) {
    if (absl::StrContains(base, std::string(1, digit) + "d")) return static_cast<size_t>(digit - '0');
  }
  if (node.call.args.size() > 3 && !node.call.args[3].items.empty()) return node.call.args[3].items.size();
  const int64_t rank = RankOf(graph, node);
  return rank > 2 ? static_cast<size_t>(rank - 2) : 2;
}

void FixConv(const FxGraph& graph, const FxNode& node, Attrs& attrs) {
  const size_t rank = SpatialRank(graph, node);
  const AttrValue* const padding = attrs.Find(Key::kPadding);
  if (padding != nullptr && std::holds_alternative<std::string>(*padding)) {  // "same", "valid"
    const onnx::Node* const conv = FindOnnx(graph, node, "Conv");
    const Attrs stated = conv == nullptr ? Attrs() : ConvAttrs(*conv);
    attrs.Set(Key::kPadding, stated.Ints(Key::kPadding) != nullptr ? *stated.Ints(Key::kPadding) : Dims(rank, 0));
  }
  Spread(attrs, Key::kStride, rank, 1);
  Spread(attrs, Key::kPadding, rank, 0);
  Spread(attrs, Key::kDilation, rank, 1);
  if (attrs.Bool(Key::kTransposed)) Spread(attrs, Key::kOutputPadding, rank, 0);
  if (!attrs.Has(Key::kGroups)) attrs.Set(Key::kGroups, int64_t{1});
}

void FixPool(const FxGraph& graph, const FxNode& node, Attrs& attrs) {
  const size_t rank = SpatialRank(graph, node);
  Spread(attrs, Key::kKernel, rank, 1);
  const Dims kernel = *attrs.Ints(Key::kKernel);
  const Dims* const stride = attrs.Ints(Key::kStride);
  if (!attrs.Has(Key::kStride) || (stride != nullptr && stride->empty())) attrs.Set(Key::kStride, kernel);
  Spread(attrs, Key::kStride, rank, 1);
  Spread(attrs, Key::kPadding, rank, 0);
  Spread(attrs, Key::kDilation, rank, 1);
}

void FixClamp(Emission& emission, const FxCall& call) {
  const auto absent = [&](size_t i) { return i >= call.args.size() || call.args[i].kind == FxArg::Kind::kNothing; };
  if (absent(1)) emission.op = "clamp_max";
  else if (absent(2)) emission.op = "clamp_min";
  emission.in.erase(std::remove(emission.in.begin(), emission.in.end(), kNone), emission.in.end());
}

// index(x, i, None, j): which dimensions are left out matters to the copy, not which ones exactly.
void FixIndex(Emission& emission) {
  const auto gap = std::find(emission.in.begin(), emission.in.end(), kNone);
  if (gap != emission.in.end()) emission.attrs.Set(Key::kFilled, true);
}

// index_add is exported as an accumulating index_put; the source line still names it.
bool WasIndexAdd(const FxNode& node, const Emission& emission) {
  if (node.notes == nullptr || emission.in.size() != 3 || !emission.attrs.Bool(Key::kAccumulate)) return false;
  const absl::string_view trace = node.notes->notes.stack_trace;
  const size_t last = trace.rfind("File \"");
  return absl::StrContains(last == absl::string_view::npos ? trace : trace.substr(last), "index_add");
}

void FixIndexPut(const FxNode& node, Emission& emission) {
  FixIndex(emission);
  if (emission.in.size() < 3) return;
  if (WasIndexAdd(node, emission)) {
    emission.op = "index_add";
    emission.attrs.Set(Key::kAxis, int64_t{0});
    return;
  }
  std::rotate(emission.in.begin() + 1, emission.in.end() - 1, emission.in.end());
}

void FixParts(const FxNode& node, Emission& emission) {
  emission.attrs.Set(Key::kCount, static_cast<int64_t>(node.results.size()));
  if (!emission.attrs.Has(Key::kAxis)) emission.attrs.Set(Key::kAxis, int64_t{0});
}

void FixRecurrent(const FxGraph& graph, const FxNode& node, const AtenSchema& schema, Attrs& attrs) {
  const int64_t gates = schema.op == "lstm" ? 4 : schema.op == "gru" ? 3 : 1;
  const onnx::Node* const cell = FindOnnx(graph, node, gates == 4 ? "LSTM" : gates == 3 ? "GRU" : "RNN");
  attrs.Set(Key::kGates, gates);
  if (cell != nullptr) attrs.Set(Key::kHidden, cell->Int("hidden_size", 0));
}

// ATen's reduction numbers (at::Reduction).
void FixReduction(Attrs& attrs) {
  if (!attrs.Has(Key::kReduction)) return;
  const int64_t code = attrs.Int(Key::kReduction, 1);
  attrs.Set(Key::kReduction, std::string(code == 0 ? "none" : code == 2 ? "sum" : "mean"));
}

bool Accumulates(absl::string_view op) {
  for (const absl::string_view name : {"softmax", "log_softmax", "sum", "mean", "prod", "cumsum", "cumprod", "norm"}) {
    if (op == name) return true;
  }
  return false;
}

}  // namespace

void ApplyFix(const FxGraph& graph, const FxNode& node, const AtenSchema& schema, Emission& emission) {
  FixReduction(emission.attrs);
  // An accumulation type is asked for whatever type the model has.
  if (emission.attrs.Has(Key::kDtype) && Accumulates(schema.op)) emission.attrs.Set(Key::kExplicit, true);
  switch (schema.fix) {
    case AtenFix::kNothing: return;
    case AtenFix::kPerm: return FixPerm(graph, node, emission.attrs);
    case AtenFix::kClamp: return FixClamp(emission, node.call);
    case AtenFix::kConv: return FixConv(graph, node, emission.attrs);
    case AtenFix::kPool: return FixPool(graph, node, emission.attrs);
    case AtenFix::kIndex: return FixIndex(emission);
    case AtenFix::kIndexPut: return FixIndexPut(node, emission);
    case AtenFix::kParts: return FixParts(node, emission);
    case AtenFix::kRecurrent: return FixRecurrent(graph, node, schema, emission.attrs);
  }
}

Attrs ConvAttrs(const onnx::Node& conv) {
  Attrs attrs;
  const auto list = [&](absl::string_view name, Key key) {
    if (const std::vector<int64_t>* const ints = conv.Ints(name); ints != nullptr)
      attrs.Set(key, Dims(ints->begin(), ints->end()));
  };
  list("strides", Key::kStride);
  list("dilations", Key::kDilation);
  if (const std::vector<int64_t>* const pads = conv.Ints("pads"); pads != nullptr) {
    attrs.Set(Key::kPadding, Dims(pads->begin(), pads->begin() + static_cast<std::ptrdiff_t>(pads->size() / 2)));
  }
  attrs.Set(Key::kGroups, conv.Int("group", 1));
  if (conv.op_type == "ConvTranspose") {
    attrs.Set(Key::kTransposed, true);
    list("output_padding", Key::kOutputPadding);
  }
  return attrs;
}

}  // namespace memcrest
