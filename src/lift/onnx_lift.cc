#include "src/lift/onnx_lift.h"

#include <string>
#include <vector>

#include "src/eager/op.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

// One ONNX node is one operator that nobody knows: it saves its inputs and makes its outputs.
class PlainLift {
 public:
  explicit PlainLift(const onnx::Model& model) : graph_(model.graph), tensors_(model.graph.values.size(), kNone) {}

  Network Run() {
    net_.modules.emplace_back();
    net_.calls.emplace_back();
    net_.calls[0].module = 0;
    for (const ValueId v : graph_.inputs) net_.inputs.push_back(TensorOf(v));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) Add(i);
    net_.calls[0].end = static_cast<NodeId>(net_.nodes.size());
    for (const ValueId v : graph_.outputs) net_.outputs.push_back(TensorOf(v));
    ComputeLastUses(net_);
    return std::move(net_);
  }

 private:
  void Add(size_t i) {
    const onnx::Node& onnx_node = graph_.nodes[i];
    Node node;
    node.op = &Op("unknown");
    node.attrs.Set(Key::kReplaces, std::string(onnx_node.op_type));
    node.call = 0;
    node.origin = {static_cast<int32_t>(i), 1, Evidence::kFallback, kNone};
    for (const ValueId v : onnx_node.inputs) node.in.push_back(v == kNoValue ? kNone : TensorOf(v));
    for (const ValueId v : onnx_node.outputs) {
      node.out.push_back(v == kNoValue ? kNone : TensorOf(v));
      if (v != kNoValue) net_.tensors[static_cast<size_t>(node.out.back())].def = static_cast<NodeId>(i);
    }
    net_.nodes.push_back(std::move(node));
  }

  TensorId TensorOf(ValueId v) {
    TensorId& id = tensors_[static_cast<size_t>(v)];
    if (id != kNone) return id;
    id = static_cast<TensorId>(net_.tensors.size());
    const onnx::Value& value = graph_.values[static_cast<size_t>(v)];
    Tensor tensor;
    tensor.name = std::string(value.name);
    tensor.source = v;
    tensor.exported = value.dtype;
    if (value.initializer >= 0) AddStored(graph_.initializers[static_cast<size_t>(value.initializer)], tensor);
    else if (value.node < 0) tensor.role = Role::kInput;
    net_.tensors.push_back(std::move(tensor));
    return id;
  }

  void AddStored(const onnx::Literal& literal, Tensor& tensor) {
    tensor.exported = literal.dtype;
    if (!IsFloating(literal.dtype) || literal.has_data) {
      tensor.role = Role::kConstant;
      tensor.dims = literal.dims;
      return;
    }
    tensor.role = Role::kParam;
    tensor.param = static_cast<ParamId>(net_.params.size());
    Param param;
    param.fqn = std::string(literal.name);
    param.dims = literal.dims;
    param.stored = literal.dtype;
    param.order = static_cast<int>(tensor.param);
    net_.params.push_back(std::move(param));
  }

  const onnx::Graph& graph_;
  Network net_;
  std::vector<TensorId> tensors_;
};

}  // namespace

absl::StatusOr<Network> LiftPlain(const onnx::Model& model, const LiftOptions& options) {
  static_cast<void>(options);
  return PlainLift(model).Run();
}

}  // namespace memcrest
