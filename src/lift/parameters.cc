#include "src/lift/parameters.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/lift/aten_schema.h"

namespace memcrest {
namespace {

using onnx::ValueId;

absl::string_view ModuleOf(absl::string_view fqn) {
  const size_t dot = fqn.rfind('.');
  return dot == absl::string_view::npos ? "" : fqn.substr(0, dot);
}

absl::string_view LeafOf(absl::string_view fqn) {
  const size_t dot = fqn.rfind('.');
  return dot == absl::string_view::npos ? fqn : fqn.substr(dot + 1);
}

void Collect(const FxArg& arg, std::vector<absl::string_view>& refs) {
  if (arg.kind == FxArg::Kind::kRef) refs.push_back(arg.text);
  for (const FxArg& item : arg.items) Collect(item, refs);
}

std::vector<absl::string_view> RefsOf(const FxNode& node) {
  std::vector<absl::string_view> refs;
  for (const FxArg& arg : node.call.args) Collect(arg, refs);
  for (const auto& [key, arg] : node.call.kwargs) Collect(arg, refs);
  return refs;
}

int64_t GatesOf(const onnx::Node& node) {
  return node.op_type == "LSTM" ? 4 : node.op_type == "GRU" ? 3 : node.op_type == "RNN" ? 1 : 0;
}

// 1 of "weight_ih_l1_reverse".
size_t LayerOf(absl::string_view leaf) {
  const size_t at = leaf.find("_l");
  size_t layer = 0;
  if (at == absl::string_view::npos) return 0;
  leaf.remove_prefix(at + 2);
  return absl::SimpleAtoi(leaf.substr(0, leaf.find('_')), &layer) ? layer : 0;
}

}  // namespace

ParamTable::ParamTable(const FxGraph& graph, Network& network) : graph_(graph), net_(network) {
  for (const SignatureEntry& entry : graph.signature.inputs) Add(entry);
  for (const FxNode& node : graph.nodes) {
    for (const FxArg& arg : node.call.args) Mention(arg);
    for (const auto& [key, arg] : node.call.kwargs) Mention(arg);
  }
}

void ParamTable::Add(const SignatureEntry& entry) {
  if (entry.kind != SignatureEntry::Kind::kParameter && entry.kind != SignatureEntry::Kind::kBuffer) return;
  Param param;
  param.fqn = std::string(entry.target);
  param.buffer = entry.kind == SignatureEntry::Kind::kBuffer;
  param.persistent = entry.persistent;
  param.order = static_cast<int>(net_.params.size());
  param.used = false;
  const ParamId id = static_cast<ParamId>(net_.params.size());
  by_placeholder_.emplace(entry.name, id);
  by_name_.emplace(entry.target, id);
  net_.params.push_back(std::move(param));
  known_.push_back(false);
  mentioned_.push_back(false);
  const auto value = graph_.value_by_name.find(entry.target);
  if (value != graph_.value_by_name.end()) {
    const int literal = graph_.model->graph.values[static_cast<size_t>(value->second)].initializer;
    if (literal >= 0) {
      const onnx::Literal& stored = graph_.model->graph.initializers[static_cast<size_t>(literal)];
      SetDims(id, stored.dims);
      net_.params.back().stored = stored.dtype;
    }
  } else if (LeafOf(entry.target) == "num_batches_tracked") {
    SetDims(id, {});  // batch norm's step counter
    net_.params.back().stored = DType::kInt64;
  }
}

void ParamTable::Mention(const FxArg& arg) {
  if (arg.kind == FxArg::Kind::kRef) {
    const ParamId id = OfPlaceholder(arg.text);
    if (id != kNone) mentioned_[static_cast<size_t>(id)] = true;
  }
  for (const FxArg& item : arg.items) Mention(item);
}

ParamId ParamTable::OfPlaceholder(absl::string_view name) const {
  // torch.export names parameters p_... and buffers b_...: most names need no look-up.
  if (name.size() < 2 || name[1] != '_') return kNone;
  const auto found = by_placeholder_.find(name);
  return found == by_placeholder_.end() ? kNone : found->second;
}

ParamId ParamTable::OfName(absl::string_view fqn) const {
  const auto found = by_name_.find(fqn);
  return found == by_name_.end() ? kNone : found->second;
}

void ParamTable::SetDims(ParamId id, const Dims& dims) {
  if (known_[static_cast<size_t>(id)]) return;
  known_[static_cast<size_t>(id)] = true;
  net_.params[static_cast<size_t>(id)].dims = dims;
}

void ParamTable::Learn(const FxNode& node) {
  std::vector<ParamId> unknown, all;
  for (const absl::string_view ref : RefsOf(node)) {
    const ParamId id = OfPlaceholder(ref);
    if (id == kNone) continue;
    all.push_back(id);
    last_read_[std::string(ModuleOf(net_.params[static_cast<size_t>(id)].fqn))] = ++clock_;
    if (!Known(id) && std::find(unknown.begin(), unknown.end(), id) == unknown.end()) unknown.push_back(id);
  }
  if (unknown.empty()) return;
  const absl::string_view base = AtenBaseName(node.call.target);
  if (base == "lstm" || base == "gru" || absl::StartsWith(base, "rnn_")) return LearnRecurrent(node);
  // Initializers that carry none of the parameters of known size.
  std::vector<ValueId> left;
  for (const ValueId v : graph_.ExternalInputs(node)) {
    const onnx::Value& value = graph_.model->graph.values[static_cast<size_t>(v)];
    if (value.initializer < 0) continue;
    const onnx::Literal& literal = graph_.model->graph.initializers[static_cast<size_t>(value.initializer)];
    if (!IsFloating(literal.dtype) || literal.dims.empty()) continue;
    const ParamId named = OfName(value.name);
    if (named != kNone && std::find(all.begin(), all.end(), named) != all.end()) continue;
    left.push_back(v);
  }
  // Group norm is exported as an instance norm over groups, whose own scale and shift come first.
  if (absl::EndsWith(base, "group_norm") && left.size() > unknown.size()) {
    left.erase(left.begin(), left.end() - static_cast<std::ptrdiff_t>(unknown.size()));
  }
  // A merged initializer may stand for several of them: the last one is used again.
  for (size_t i = 0; i < unknown.size() && !left.empty(); ++i)
    LearnOne(node, unknown[i], left[std::min(i, left.size() - 1)]);
}

void ParamTable::LearnOne(const FxNode& node, ParamId id, ValueId value) {
  const onnx::Graph& graph = graph_.model->graph;
  const onnx::Literal& literal =
      graph.initializers[static_cast<size_t>(graph.values[static_cast<size_t>(value)].initializer)];
  SetDims(id, DimsFor(node, literal, value));
  net_.params[static_cast<size_t>(id)].stored = literal.dtype;
}

Dims ParamTable::DimsFor(const FxNode& node, const onnx::Literal& literal, ValueId value) const {
  const absl::string_view base = AtenBaseName(node.call.target);
  if (absl::EndsWith(base, "_norm") || absl::StartsWith(base, "_native_batch_norm")) {
    if (literal.dims.size() > 1 && base != "layer_norm")
      return {NumElements(literal.dims)};  // [C, 1, 1] for broadcasting
  }
  if (base != "linear" || literal.dims.size() != 2) return literal.dims;
  for (int i = node.first; i < node.first + node.count; ++i) {
    const onnx::Node& onnx_node = graph_.model->graph.nodes[static_cast<size_t>(i)];
    const bool reads = std::find(onnx_node.inputs.begin(), onnx_node.inputs.end(), value) != onnx_node.inputs.end();
    if (reads && onnx_node.op_type == "Gemm" && onnx_node.Int("transB", 0) != 0) return literal.dims;
  }
  return {literal.dims[1], literal.dims[0]};  // MatMul reads it as [in, out]
}

// weight_ih_lK [gates*H, in], weight_hh_lK [gates*H, H], biases [gates*H]; layer K is the K-th recurrent ONNX node.
void ParamTable::LearnRecurrent(const FxNode& node) {
  const onnx::Graph& graph = graph_.model->graph;
  std::vector<const onnx::Node*> cells;
  for (int i = node.first; i < node.first + node.count; ++i) {
    const onnx::Node& cell = graph.nodes[static_cast<size_t>(i)];
    if (GatesOf(cell) > 0 && cell.inputs.size() >= 3) cells.push_back(&cell);
  }
  for (const absl::string_view ref : RefsOf(node)) {
    const ParamId id = OfPlaceholder(ref);
    if (id == kNone) continue;
    const absl::string_view leaf = LeafOf(net_.params[static_cast<size_t>(id)].fqn);
    const size_t layer = LayerOf(leaf);
    if (layer >= cells.size()) continue;
    const int64_t rows = GatesOf(*cells[layer]) * cells[layer]->Int("hidden_size", 0);
    if (absl::StartsWith(leaf, "bias")) SetDims(id, {rows});
    if (absl::StartsWith(leaf, "weight_hh")) SetDims(id, {rows, cells[layer]->Int("hidden_size", 0)});
    if (absl::StartsWith(leaf, "weight_ih")) SetDims(id, {rows, CellInputs(*cells[layer], layer)});
  }
}

// Features that a recurrent ONNX node reads: from its stored W [directions, gates*H, in], else from the layer below.
int64_t ParamTable::CellInputs(const onnx::Node& cell, size_t layer) const {
  const onnx::Graph& graph = graph_.model->graph;
  const onnx::Value& w = graph.values[static_cast<size_t>(cell.inputs[1])];
  if (w.initializer >= 0) {
    const Dims& dims = graph.initializers[static_cast<size_t>(w.initializer)].dims;
    if (dims.size() == 3) return dims[2];
  }
  if (w.shape.size() == 3 && w.shape[2].known()) return w.shape[2].value;
  const int64_t directions = cell.String("direction", "forward") == "bidirectional" ? 2 : 1;
  return layer > 0 ? directions * cell.Int("hidden_size", 0) : 0;
}

void ParamTable::LearnChannels(const FxNode& node, int64_t channels) {
  for (const absl::string_view ref : RefsOf(node)) {
    if (const ParamId id = OfPlaceholder(ref); id != kNone) SetDims(id, {channels});
  }
}

ParamId ParamTable::Forgotten(absl::string_view module, bool deep,
                              absl::FunctionRef<bool(absl::string_view)> fits) const {
  ParamId best = kNone;
  int latest = -1;
  for (size_t i = 0; i < net_.params.size(); ++i) {
    const Param& param = net_.params[i];
    if (param.buffer || !IsForgotten(i)) continue;
    const absl::string_view own = ModuleOf(param.fqn);
    const bool inside = own == module || (deep && absl::StartsWith(own, module) && own[module.size()] == '.');
    if (!inside || !fits(LeafOf(param.fqn))) continue;
    const auto read = last_read_.find(own);
    const int when = read == last_read_.end() ? 0 : read->second;
    if (when > latest) {
      latest = when;
      best = static_cast<ParamId>(i);
    }
  }
  return best;
}

bool ParamTable::StoredLike(DType dtype) const {
  bool any = false;
  for (size_t i = 0; i < net_.params.size(); ++i) {
    if (!known_[i] || net_.params[i].buffer) continue;
    if (net_.params[i].stored == dtype) return true;
    any = true;
  }
  return !any;
}

ParamId ParamTable::ForgottenBuffer(ParamId id) const {
  for (const ParamId beside : ForgottenBeside(id)) {
    if (net_.params[static_cast<size_t>(beside)].buffer) return beside;
  }
  return kNone;
}

std::vector<ParamId> ParamTable::ForgottenBeside(ParamId id) const {
  std::vector<ParamId> beside;
  const absl::string_view module = ModuleOf(net_.params[static_cast<size_t>(id)].fqn);
  for (size_t i = 0; i < net_.params.size(); ++i) {
    if (IsForgotten(i) && ModuleOf(net_.params[i].fqn) == module) beside.push_back(static_cast<ParamId>(i));
  }
  return beside;
}

// A norm's gain or a bias of its own: as long as the first dimension of the weight beside it, in all kin that are known.
const Dims* ParamTable::WeightBeside(size_t i) const {
  const auto found = by_name_.find(absl::StrCat(ModuleOf(net_.params[i].fqn), ".weight"));
  if (found == by_name_.end() || !known_[static_cast<size_t>(found->second)]) return nullptr;
  const Dims& dims = net_.params[static_cast<size_t>(found->second)].dims;
  return dims.empty() ? nullptr : &dims;
}

Dims ParamTable::AsLongAsItsWeight(const std::vector<size_t>& kin, size_t unknown) const {
  Dims dims;
  for (const size_t i : kin) {
    if (!known_[i]) continue;
    const Dims* const weight = WeightBeside(i);
    const Dims& own = net_.params[i].dims;
    if (weight == nullptr || own.empty() || own[0] != (*weight)[0] || NumElements(own) != own[0]) return {};
    dims = own;
  }
  const Dims* const weight = WeightBeside(unknown);
  if (dims.empty() || weight == nullptr) return {};
  dims[0] = (*weight)[0];
  return dims;
}

// transformers' speech models keep a vector in place of masked frames, as wide as the encoder; only training with masks
// reads it.
Dims ParamTable::MaskedFrame(size_t i) const {
  if (LeafOf(net_.params[i].fqn) != "masked_spec_embed") return {};
  const auto norm = by_name_.find(absl::StrCat(ModuleOf(net_.params[i].fqn), ".encoder.layer_norm.weight"));
  return norm != by_name_.end() && Known(norm->second) ? net_.params[static_cast<size_t>(norm->second)].dims : Dims();
}

// "res.9.weight" that nothing reads has the sizes of "res.8.weight" if all its kin agree.
void ParamTable::AssumeAlike() {
  absl::flat_hash_map<std::string, std::vector<size_t>> kin;
  for (size_t i = 0; i < net_.params.size(); ++i) {
    std::string pattern = net_.params[i].fqn;
    for (char& c : pattern) {
      if (absl::ascii_isdigit(static_cast<unsigned char>(c))) c = '#';
    }
    kin[pattern].push_back(i);
  }
  int assumed = 0;
  for (const auto& [pattern, members] : kin) {
    const Dims* dims = nullptr;
    bool agree = true;
    for (const size_t i : members) {
      if (!known_[i]) continue;
      if (dims != nullptr && net_.params[i].dims != *dims) agree = false;
      dims = &net_.params[i].dims;
    }
    for (const size_t i : members) {
      if (known_[i]) continue;
      const Dims assumption = dims == nullptr ? MaskedFrame(i) : agree ? *dims : AsLongAsItsWeight(members, i);
      if (assumption.empty() && !(agree && dims != nullptr)) continue;
      SetDims(static_cast<ParamId>(i), assumption);
      ++assumed;
    }
  }
  if (assumed == 0) return;
  net_.assumptions.push_back(
      {"A0306",
       absl::StrCat(assumed,
                    " parameters or buffers that no operator reads are taken to be as large as those of like names"),
       0});
}

void ParamTable::Finish(const std::vector<std::pair<std::string, ParamId>>& reads) {
  Tie(reads);
  AssumeAlike();
  std::vector<std::string> lost;
  for (size_t i = 0; i < net_.params.size(); ++i) {
    if (known_[i]) continue;
    lost.push_back(net_.params[i].fqn);
    net_.params[i].dims = {0};
  }
  if (lost.empty()) return;
  net_.assumptions.push_back(
      {"A0301",
       absl::StrCat("the file does not tell the sizes of ", lost.size(),
                    " parameters or buffers that no operator reads (first: ", lost.front(), "): they count as empty"),
       0});
}

// A table that no module reads under its own name, of a size the file does not tell, in a network with one shared
// table: the signature lists a shared parameter under each of its names (an encoder-decoder's `shared`, which only its
// users call).
void ParamTable::TieUnread(std::vector<bool>& gone) {
  Param* shared = nullptr;
  for (Param& p : net_.params) {
    if (p.aliases.empty()) continue;
    if (shared != nullptr) return;
    shared = &p;
  }
  if (shared == nullptr) return;
  for (size_t i = 0; i < net_.params.size(); ++i) {
    Param& p = net_.params[i];
    if (gone[i] || known_[i] || mentioned_[i] || p.buffer || &p == shared || LeafOf(p.fqn) != LeafOf(shared->fqn))
      continue;
    gone[i] = known_[i] = true;
    shared->aliases.push_back(p.fqn);
    if (p.order >= shared->order) continue;
    std::swap(shared->fqn, shared->aliases.back());
    shared->order = p.order;
  }
}

// A module whose own parameter nothing reads, while it reads another module's: the two are one (a tied head).
void ParamTable::Tie(const std::vector<std::pair<std::string, ParamId>>& reads) {
  std::vector<Param> kept;
  std::vector<ParamId> new_id(net_.params.size(), kNone);
  std::vector<bool> gone(net_.params.size(), false);
  for (const auto& [module, read] : reads) {
    if (ModuleOf(net_.params[static_cast<size_t>(read)].fqn) == module) continue;
    const std::string own = absl::StrCat(module, ".", LeafOf(net_.params[static_cast<size_t>(read)].fqn));
    const ParamId id = OfName(own);
    if (id == kNone || mentioned_[static_cast<size_t>(id)] || known_[static_cast<size_t>(id)] ||
        gone[static_cast<size_t>(id)])
      continue;
    gone[static_cast<size_t>(id)] = true;
    // named_parameters() tells a shared parameter once, under the name that was registered first.
    Param& shared = net_.params[static_cast<size_t>(read)];
    const Param& twin = net_.params[static_cast<size_t>(id)];
    shared.aliases.push_back(own);
    if (twin.order < shared.order) {
      std::swap(shared.fqn, shared.aliases.back());
      shared.order = twin.order;
    }
    known_[static_cast<size_t>(id)] = true;
  }
  TieUnread(gone);
  for (size_t i = 0; i < net_.params.size(); ++i) {
    if (gone[i]) continue;
    new_id[i] = static_cast<ParamId>(kept.size());
    kept.push_back(std::move(net_.params[i]));
    known_[kept.size() - 1] = known_[i];
  }
  net_.params = std::move(kept);
  known_.resize(net_.params.size());
  for (Tensor& tensor : net_.tensors) {
    if (tensor.param != kNone) tensor.param = new_id[static_cast<size_t>(tensor.param)];
  }
}

}  // namespace memcrest
