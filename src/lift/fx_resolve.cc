#include "src/lift/fx_resolve.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "src/lift/aten_schema.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;
using Names = std::vector<absl::string_view>;

bool IsOneOf(absl::string_view name, std::initializer_list<absl::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool IsView(absl::string_view base) {
  return IsOneOf(base, {"slice", "unsqueeze", "squeeze", "view",     "expand",     "permute",    "transpose",
                        "t",     "alias",     "detach",  "select",   "getitem",    "lift_fresh", "narrow",
                        "split", "unbind",    "chunk",   "diagonal", "as_strided", "numpy_t"});
}

bool IsFactory(absl::string_view op) {
  return IsOneOf(op, {"zeros", "ones", "full", "arange", "new_zeros", "new_ones", "new_full", "new_empty", "empty",
                      "eye", "zeros_like", "ones_like", "full_like", "empty_like", "linspace"});
}

bool TakesScalar(absl::string_view op) { return IsOneOf(op, {"add", "sub", "rsub", "mul", "div", "pow"}); }

// "to" of "_to_copy_3", "index_put" of "index_put_1": the canonical operator of an FX name; empty if there is none.
absl::string_view OpOfName(absl::string_view base) {
  if (base == "scalar_tensor_default") return "full";
  const AtenSchema* const schema = FindAten(std::string("aten.").append(base.data(), base.size()));
  return schema == nullptr ? "" : schema->op;
}

bool GivesBool(absl::string_view base) {
  return IsOneOf(base, {"eq", "ne", "lt", "le", "gt", "ge", "logical_not", "logical_and", "logical_or", "logical_xor",
                        "isnan", "isinf"});
}

void CountRefs(const FxArg& arg, Names& seen) {
  if (arg.kind == FxArg::Kind::kRef && std::find(seen.begin(), seen.end(), arg.text) == seen.end())
    seen.push_back(arg.text);
  for (const FxArg& item : arg.items) CountRefs(item, seen);
}

}  // namespace

FxResolver::FxResolver(FxState& state) : state_(state), forgotten_(state) {}

const AttrValue* FxResolver::NumberOf(absl::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? nullptr : &found->second;
}

void FxResolver::Resolve(int fx_index, const Names& names, const Scopes& scopes) {
  Names unknown;
  for (const absl::string_view name : names) {
    if (state_.by_name.contains(name) || numbers_.contains(name)) continue;
    if (std::find(unknown.begin(), unknown.end(), name) == unknown.end()) unknown.push_back(name);
  }
  if (unknown.empty()) return;
  // Arguments were made before the call they are passed to began; what is made inside a running call was made there.
  const Scopes callers = state_.calls.Running(scopes) ? scopes : FxState::CallersOf(scopes);
  const Asked asked{fx_index, &callers};
  TakeNamed(unknown, asked);
  if (unknown.empty()) return;
  std::vector<ValueId> candidates = Candidates(state_.fx.nodes[static_cast<size_t>(fx_index)], names, unknown);
  Assign(std::move(unknown), std::move(candidates), asked);
}

// Values of the file that bear the very name.
void FxResolver::TakeNamed(Names& unknown, const Asked& asked) {
  Names rest;
  for (const absl::string_view name : unknown) {
    const auto found = state_.fx.value_by_name.find(name);
    if (found == state_.fx.value_by_name.end()) rest.push_back(name);
    else if (const TensorId id = state_.by_value[static_cast<size_t>(found->second)]; id != kNone)
      state_.by_name[name] = id;
    else if (state_.LiteralOf(found->second) != nullptr) Bind(name, found->second, asked);
    else rest.push_back(name);
  }
  unknown = std::move(rest);
}

// How likely a value stands for an unexplained argument: 0 best.
int FxResolver::RankOf(ValueId v, bool wants_bool) const {
  const DType dtype = state_.ValueAt(v).dtype;
  if (wants_bool && dtype != DType::kUndefined && dtype != DType::kBool) return 5;
  const int owner = state_.fx.owner[static_cast<size_t>(v)];
  if (const onnx::Literal* const literal = state_.LiteralOf(v); literal != nullptr) {
    const bool shape = literal->dtype == DType::kInt64 && literal->dims.size() <= 2;
    return shape && absl::StartsWith(literal->name, "val_") ? 3 : 1;
  }
  if (owner < 0) return 0;
  if (IsHostTarget(state_.fx.nodes[static_cast<size_t>(owner)].call.target)) return 4;
  return state_.fx.is_result[static_cast<size_t>(v)] ? 0 : 2;
}

std::vector<ValueId> FxResolver::Candidates(const FxNode& node, const Names& names, const Names& unknown) const {
  const bool wants_bool =
      std::all_of(unknown.begin(), unknown.end(), [](absl::string_view name) { return GivesBool(FxBaseName(name)); });
  std::vector<ValueId> candidates;
  for (const ValueId v : state_.fx.ExternalInputs(node)) {
    TensorId tensor = state_.by_value[static_cast<size_t>(v)];
    const ParamId param = state_.LiteralOf(v) != nullptr ? state_.params.OfName(state_.ValueAt(v).name) : kNone;
    const bool explained = std::any_of(names.begin(), names.end(), [&](absl::string_view name) {
      const auto known = state_.by_name.find(name);
      if (known == state_.by_name.end()) return false;
      const Tensor& of_name = state_.net.tensors[static_cast<size_t>(known->second)];
      return known->second == tensor || of_name.source == v || (param != kNone && of_name.param == param);
    });
    if (!explained) candidates.push_back(v);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](ValueId a, ValueId b) { return RankOf(a, wants_bool) < RankOf(b, wants_bool); });
  return candidates;
}

void FxResolver::Assign(Names unknown, std::vector<ValueId> candidates, const Asked& asked) {
  // A value that was named alike is the likeliest.
  for (auto name = unknown.begin(); name != unknown.end();) {
    const auto alike = std::find_if(candidates.begin(), candidates.end(),
                                    [&](ValueId v) { return unknown.size() > 1 && NamedAlike(*name, v); });
    if (alike != candidates.end()) {
      const ValueId v = *alike;
      candidates.erase(alike);
      Bind(*name, v, asked);
      name = unknown.erase(name);
    } else if (RepeatFactory(*name, asked)) {
      name = unknown.erase(name);
    } else {
      ++name;
    }
  }
  candidates.resize(std::min(candidates.size(), unknown.size()));
  // Names of one kind are numbered in the order in which their values were made.
  const bool same_kind = std::all_of(unknown.begin(), unknown.end(), [&](absl::string_view name) {
    return FxBaseName(name) == FxBaseName(unknown.front());
  });
  if (same_kind && unknown.size() > 1) {
    std::sort(unknown.begin(), unknown.end(), [](auto a, auto b) { return FxNumber(a) < FxNumber(b); });
    std::stable_sort(candidates.begin(), candidates.end(), [&](ValueId a, ValueId b) {
      return state_.fx.owner[static_cast<size_t>(a)] < state_.fx.owner[static_cast<size_t>(b)];
    });
  }
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (i < candidates.size()) Bind(unknown[i], candidates[i], asked);
    else lost_.push_back(unknown[i]);
  }
}

// "getitem_3" is a part of a split, "zeros_2" a value called "zeros".
bool FxResolver::NamedAlike(absl::string_view name, ValueId v) const {
  const absl::string_view base = FxBaseName(name);
  if (FxBaseName(state_.ValueAt(v).name) == base) return true;
  const int owner = state_.fx.owner[static_cast<size_t>(v)];
  return base == "getitem" && owner >= 0 && state_.fx.nodes[static_cast<size_t>(owner)].call.target == "Split";
}

// A factory function whose result was merged with an earlier one's, which hides inside other translations.
bool FxResolver::RepeatFactory(absl::string_view name, const Asked& asked) {
  if (!IsFactory(OpOfName(FxBaseName(name)))) return false;
  const auto first = state_.by_name.find(FxBaseName(name));
  if (first == state_.by_name.end()) return false;
  const Tensor& made = state_.net.tensors[static_cast<size_t>(first->second)];
  if (made.def == kNone) return false;
  const TensorId again =
      Again(name, state_.net.nodes[static_cast<size_t>(made.def)].op->name, made.def, made.source, asked);
  state_.by_name[name] = again;
  return true;
}

void FxResolver::Bind(absl::string_view name, ValueId v, const Asked& asked) {
  const onnx::Literal* const literal = state_.LiteralOf(v);
  // The exporter makes tensors of Python numbers.
  if (literal != nullptr && absl::StartsWith(name, "scalar_tensor") && literal->dims.empty()) {
    const bool integer = !IsFloating(literal->dtype);
    AttrValue& number = numbers_[name];
    if (integer) number = literal->ints.empty() ? int64_t{0} : literal->ints[0];
    else number = literal->floats.empty() ? 0.0 : literal->floats[0];
    return;
  }
  state_.by_name[name] = Restore(name, v, asked);
}

TensorId FxResolver::Restore(absl::string_view name, ValueId v, const Asked& asked) {
  TensorId input = state_.by_value[static_cast<size_t>(v)];
  if (input == kNone && state_.LiteralOf(v) != nullptr && state_.params.OfName(state_.ValueAt(v).name) == kNone) {
    return RestoreConstant(name, v, asked);
  }
  if (input == kNone) input = state_.OfOutside(v);
  const absl::string_view base = FxBaseName(name);
  if (input != kNone && IsView(base)) return input;
  return RestoreComputed(name, v, input, asked);
}

TensorId FxResolver::RestoreComputed(absl::string_view name, ValueId v, TensorId input, const Asked& asked) {
  const absl::string_view base = FxBaseName(name), op = OpOfName(base);
  if (input == kNone) {  // an intermediate of another node's translation, which this operator equals
    const int owner = state_.fx.owner[static_cast<size_t>(v)];
    if (owner >= 0) {
      for (size_t n = state_.net.nodes.size(); n-- > 0;) {
        if (state_.fx_of_node[n] == owner && !op.empty()) return Again(name, op, static_cast<NodeId>(n), v, asked);
      }
    }
    return state_.Constant(v);
  }
  const Tensor& source = state_.net.tensors[static_cast<size_t>(input)];
  if (op == "pad") return RestorePad(name, input, asked);
  const bool same =
      source.def != kNone && !op.empty() && state_.net.nodes[static_cast<size_t>(source.def)].op->name == op;
  if (same && !(TakesScalar(op) && HidesUser(source.name))) return Again(name, op, source.def, v, asked);
  if (IsOneOf(op, {"clone", "contiguous", "_unsafe_view"})) {
    return Emit("contiguous", {{Key::kMemoryFormat, std::string("contiguous")}}, {input}, name, v, asked);
  }
  if (TakesScalar(op)) {
    const int64_t neutral = op == "add" || op == "sub" || op == "rsub" ? 0 : 1;
    const bool integer = source.exported != DType::kUndefined && !IsFloating(source.exported);
    const AttrValue number = integer ? AttrValue(neutral) : AttrValue(static_cast<double>(neutral));
    return Emit(op, {{Key::kScalar, number}}, {input}, name, v, asked);
  }
  if (op == "cat") return Emit(op, {{Key::kAxis, int64_t{0}}}, {input}, name, v, asked);
  return input;
}

void FxResolver::CountUsers() {
  if (!named_by_.empty()) return;
  Names seen;
  for (const FxNode& node : state_.fx.nodes) {
    seen.clear();
    for (const FxArg& arg : node.call.args) CountRefs(arg, seen);
    for (const auto& [key, arg] : node.call.kwargs) CountRefs(arg, seen);
    for (const absl::string_view name : seen) ++named_by_[name];
  }
}

// Some FX node reads `name` and is not in the file: the node that is asked about.
bool FxResolver::HidesUser(absl::string_view name) {
  CountUsers();
  const auto node = state_.fx.by_name.find(name);
  const auto count = named_by_.find(name);
  const int named = count == named_by_.end() ? 0 : count->second;
  return node != state_.fx.by_name.end() && state_.fx.nodes[static_cast<size_t>(node->second)].call.users > named;
}

TensorId FxResolver::Again(absl::string_view name, absl::string_view op, NodeId original, ValueId v,
                           const Asked& asked) {
  const Node node = state_.net.nodes[static_cast<size_t>(original)];
  return Emit(op, node.attrs, node.in, name, v, asked);
}

TensorId FxResolver::RestoreConstant(absl::string_view name, ValueId v, const Asked& asked) {
  const absl::string_view base = FxBaseName(name), op = OpOfName(base);
  if (IsFactory(op)) return RestoreFactory(op, name, v, asked);
  const TensorId from_param = forgotten_.Restore(name, op, v, asked.fx_index, *asked.scopes);
  if (from_param != kNone) return from_param;
  if (op == "fill" || op == "copy" || op.empty()) return state_.Constant(v);
  return RestoreFactory("full", name, v, asked);
}

TensorId FxResolver::RestoreFactory(absl::string_view op, absl::string_view name, ValueId v, const Asked& asked) {
  const onnx::Literal& literal = *state_.LiteralOf(v);
  // The variants that copy another tensor's type or sizes have lost that tensor.
  absl::string_view plain = op;
  if (absl::StartsWith(op, "new_")) plain = op.substr(4);
  if (absl::EndsWith(op, "_like")) plain = op.substr(0, op.size() - 5);
  if (plain == "linspace" || plain == "arange" || plain == "eye") plain = "full";
  return Emit(plain, {{Key::kSizes, literal.dims}, {Key::kDtype, literal.dtype}}, {}, name, v, asked);
}

// The optimizer adds a constant pad's sizes to those of the convolution behind it.
TensorId FxResolver::RestorePad(absl::string_view name, TensorId input, const Asked& asked) {
  const FxNode& node = state_.fx.nodes[static_cast<size_t>(asked.fx_index)];
  Dims own;
  if (const AtenSchema* const schema = FindAten(node.call.target); schema != nullptr && node.call.args.size() > 4) {
    for (const FxArg& item : node.call.args[4].items) own.push_back(item.i);
  }
  for (int i = node.first; i < node.first + node.count; ++i) {
    const std::vector<int64_t>* const pads = state_.fx.model->graph.nodes[static_cast<size_t>(i)].Ints("pads");
    if (pads == nullptr) continue;
    const size_t rank = pads->size() / 2;
    Dims padding;  // last dimension first, as torch.nn.functional.pad
    for (size_t d = rank; d-- > 0;) {
      const int64_t p = d < own.size() ? own[d] : own.size() == 1 ? own[0] : 0;
      padding.push_back((*pads)[d] - p);
      padding.push_back((*pads)[rank + d] - p);
    }
    return Emit("pad", {{Key::kPadding, padding}, {Key::kMode, std::string("constant")}}, {input}, name, kNoValue,
                asked);
  }
  return input;
}

TensorId FxResolver::Emit(absl::string_view op, Attrs attrs, std::vector<TensorId> in, absl::string_view name,
                          ValueId source, const Asked& asked) {
  Emission emission;
  emission.op = op;
  emission.attrs = std::move(attrs);
  emission.in.assign(in.begin(), in.end());
  emission.out.emplace_back(std::string(name), source);
  emission.evidence = Evidence::kPattern;
  return state_.Emit(std::move(emission), *asked.scopes, asked.fx_index);
}

}  // namespace memcrest
