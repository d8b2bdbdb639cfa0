#include "src/lift/quantize.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/problem.h"
#include "src/eager/op.h"
#include "src/lift/base_layers.h"
#include "src/lift/dropouts.h"

namespace memcrest {
namespace {

const std::string kHead = "head";
constexpr int64_t kBlock = 64;         // weights to one absmax (quantize_4bit's default)
constexpr int64_t kStatsBlock = 256;   // absmax values to one absmax of the second quantisation

int64_t Blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

class Quantizer {
 public:
  Quantizer(const Job& job, Network& network) : job_(job), q_(*job.quantize), net_(network) {
    states_.resize(network.params.size());
    own_.resize(network.params.size(), kNone);
    CountReaders();
  }

  bool Run() {
    for (const auto& [c, layer] : layers_) Replace(c, layer);
    if (layers_.empty()) return false;
    for (Param& p : net_.params) p.trains = Trains::kIfNamed;
    if (q_.prepare_kbit) Widen();
    return true;
  }

 private:
  bool Skipped(ModuleId m, ModuleId head) const {
    const std::string& path = net_.modules[static_cast<size_t>(m)].path;
    return std::any_of(q_.skip.begin(), q_.skip.end(), [&](const std::string& name) {
      return name == kHead ? m == head : PathEndsWith(path, name);
    });
  }

  void TellHead(ModuleId head) {
    if (head == kNone || std::find(q_.skip.begin(), q_.skip.end(), kHead) == q_.skip.end()) return;
    net_.assumptions.push_back({"A0330",
                                absl::StrCat("the head ", net_.modules[static_cast<size_t>(head)].path,
                                             " is not quantised, as transformers leaves it; skip=NAME,... says what is"),
                                0});
  }

  // The layers to replace, and for each parameter how many reads are theirs and how many are not.
  void CountReaders() {
    const ModuleId head = HeadOf(net_);
    TellHead(head);
    others_.assign(net_.params.size(), 0);
    for (const Node& node : net_.nodes) {
      for (const TensorId t : node.in) {
        if (t != kNone && net_.tensors[static_cast<size_t>(t)].role == Role::kParam) ++others_[ParamOf(t)];
      }
    }
    for (size_t c = 0; c < net_.calls.size(); ++c) {
      const ModuleId m = net_.calls[c].module;
      if (m == kNone || net_.modules[static_cast<size_t>(m)].path.empty() || Skipped(m, head)) continue;
      const std::optional<BaseLayer> layer = BaseLayerOf(net_, static_cast<CallId>(c));
      if (!layer.has_value() || layer->kind != LayerKind::kLinear) continue;
      layers_.emplace_back(static_cast<CallId>(c), *layer);
      --others_[ParamOf(layer->weight)];
    }
  }

  size_t ParamOf(TensorId t) const { return static_cast<size_t>(net_.tensors[static_cast<size_t>(t)].param); }

  TensorId NewTensor(ParamId p) {
    Tensor tensor;
    tensor.name = net_.params[static_cast<size_t>(p)].fqn;
    tensor.role = Role::kParam;
    tensor.param = p;
    tensor.exported = net_.params[static_cast<size_t>(p)].stored;
    net_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(net_.tensors.size()) - 1;
  }

  void AddState(size_t weight, const char* name, Dims dims, DType type) {
    Param p;
    p.fqn = absl::StrCat(net_.params[weight].fqn, ".", name);
    p.dims = std::move(dims);
    p.stored = type;
    p.order = net_.params[weight].order;
    p.format = StorageFormat::kQuantState;
    p.own_type = true;
    net_.params.push_back(std::move(p));
    states_[weight].push_back(NewTensor(static_cast<ParamId>(net_.params.size()) - 1));
  }

  // QuantState: absmax and code; nested: 8-bit absmax with its own absmax, code and offset.
  void AddStates4Bit(size_t weight, int64_t n) {
    const int64_t blocks = Blocks(n, kBlock);
    AddState(weight, "absmax", {blocks}, q_.double_quant ? DType::kUInt8 : DType::kFloat32);
    AddState(weight, "quant_map", {16}, DType::kFloat32);
    if (!q_.double_quant) return;
    AddState(weight, "nested_absmax", {Blocks(blocks, kStatsBlock)}, DType::kFloat32);
    AddState(weight, "nested_quant_map", {256}, DType::kFloat32);
    AddState(weight, "nested_offset", {}, DType::kFloat32);
  }

  // The packed weight in place of parameter `p`: in its own storage where something else reads `p`.
  TensorId Pack(TensorId original, const BaseLayer& layer) {
    size_t p = ParamOf(original);
    const bool packed = net_.params[p].format != StorageFormat::kPlain;
    if (packed) return original;
    if (others_[p] > 0) {
      if (own_[p] != kNone) return own_[p];
      Param copy = net_.params[p];
      copy.fqn = absl::StrCat(copy.aliases.empty() ? copy.fqn : copy.aliases[0], " (packed)");
      copy.aliases.clear();
      net_.params.push_back(std::move(copy));
      states_.resize(net_.params.size());
      const size_t old = p;
      p = net_.params.size() - 1;
      original = own_[old] = NewTensor(static_cast<ParamId>(p));
    }
    const int64_t n = layer.in * layer.out;
    const bool eight = q_.type == "int8";
    net_.params[p].dims = eight ? Dims{layer.out, layer.in} : Dims{Blocks(n, 2), 1};
    net_.params[p].stored = eight ? DType::kInt8 : DType::kUInt8;
    net_.params[p].format = eight ? StorageFormat::kInt8 : q_.type == "fp4" ? StorageFormat::kFp4 : StorageFormat::kNf4;
    net_.params[p].own_type = true;
    if (eight) {
      AddState(p, "SCB", {layer.out}, DType::kFloat32);
    } else {
      AddStates4Bit(p, n);
    }
    states_.resize(net_.params.size());
    return original;
  }

  void Replace(CallId, const BaseLayer& layer) {
    const TensorId weight = Pack(layer.weight, layer);
    Node& node = net_.nodes[static_cast<size_t>(layer.node)];
    const TensorId x = node.in[0];
    const bool eight = q_.type == "int8";
    node.op = &Op(eight ? "linear_8bit" : "linear_4bit");
    node.in = {x, weight, layer.bias};
    for (const TensorId state : states_[ParamOf(weight)]) node.in.push_back(state);
    node.attrs = {{Key::kSizes, Dims{layer.out, layer.in}}, {Key::kDtype, q_.compute_dtype}, {Key::kExplicit, true}};
    if (layer.bias == kNone || eight) return;
    // Linear4bit.forward stores its bias in the type it computes in.
    Param& bias = net_.params[ParamOf(layer.bias)];
    bias.stored = q_.compute_dtype;
    bias.own_type = true;
  }

  // What is still in half precision becomes float32; packed weights and their biases are not touched.
  void Widen() {
    if (job_.precision != Precision::kBf16 && job_.precision != Precision::kFp16) return;
    for (Param& p : net_.params) {
      if (p.buffer || p.own_type || !IsFloating(p.stored)) continue;
      p.stored = DType::kFloat32;
      p.own_type = true;
    }
  }

  const Job& job_;
  const Quantize& q_;
  Network& net_;
  std::vector<std::pair<CallId, BaseLayer>> layers_;
  std::vector<int> others_;                     // by ParamId: reads that are not a replaced layer's
  std::vector<std::vector<TensorId>> states_;   // by ParamId
  std::vector<TensorId> own_;                   // by ParamId: the packed weight beside it
};

}  // namespace

absl::Status QuantizeBase(const Job& job, Network& network) {
  if (Quantizer(job, network).Run()) return absl::OkStatus();
  return ToStatus(Problem{"E0323", "no linear module is left to quantise", "--quantize-base",
                          "linear layers with a stored weight are replaced, those in `skip` are not",
                          "see `memcrest inspect` for the module tree"});
}

}  // namespace memcrest
