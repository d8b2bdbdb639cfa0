#include "src/lift/fx_build.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/lift/aten_fix.h"
#include "src/lift/inplace.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

enum class KeyKind { kBool, kFloat, kOther };

KeyKind KindOf(Key key) {
  switch (key) {
    case Key::kKeepDims:
    case Key::kTransposed:
    case Key::kCeilMode:
    case Key::kCountIncludePad:
    case Key::kTraining:
    case Key::kCausal:
    case Key::kGqa: case Key::kInplace: case Key::kBidirectional: case Key::kBatchFirst: case Key::kAccumulate:
      return KeyKind::kBool;
    case Key::kP:
    case Key::kEps:
    case Key::kAlpha:
    case Key::kBeta:
    case Key::kScale:
    case Key::kScalar:
    case Key::kSmoothing:
      return KeyKind::kFloat;
    default:
      return KeyKind::kOther;
  }
}

// Lists of literal integers; a list with a computed element is no attribute.
bool LiteralList(const FxArg& arg, Dims& list) {
  for (const FxArg& item : arg.items) {
    if (item.kind != FxArg::Kind::kInt) return false;
    list.push_back(item.i);
  }
  return true;
}

void SetAttr(Key key, const FxArg& arg, Attrs& attrs) {
  Dims list;
  switch (arg.kind) {
    case FxArg::Kind::kNothing: case FxArg::Kind::kRef: return;
    case FxArg::Kind::kList:
      if (LiteralList(arg, list)) attrs.Set(key, std::move(list));
      return;
    case FxArg::Kind::kText:
      if (key == Key::kDtype) attrs.Set(key, DTypeFromName(arg.text));
      else if (key == Key::kMemoryFormat) attrs.Set(key, std::string(arg.text.substr(arg.text.find('.') + 1)));
      else attrs.Set(key, std::string(arg.text));
      return;
    default: break;
  }
  if (KindOf(key) == KeyKind::kBool) attrs.Set(key, arg.f != 0);
  else if (KindOf(key) == KeyKind::kFloat || arg.kind == FxArg::Kind::kFloat) attrs.Set(key, arg.f);
  else if (key == Key::kAxes || key == Key::kPerm) attrs.Set(key, Dims{arg.i});
  else attrs.Set(key, arg.i);
}

// A symbolic size stands here: "sym_size_int_3" is never a tensor even where the file lost its node.
// A host function of integers whose result is a float.
bool GivesFloat(absl::string_view base) { return base == "truediv" || base == "sqrt" || base == "sym_float"; }
bool IsHostName(absl::string_view name) { return absl::StartsWith(name, "sym_"); }

// The exporter's type promotion makes explicit what one kernel does by itself.
bool IsPromotion(const FxNode& node) { return absl::StartsWith(node.call.name, "convert_element_type_default"); }

}  // namespace

FxBuilder::FxBuilder(FxState& state, FxResolver& resolver, const LiftOptions& options)
    : state_(state), resolver_(resolver), options_(options) {}

void FxBuilder::Add(int index) {
  const FxNode& node = state_.fx.nodes[static_cast<size_t>(index)];
  if (AddHost(node)) return;
  if (!node.noted) return AddPlain(node, index);
  const AtenSchema* const schema = FindAten(node.call.target);
  const Parts parts = Sort(node.call, schema);
  const Scopes scopes = ScopesOf(index);
  if (schema != nullptr && schema->op == "batch_norm" &&
      absl::StrContains(node.notes->notes.rule_name, "FuseBatchNorm")) {
    RestoreConv(node, index, parts, scopes);
    if (!options_.restore_batch_norm && LeaveOutNorm(node, parts)) return;
  }
  state_.params.Learn(node);
  std::vector<absl::string_view> names;
  for (const FxArg* const operand : parts.operands) {
    if (operand->kind == FxArg::Kind::kRef && !host_.contains(operand->text) && !IsHostName(operand->text))
      names.push_back(operand->text);
  }
  resolver_.Resolve(index, names, scopes);
  if (AddPassing(node, index)) return;
  Emission emission;
  emission.op = schema != nullptr ? schema->op : AtenBaseName(node.call.target);
  emission.attrs = parts.attrs;
  Fill(parts, emission);
  if (schema != nullptr) ApplyFix(state_.fx, node, *schema, emission);
  if (emission.op == "view" && FollowsPermutation(emission)) emission.op = "reshape";
  if (RunsInPlace(emission.op, scopes)) emission.attrs.Set(Key::kInplace, true);
  NameResults(node, emission);
  state_.Emit(std::move(emission), scopes, index);
  Record(node, static_cast<NodeId>(state_.net.nodes.size()) - 1);
}

// What the tracing device could view the job's device may have to copy: attention kernels lay out their results
// differently.
bool FxBuilder::FollowsPermutation(const Emission& emission) const {
  if (emission.in.empty() || emission.in[0] == kNone) return false;
  const NodeId def = state_.net.tensors[static_cast<size_t>(emission.in[0])].def;
  const absl::string_view op = def == kNone ? "" : state_.net.nodes[static_cast<size_t>(def)].op->name;
  return op == "permute" || op == "transpose" || op == "movedim";
}

// Host integers become numbers; nothing runs.
bool FxBuilder::AddHost(const FxNode& node) {
  if (!node.noted || !IsHostTarget(node.call.target)) return false;
  host_.insert(node.call.name);
  return true;
}

// A promotion is another name of what it promotes.
bool FxBuilder::AddPassing(const FxNode& node, int index) {
  if (!IsPromotion(node) || node.call.args.empty()) return false;
  const auto input = state_.by_name.find(node.call.args[0].text);
  if (input == state_.by_name.end()) return false;
  const TensorId id = input->second;
  state_.by_name[node.call.name] = id;
  if (!node.results.empty() && node.results[0] != kNoValue) state_.by_value[static_cast<size_t>(node.results[0])] = id;
  static_cast<void>(index);
  return true;
}

// Without a note: the optimizer's Split, or an operator that it added.
void FxBuilder::AddPlain(const FxNode& node, int index) {
  const onnx::Node& onnx_node = state_.fx.model->graph.nodes[static_cast<size_t>(node.first)];
  Emission emission;
  const bool split = onnx_node.op_type == "Split";
  emission.op = split                             ? "split"
                : onnx_node.op_type == "Cast"     ? "to"
                : onnx_node.op_type == "Identity" ? "alias"
                                                  : "unknown";
  emission.evidence = split ? Evidence::kExporter : Evidence::kMapping;
  for (size_t i = 0; i < onnx_node.inputs.size(); ++i) {
    const ValueId v = onnx_node.inputs[i];
    if (split && i > 0) break;  // the sizes
    TensorId id = v == kNoValue ? kNone : state_.by_value[static_cast<size_t>(v)];
    if (id == kNone && v != kNoValue) id = state_.OfOutside(v);
    emission.in.push_back(id);
  }
  if (split) {
    emission.attrs.Set(Key::kAxis, onnx_node.Int("axis", 0));
    emission.attrs.Set(Key::kCount, static_cast<int64_t>(onnx_node.outputs.size()));
  } else if (onnx_node.op_type == "Cast") {
    emission.attrs.Set(Key::kDtype, static_cast<DType>(onnx_node.Int("to", 1)));
  } else {
    emission.attrs.Set(Key::kReplaces, std::string(onnx_node.op_type));
  }
  NameResults(node, emission);
  state_.Emit(std::move(emission), ScopesOf(index), index);
  Record(node, static_cast<NodeId>(state_.net.nodes.size()) - 1);
}

FxBuilder::Parts FxBuilder::Sort(const FxCall& call, const AtenSchema* schema) const {
  Parts parts;
  if (schema == nullptr) {  // every reference may be a tensor
    static const AtenArg& any = *new AtenArg{AtenArg::Kind::kTensors, Key::kKeyCount, ""};
    for (const FxArg& arg : call.args) {
      if (arg.kind == FxArg::Kind::kRef) parts.operands.push_back(&arg);
      if (arg.kind == FxArg::Kind::kList) SortOne(any, arg, parts);
    }
    return parts;
  }
  parts.attrs = schema->constants;
  static const FxArg& absent = *new FxArg();
  for (size_t i = 0; i < schema->args.size(); ++i) {
    const FxArg* arg = i < call.args.size() ? &call.args[i] : call.Keyword(schema->args[i].name);
    SortOne(schema->args[i], arg == nullptr ? absent : *arg, parts);
  }
  while (!parts.operands.empty() && parts.operands.back()->kind == FxArg::Kind::kNothing) parts.operands.pop_back();
  return parts;
}

void FxBuilder::SortOne(const AtenArg& as, const FxArg& arg, Parts& parts) const {
  switch (as.kind) {
    case AtenArg::Kind::kSkip: return;
    case AtenArg::Kind::kAttr: return SetAttr(as.key, arg, parts.attrs);
    case AtenArg::Kind::kLength: return parts.attrs.Set(as.key, static_cast<int64_t>(arg.items.size()));
    case AtenArg::Kind::kTensor: parts.operands.push_back(&arg); return;
    case AtenArg::Kind::kTensors:
      for (const FxArg& item : arg.items) parts.operands.push_back(&item);
  }
}

// An integer stays one: a float would turn integer tensors into floats. What the host computes are sizes.
bool FxBuilder::IsNumber(const FxArg& arg, AttrValue& value) const {
  if (arg.kind == FxArg::Kind::kInt) return value = arg.i, true;
  value = arg.f;
  if (arg.IsNumber()) return true;
  if (arg.kind != FxArg::Kind::kRef) return false;
  if (host_.contains(arg.text)) {
    if (!GivesFloat(FxBaseName(arg.text))) value = int64_t{0};
    return true;
  }
  if (const AttrValue* const number = resolver_.NumberOf(arg.text); number != nullptr) return value = *number, true;
  return IsHostName(arg.text);
}

// Operands to inputs; numbers to the scalar attribute.
void FxBuilder::Fill(const Parts& parts, Emission& emission) const {
  for (size_t i = 0; i < parts.operands.size(); ++i) {
    const FxArg& operand = *parts.operands[i];
    AttrValue number;
    if (IsNumber(operand, number)) {
      emission.attrs.Set(Key::kScalar, std::move(number));
      if (i == 0) emission.attrs.Set(Key::kScalarFirst, true);
      continue;
    }
    const auto found = operand.kind == FxArg::Kind::kRef ? state_.by_name.find(operand.text) : state_.by_name.end();
    emission.in.push_back(found == state_.by_name.end() ? kNone : found->second);
  }
}

void FxBuilder::NameResults(const FxNode& node, Emission& emission) const {
  for (const ValueId v : node.results) {
    emission.out.emplace_back(v == kNoValue ? std::string() : std::string(state_.ValueAt(v).name), v);
  }
  // Under its FX name, which the value need not bear.
  if (emission.out.size() == 1 && node.noted && !absl::StartsWith(emission.out[0].first, "getitem")) {
    emission.out[0].first = std::string(node.call.name);
  }
}

void FxBuilder::Record(const FxNode& node, NodeId id) {
  const std::vector<TensorId>& out = state_.net.nodes[static_cast<size_t>(id)].out;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == kNone) continue;
    state_.by_value[static_cast<size_t>(node.results[i])] = out[i];
    if (out.size() > 1 || state_.ValueAt(node.results[i]).name != node.call.name) {
      state_.by_name[state_.ValueAt(node.results[i]).name] = out[i];
    }
  }
  if (!out.empty() && out[0] != kNone) state_.by_name[node.call.name] = out[0];
}

// The convolution that a batch norm was folded into: its own attributes stand on the ONNX node, its weight's
// initializer still bears the parameter's name, and its result has the sizes of the norm's.
void FxBuilder::RestoreConv(const FxNode& node, int index, const Parts& parts, const Scopes& scopes) {
  if (parts.operands.empty() || parts.operands[0]->kind != FxArg::Kind::kRef) return;
  const absl::string_view name = parts.operands[0]->text;
  const onnx::Node& conv = state_.fx.model->graph.nodes[static_cast<size_t>(node.first + node.count - 1)];
  if (state_.by_name.contains(name) || conv.inputs.size() < 2 || !absl::StartsWith(conv.op_type, "Conv")) return;
  const ValueId x = conv.inputs[0];
  const absl::string_view weight_name = state_.ValueAt(conv.inputs[1]).name;
  Emission emission;
  emission.op = "convolution";
  emission.attrs = ConvAttrs(conv);
  TensorId input = state_.by_value[static_cast<size_t>(x)];
  if (input == kNone) input = state_.OfOutside(x);
  emission.in = {input, state_.OfOutside(conv.inputs[1])};
  absl::string_view module = weight_name.substr(0, weight_name.rfind('.'));
  const ParamId bias = state_.params.OfName(absl::StrCat(module, ".bias"));
  const onnx::Literal* const stored = state_.LiteralOf(conv.inputs[1]);
  if (stored != nullptr && stored->dims.size() > 1) {
    const int64_t channels = conv.op_type == "Conv" ? stored->dims[0] : stored->dims[1] * conv.Int("group", 1);
    if (bias != kNone) state_.params.SetDims(bias, {channels});
    state_.params.LearnChannels(node, channels);
  }
  if (bias != kNone) emission.in.push_back(state_.OfParam(bias));
  emission.out.emplace_back(std::string(name), node.results.empty() ? kNoValue : node.results[0]);
  Scopes own;
  for (const Scope& scope : FxState::CallersOf(scopes)) {
    if (absl::StartsWith(module, absl::StrCat(scope.path, "."))) own.push_back(scope);
  }
  if (state_.params.OfName(weight_name) != kNone) {
    own.push_back(
        {module, conv.op_type == "Conv" ? "torch.nn.modules.conv.Conv2d" : "torch.nn.modules.conv.ConvTranspose2d", 0});
  }
  state_.by_name[name] = state_.Emit(std::move(emission), own, index);
  if (options_.restore_batch_norm) ++restored_norms_;
}

// The folded norm's result is the convolution's.
bool FxBuilder::LeaveOutNorm(const FxNode& node, const Parts& parts) {
  const auto conv = parts.operands.empty() ? state_.by_name.end() : state_.by_name.find(parts.operands[0]->text);
  if (conv == state_.by_name.end() || node.results.empty() || node.results[0] == kNoValue) return false;
  const TensorId id = conv->second;
  state_.by_value[static_cast<size_t>(node.results[0])] = id;
  state_.by_name[state_.ValueAt(node.results[0]).name] = id;
  state_.by_name[node.call.name] = id;
  return true;
}

Scopes FxBuilder::ScopesOf(int index) const {
  const FxNode& node = state_.fx.nodes[static_cast<size_t>(index)];
  if (node.notes == nullptr) return {};
  const Scopes scopes = ParseScopes(node.notes->notes);
  if (node.noted) return scopes;
  // Between two noted nodes: in what is around both.
  for (size_t i = static_cast<size_t>(index) + 1; i < state_.fx.nodes.size(); ++i) {
    if (state_.fx.nodes[i].noted) return CommonScopes(scopes, ParseScopes(state_.fx.nodes[i].notes->notes));
  }
  return scopes;
}

}  // namespace memcrest
