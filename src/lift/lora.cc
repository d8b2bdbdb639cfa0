#include "src/lift/lora.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/problem.h"
#include "src/lift/base_layers.h"
#include "src/lift/dropouts.h"
#include "src/lift/graft.h"
#include "src/lift/modules_to_save.h"

namespace memcrest {
namespace {

const std::string kAllLinear = "all-linear";

// An adapter's parameters, shared by all calls of its module.
struct Adapter {
  TensorId a = kNone, b = kNone, magnitude = kNone;
};

class Injector {
 public:
  Injector(const Lora& lora, bool autocast, Network& network)
      : lora_(lora), autocast_(autocast), net_(network), graft_(network) {
    adapters_.resize(network.modules.size());
    made_.resize(network.modules.size());
  }

  void Inject(const std::vector<ModuleId>& targets) {
    std::vector<bool> target(net_.modules.size());
    for (const ModuleId m : targets) target[static_cast<size_t>(m)] = true;
    for (size_t c = 0; c < net_.calls.size(); ++c) {
      const ModuleId m = net_.calls[c].module;
      if (m == kNone || !target[static_cast<size_t>(m)]) continue;
      if (const std::optional<BaseLayer> layer = BaseLayerOf(net_, static_cast<CallId>(c)); layer.has_value()) {
        AddTo(static_cast<CallId>(c), *layer);
      }
    }
    graft_.Finish();
  }

 private:
  const Param& ParamAt(TensorId t) const {
    return net_.params[static_cast<size_t>(net_.tensors[static_cast<size_t>(t)].param)];
  }

  TensorId Weight(ModuleId m, const BaseLayer& base, const std::string& name, Dims dims) {
    Param p;
    p.fqn = absl::StrCat(net_.modules[static_cast<size_t>(m)].path, ".", name);
    p.dims = std::move(dims);
    p.stored = lora_.adapter_dtype;
    p.order = ParamAt(base.weight).order;
    p.trains = Trains::kUnlessFrozen;
    p.own_type = true;
    return graft_.Parameter(std::move(p), m);
  }

  // lora_A of a convolution has its kernel, lora_B is pointwise.
  const Adapter& AdapterOf(ModuleId m, const BaseLayer& base) {
    Adapter& adapter = adapters_[static_cast<size_t>(m)];
    if (made_[static_cast<size_t>(m)]) return adapter;
    made_[static_cast<size_t>(m)] = true;
    Dims a = {lora_.rank, base.in}, b = {base.out, lora_.rank}, magnitude = {base.out};
    if (base.kind == LayerKind::kConvolution) {
      const Dims kernel = ParamAt(base.weight).dims;
      a.insert(a.end(), kernel.begin() + 2, kernel.end());
      b.resize(kernel.size(), 1);
      magnitude = Dims(kernel.size(), 1);
      magnitude[1] = base.out;
    }
    adapter.a = Weight(m, base, "lora_A.default.weight", std::move(a));
    adapter.b = Weight(m, base, "lora_B.default.weight", std::move(b));
    if (lora_.dora) adapter.magnitude = Weight(m, base, "lora_magnitude_vector.default.weight", std::move(magnitude));
    return adapter;
  }

  TensorId Emit(const char* op, std::vector<TensorId> in, Attrs attrs = {}) {
    return graft_.Emit(op, std::move(in), std::move(attrs), absl::StrCat(prefix_, op));
  }
  TensorId Scaled(TensorId t) { return Emit("mul", {t}, {{Key::kScalar, 1.0}}); }

  TensorId Cast(TensorId t, DType to) { return Emit("to", {t}, {{Key::kDtype, to}, {Key::kExplicit, true}}); }

  void AddTo(CallId c, const BaseLayer& base) {
    const Call call = net_.calls[static_cast<size_t>(c)];
    const TensorId argument = ArgumentOf(net_, call), result = ResultOf(net_, call);
    if (argument == kNone || result == kNone) return;
    const Adapter adapter = AdapterOf(call.module, base);
    prefix_ = absl::StrCat(net_.tensors[static_cast<size_t>(result)].name, ".lora.");
    graft_.At(call.end, c);
    const bool packed = base.kind == LayerKind::k4Bit || base.kind == LayerKind::k8Bit;
    const TensorId out = packed ? OnPacked(adapter, base, argument, result) : OnPlain(adapter, base, argument, result);
    graft_.Hold(argument, out);
    graft_.Redirect(result, out, call.end);
  }

  // result = base_layer(x); x = cast(x); result = result + lora_B(lora_A(dropout(x))) * scaling; result.to(its type)
  TensorId OnPlain(const Adapter& adapter, const BaseLayer& base, TensorId argument, TensorId result) {
    const TensorId type = Emit("dtype_of", {result});
    const TensorId x = Cast(argument, lora_.adapter_dtype);
    const TensorId update = lora_.dora ? Dora(adapter, base, x, result) : Plain(adapter, base, x);
    const TensorId out = Emit("to_dtype_of", {Emit("add", {result, update}), type});
    graft_.Hold(x, out);
    return out;
  }

  // peft's layers on bitsandbytes' (tuners/lora/bnb.py): 4 bit clones the result; under autocast nothing is cast; the
  // update, named `output`, is cast before it is added, DoRA's sum after.
  TensorId OnPacked(const Adapter& adapter, const BaseLayer& base, TensorId argument, TensorId result) {
    const TensorId mine = base.kind == LayerKind::k4Bit ? Emit("clone", {result}) : result;
    const TensorId type = Emit("dtype_of", {mine});
    const TensorId x = autocast_ ? argument : Cast(argument, lora_.adapter_dtype);
    TensorId out = kNone;
    if (lora_.dora) {
      out = Emit("add", {mine, Dora(adapter, base, x, mine)});
      if (!autocast_) out = Emit("to_dtype_of", {out, type});
    } else {
      TensorId update = Plain(adapter, base, x);
      if (!autocast_) update = Emit("to_dtype_of", {update, type});
      out = Emit("add", {mine, update});
      graft_.Hold(update, out);
    }
    if (x != argument) graft_.Hold(x, out);
    return out;
  }

  TensorId Dropped(TensorId x) {
    if (lora_.dropout <= 0) return x;
    return Emit("dropout", {x}, {{Key::kP, lora_.dropout}, {Key::kTraining, true}});
  }

  TensorId Product(const Adapter& adapter, const BaseLayer& base, TensorId x) {
    if (base.kind != LayerKind::kConvolution) return Emit("linear", {Emit("linear", {x, adapter.a}), adapter.b});
    const TensorId narrow = Emit("convolution", {x, adapter.a, kNone}, net_.nodes[static_cast<size_t>(base.node)].attrs);
    const Dims ones(ParamAt(adapter.b).dims.size() - 2, 1), zeros(ones.size(), 0);
    return Emit("convolution", {narrow, adapter.b, kNone},
                {{Key::kStride, ones}, {Key::kPadding, zeros}, {Key::kDilation, ones}, {Key::kGroups, int64_t{1}}});
  }

  TensorId Plain(const Adapter& adapter, const BaseLayer& base, TensorId x) {
    return Scaled(Product(adapter, base, Dropped(x)));
  }

  // dequantize_module_weight: a packed weight is unpacked into the type it had.
  TensorId Unpacked(const BaseLayer& base) {
    if (base.kind != LayerKind::k4Bit && base.kind != LayerKind::k8Bit) return base.weight;
    return Emit("dequantize", {base.weight}, {{Key::kSizes, Dims{base.out, base.in}}});
  }

  // DoraLinearLayer.forward, name by name; its locals live until it returns.
  TensorId Dora(const Adapter& adapter, const BaseLayer& base, TensorId x, TensorId result) {
    const DType type = lora_.adapter_dtype;
    const bool transposed = base.kind == LayerKind::kConv1d;
    const TensorId dropped = Dropped(x);
    // get_lora_weight
    const TensorId eye = Emit("eye", {}, {{Key::kSizes, Dims{base.in, base.in}}, {Key::kDtype, type}, {Key::kExplicit, true}});
    const TensorId made = Emit("linear", {Emit("linear", {eye, adapter.a}), adapter.b});
    const TensorId lora_weight = Emit("t", {made});
    graft_.Hold(eye, lora_weight);
    const TensorId weight = Cast(Unpacked(base), type);
    // get_weight_norm, of the detached product
    const TensorId update = Scaled(Emit("detach", {lora_weight}));
    const TensorId sum = Emit("add", {transposed ? Emit("t", {weight}) : weight, update});
    const TensorId norm = Emit("detach", {Emit("linalg_vector_norm", {sum}, {{Key::kAxis, int64_t{1}}})});
    const TensorId ratio = Emit("unsqueeze", {Emit("div", {adapter.magnitude, norm})}, {{Key::kAxis, int64_t{0}}});
    const TensorId lora_result = Product(adapter, base, dropped);
    TensorId base_result = result;
    if (dropped != x) {
      base_result = Emit("linear", {dropped, transposed ? Emit("t", {weight}) : weight});
    } else if (base.bias != kNone) {
      base_result = Emit("sub", {result, base.bias});
    }
    const TensorId scaled_base = Emit("mul", {Emit("sub", {ratio}, {{Key::kScalar, 1.0}}), base_result});
    const TensorId scaled_lora = Scaled(Emit("mul", {ratio, lora_result}));
    const TensorId out = Emit("add", {scaled_base, scaled_lora});
    for (const TensorId local : {lora_weight, weight, norm, ratio, lora_result, base_result, dropped}) {
      if (local != result) graft_.Hold(local, out);
    }
    return out;
  }

  const Lora& lora_;
  const bool autocast_;
  Network& net_;
  Graft graft_;
  std::vector<Adapter> adapters_;  // by ModuleId
  std::vector<bool> made_;
  std::string prefix_;
};

bool Named(const std::string& path, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return PathEndsWith(path, name); });
}

void TellHead(Network& net) {
  const ModuleId head = HeadOf(net);
  if (head == kNone) return;
  net.assumptions.push_back({"A0331",
                             absl::StrCat("all-linear leaves the head ", net.modules[static_cast<size_t>(head)].path,
                                          " without an adapter, as peft does for output embeddings"),
                             0});
}

}  // namespace

std::vector<ModuleId> LoraTargets(const Lora& lora, const Network& net) {
  const bool all = std::find(lora.targets.begin(), lora.targets.end(), kAllLinear) != lora.targets.end();
  const ModuleId head = all ? HeadOf(net) : kNone;
  std::vector<bool> chosen(net.modules.size());
  for (size_t c = 0; c < net.calls.size(); ++c) {
    const ModuleId m = net.calls[c].module;
    if (m == kNone || m == head || chosen[static_cast<size_t>(m)]) continue;
    const std::string& path = net.modules[static_cast<size_t>(m)].path;
    if (Named(path, lora.modules_to_save) || !(all || Named(path, lora.targets))) continue;
    const std::optional<BaseLayer> layer = BaseLayerOf(net, static_cast<CallId>(c));
    chosen[static_cast<size_t>(m)] = layer.has_value() && (!all || layer->kind != LayerKind::kConvolution);
  }
  std::vector<ModuleId> targets;
  for (size_t m = 0; m < chosen.size(); ++m) {
    if (chosen[m]) targets.push_back(static_cast<ModuleId>(m));
  }
  return targets;
}

absl::Status InjectLora(const Lora& lora, bool autocast, Network& network) {
  const std::vector<ModuleId> targets = LoraTargets(lora, network);
  if (targets.empty()) {
    return ToStatus(Problem{"E0320", absl::StrCat("no linear module is named '", absl::StrJoin(lora.targets, "' or '"), "'"),
                            "--lora targets", "a target is the end of a module's path, or all-linear",
                            "see `memcrest inspect` for the module tree"});
  }
  if (std::find(lora.targets.begin(), lora.targets.end(), kAllLinear) != lora.targets.end()) TellHead(network);
  for (Param& p : network.params) p.trains = Trains::kIfNamed;
  MEMCREST_RETURN_IF_ERROR(CopyModulesToSave(lora.modules_to_save, network));
  Injector(lora, autocast, network).Inject(targets);
  return absl::OkStatus();
}

}  // namespace memcrest
