#include "src/lift/plain_state.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/eager/op.h"
#include "src/job/pattern.h"
#include "src/lift/tied_heads.h"

namespace memcrest {

using onnx::kNoValue;
using onnx::ValueId;

namespace {

// Names under which PyTorch's own modules register buffers, and the usual ones of models.
bool BufferName(absl::string_view name) {
  const size_t dot = name.rfind('.');
  const absl::string_view leaf = dot == absl::string_view::npos ? name : name.substr(dot + 1);
  for (const absl::string_view b : {"running_mean", "running_var", "num_batches_tracked", "inv_freq", "position_ids", "attn_mask", "mask"}) {
    if (leaf == b) return true;
  }
  return false;
}

}  // namespace

PlainState::PlainState(const onnx::Model& model, const LiftOptions& lift_options, Network& network)
    : view(model), host(view), names(model), options(lift_options), net(network), calls(network, ""), tensors_(model.graph.values.size(), kNone) {
  for (const onnx::Value& v : model.graph.values) {  // parameters keep the file's order
    if (v.initializer < 0 || absl::StrContains(v.name, "::")) continue;
    const ValueId id = static_cast<ValueId>(&v - model.graph.values.data());
    if (!host.IsHost(id)) Operand(id);
  }
}

TensorId PlainState::NewTensor(ValueId v) {
  const onnx::Value& value = view.value(v);
  Tensor tensor;
  tensor.name = std::string(value.name);
  tensor.source = v;
  tensor.exported = value.dtype;
  if (value.initializer >= 0) {
    AddStored(view.graph().initializers[static_cast<size_t>(value.initializer)], tensor);
  } else if (value.node < 0) {
    tensor.role = Role::kInput;
  }
  net.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(net.tensors.size() - 1);
}

void PlainState::AddStored(const onnx::Literal& literal, Tensor& tensor) {
  tensor.exported = literal.dtype;
  const bool named = !absl::StrContains(literal.name, "::") && absl::StrContains(literal.name, ".");
  if (!named && (!IsFloating(literal.dtype) || literal.has_data)) {
    tensor.role = Role::kConstant;
    tensor.dims = literal.dims;
    return;
  }
  tensor.role = Role::kParam;
  tensor.param = static_cast<ParamId>(net.params.size());
  Param param;
  param.fqn = std::string(literal.name);
  param.dims = literal.dims;
  param.stored = literal.dtype;
  param.order = static_cast<int>(tensor.param);
  param.buffer = !IsDifferentiable(literal.dtype) || BufferName(literal.name);
  by_fqn_[param.fqn] = tensor.param;
  net.params.push_back(std::move(param));
}

TensorId PlainState::Operand(ValueId v) {
  v = view.Through(v);
  if (v == kNoValue || host.IsHost(v)) return kNone;
  TensorId& id = tensors_[static_cast<size_t>(v)];
  if (id == kNone) id = NewTensor(v);
  return id;
}

std::optional<Dims> PlainState::IntsOf(absl::string_view attribute, size_t operand) const {
  if (const std::vector<int64_t>* ints = node().Ints(attribute)) return Dims(ints->begin(), ints->end());
  if (const std::optional<std::vector<int64_t>> ints = view.Ints(view.In(current, operand))) return Dims(ints->begin(), ints->end());
  return std::nullopt;
}

// A call starts over when its first operator with a parameter comes round again; the parameter is the position's identity.
void PlainState::EnterCall(const std::vector<TensorId>& in, absl::string_view op, Node& node) {
  uint64_t position = std::hash<std::string>()(std::string(op));
  bool reads = false;
  for (const TensorId t : in) {
    if (t == kNone || net.tensors[static_cast<size_t>(t)].role != Role::kParam) continue;
    reads = true;
    position = position * 1000003 + static_cast<uint64_t>(net.tensors[static_cast<size_t>(t)].param);
  }
  node.call = calls.Enter(ScopesHere(), position, reads);
}

TensorId PlainState::Emit(absl::string_view op, std::vector<TensorId> in, Attrs attrs, const std::vector<ValueId>& out) {
  Node made;
  made.op = Ops().Find(op);
  made.origin = {current, 1, evidence, kNone};
  if (made.op == nullptr) {
    made.op = &Op("unknown");
    attrs.Set(Key::kReplaces, std::string(node().op_type));
    made.origin.evidence = Evidence::kFallback;
    in.erase(std::remove(in.begin(), in.end(), kNone), in.end());
  }
  EnterCall(in, op, made);
  made.attrs = std::move(attrs);
  made.in = std::move(in);
  const NodeId id = static_cast<NodeId>(net.nodes.size());
  TensorId first = kNone;
  for (const ValueId v : out) {
    TensorId t = kNone;
    if (v != kNoValue) {
      t = NewTensor(v);
      tensors_[static_cast<size_t>(v)] = t;
      net.tensors[static_cast<size_t>(t)].def = id;
    }
    if (first == kNone) first = t;
    made.out.push_back(t);
  }
  net.nodes.push_back(std::move(made));
  return first;
}

TensorId PlainState::EmitInner(absl::string_view op, std::vector<TensorId> in, Attrs attrs) {
  Tensor tensor;
  tensor.name = absl::StrCat(node().name, ":", op);
  tensor.def = static_cast<NodeId>(net.nodes.size());
  const TensorId id = static_cast<TensorId>(net.tensors.size());
  if (!in.empty() && in[0] != kNone) tensor.exported = net.tensors[static_cast<size_t>(in[0])].exported;
  net.tensors.push_back(std::move(tensor));
  Node made;
  made.op = &Op(op);
  made.origin = {current, 1, evidence, kNone};
  EnterCall(in, op, made);
  made.attrs = std::move(attrs);
  made.in = std::move(in);
  made.out = {id};
  net.nodes.push_back(std::move(made));
  return id;
}

// Nodes that the exporter's passes added bear no scope ("Range_12"): they run where the nodes around them do.
const Scopes& PlainState::ScopesHere() {
  for (int n = current; n >= 0; --n) {
    if (absl::StartsWith(view.node(n).name, "/")) return names.ScopesOf(view.node(n).name);
  }
  return names.ScopesOf("");
}

std::string PlainState::ModulePathNow() {
  const Scopes& scopes = ScopesHere();
  return scopes.empty() ? std::string() : std::string(scopes.back().path);
}

std::string PlainState::FreeName(const std::string& fqn) {
  std::string free = fqn;
  for (int n = 1; !by_fqn_.emplace(free, kNone).second; ++n) free = absl::StrCat(fqn, "_", n);
  return free;
}

TensorId PlainState::NewParam(const std::string& leaf, Dims dims, DType dtype, bool buffer) {
  const std::string path = ModulePathNow();
  const std::string fqn = path.empty() ? leaf : absl::StrCat(path, ".", leaf);
  const auto found = by_fqn_.find(fqn);
  return ParamTensor(found != by_fqn_.end() ? found->second : AddParam(fqn, std::move(dims), dtype, buffer), dtype);
}

ParamId PlainState::AddParam(const std::string& fqn, Dims dims, DType dtype, bool buffer) {
  const ParamId id = static_cast<ParamId>(net.params.size());
  Param param;
  param.fqn = fqn;
  param.dims = std::move(dims);
  param.stored = dtype;
  param.order = static_cast<int>(id);
  param.buffer = buffer;
  by_fqn_[fqn] = id;
  net.params.push_back(std::move(param));
  return id;
}

TensorId PlainState::ParamTensor(ParamId id, DType dtype) {
  Tensor tensor;
  tensor.name = net.params[static_cast<size_t>(id)].fqn;
  tensor.role = Role::kParam;
  tensor.exported = dtype;
  tensor.param = id;
  net.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(net.tensors.size() - 1);
}

// A folded head [width, vocabulary] with the sizes of a token table: exporters copy a tied weight when they fold its transpose.
// Nothing in such a file tells a tied head from one of its own; most models of this shape tie them, --untie says otherwise.
ParamId PlainState::TiedEmbedding(int64_t rows, int64_t columns, const std::string& own) const {
  const auto named = [&](const std::vector<std::string>& patterns) {
    return absl::c_any_of(patterns, [&](const std::string& pattern) { return MatchesPattern(own, pattern, true); });
  };
  const bool asked = absl::c_any_of(options.tie, [&](const std::string& tie) { return absl::StartsWith(tie, own + "="); });
  if (named(options.untie) || (!asked && rows <= 2 * columns)) return kNone;
  for (size_t v = 0; v < view.graph().values.size(); ++v) {
    const onnx::Value& value = view.graph().values[v];
    if (value.initializer < 0 || tensors_[v] == kNone) continue;
    const Tensor& t = net.tensors[static_cast<size_t>(tensors_[v])];
    if (t.param == kNone || net.params[static_cast<size_t>(t.param)].dims != Dims{rows, columns}) continue;
    const auto reads = [&](int user) { return view.node(user).op_type == "Gather" && view.In(user, 0) == static_cast<ValueId>(v); };
    if (!absl::c_any_of(view.Users(static_cast<ValueId>(v)), reads)) continue;
    return !asked && KeepsOwnHead(view.graph(), value.name, own, rows, columns) ? kNone : t.param;
  }
  return kNone;
}

TensorId PlainState::TransposedWeight(ValueId v) {
  const onnx::Literal& literal = *view.LiteralOf(v);
  const std::string own = absl::StrCat(ModulePathNow(), ".weight");
  if (const ParamId tied = TiedEmbedding(literal.dims[1], literal.dims[0], own); tied != kNone) {
    Param& p = net.params[static_cast<size_t>(tied)];
    p.aliases.push_back(own);
    tied_bytes += NumElements(literal.dims) * BytesOf(literal.dtype);
    return ParamTensor(tied, literal.dtype);
  }
  return FoldedWeight(v, own, Dims{literal.dims[1], literal.dims[0]});
}

// Each call of a module got folded copies of its own; several weights of one call are several parameters.
TensorId PlainState::FoldedWeight(ValueId v, const std::string& own, Dims dims) {
  const DType dtype = view.LiteralOf(v)->dtype;
  const auto [known, added] = by_copy_.emplace(view.Through(v), kNone);
  if (!added) return ParamTensor(known->second, dtype);
  std::string instance, key = own;
  for (const Scope& scope : ScopesHere()) absl::StrAppend(&instance, scope.path, "@", scope.repeat, "/");
  for (const int64_t d : dims) absl::StrAppend(&key, "x", d);
  Copies& copies = copies_[key];
  if (copies.instance != instance) copies = Copies{std::move(copies.params), std::move(instance), 0};
  if (copies.seen == copies.params.size()) copies.params.push_back(AddParam(FreeName(own), std::move(dims), dtype, false));
  return ParamTensor(by_copy_[view.Through(v)] = copies.params[copies.seen++], dtype);
}

}  // namespace memcrest
