// Layers: products, convolutions, norms, pooling, dropout, softmax, attention, losses.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/lift/plain_ops.h"
#include "src/lift/plain_recurrent.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

Dims IntsOr(const onnx::Node& n, absl::string_view name, size_t rank, int64_t otherwise) {
  const std::vector<int64_t>* ints = n.Ints(name);
  return ints != nullptr ? Dims(ints->begin(), ints->end()) : Dims(rank, otherwise);
}

// The first half of ONNX's begin and end paddings.
Dims Pads(const onnx::Node& n, size_t rank) {
  Dims pads = IntsOr(n, "pads", 2 * rank, 0);
  pads.resize(rank);
  return pads;
}

// A nameless weight of a Conv held a batch norm when the file was exported in evaluation mode: PyTorch's exporter folds it.
bool FoldedBatchNorm(const PlainState& s, const onnx::Literal* weight, const onnx::Literal* bias) {
  return s.options.restore_batch_norm && weight != nullptr && bias != nullptr && absl::StrContains(weight->name, "::") &&
         absl::StrContains(bias->name, "::");
}

TensorId BatchNormOf(PlainState& s, TensorId x, int64_t channels, DType dtype, ValueId out) {
  const Dims c = {channels};
  std::vector<TensorId> in = {x, s.NewParam("batch_norm.weight", c, dtype), s.NewParam("batch_norm.bias", c, dtype),
                              s.NewParam("batch_norm.running_mean", c, dtype, true), s.NewParam("batch_norm.running_var", c, dtype, true)};
  s.NewParam("batch_norm.num_batches_tracked", {}, DType::kInt64, true);
  s.evidence = Evidence::kPattern;
  // PyTorch's default eps (torch/nn/modules/batchnorm.py).
  return s.Emit("batch_norm", in, {{Key::kTraining, true}, {Key::kEps, 1e-5}}, {out});
}

void Convolution(PlainState& s, bool transposed) {
  const onnx::Node& n = s.node();
  const onnx::Literal* weight = s.view.LiteralOf(s.view.In(s.current, 1));
  const onnx::Literal* bias = s.view.LiteralOf(s.view.In(s.current, 2));
  const std::vector<int64_t>* kernel = n.Ints("kernel_shape");
  const size_t rank = kernel != nullptr ? kernel->size() : weight != nullptr && weight->dims.size() > 2 ? weight->dims.size() - 2 : 2;
  Attrs attrs{{Key::kStride, IntsOr(n, "strides", rank, 1)}, {Key::kPadding, Pads(n, rank)}, {Key::kDilation, IntsOr(n, "dilations", rank, 1)},
              {Key::kGroups, n.Int("group", 1)}, {Key::kTransposed, transposed}, {Key::kOutputPadding, IntsOr(n, "output_padding", rank, 0)}};
  if (!transposed && FoldedBatchNorm(s, weight, bias)) {
    const TensorId w = s.NewParam("weight", weight->dims, weight->dtype);
    // The convolution's own result has the sizes of the node's.
    const TensorId y = s.Emit("convolution", {s.In(0), w, kNone}, attrs, {n.outputs[0]});
    BatchNormOf(s, y, weight->dims[0], weight->dtype, n.outputs[0]);
    return;
  }
  s.Emit("convolution", {s.In(0), s.In(1), s.In(2)}, attrs, {n.outputs[0]});
}

void Gemm(PlainState& s) {
  const onnx::Node& n = s.node();
  const ValueId w = s.view.In(s.current, 1);
  const onnx::Literal* weight = s.view.LiteralOf(w);
  if (n.Int("transA", 0) != 0 || n.Int("transB", 0) == 0) {
    if (weight != nullptr && absl::StrContains(weight->name, "::") && weight->dims.size() == 2) {
      s.Emit("linear", {s.In(0), s.TransposedWeight(w), s.In(2)}, {}, {n.outputs[0]});
    } else {
      s.Emit("addmm", {s.In(2), s.In(0), s.In(1)}, {}, {n.outputs[0]});
    }
    return;
  }
  s.Emit("linear", {s.In(0), s.In(1), s.In(2)}, {}, {n.outputs[0]});
}

void BatchNorm(PlainState& s) {
  const onnx::Node& n = s.node();
  std::vector<TensorId> in;
  for (size_t i = 0; i < 5; ++i) in.push_back(s.In(i));
  for (const size_t i : {size_t{3}, size_t{4}}) {
    const Tensor* t = in[i] == kNone ? nullptr : &s.net.tensors[static_cast<size_t>(in[i])];
    if (t != nullptr && t->param != kNone) s.net.params[static_cast<size_t>(t->param)].buffer = true;
  }
  s.NewParam("num_batches_tracked", {}, DType::kInt64, true);
  // ONNX's default epsilon.
  s.Emit("batch_norm", in, {{Key::kTraining, true}, {Key::kEps, n.Float("epsilon", 1e-5)}}, {n.outputs[0]});
}

// Weight and bias of ones and zeros that the exporter made up are no parameters.
void InstanceNorm(PlainState& s) {
  const onnx::Node& n = s.node();
  const auto own = [&](size_t i) {
    const onnx::Literal* t = s.view.LiteralOf(s.view.In(s.current, i));
    return t == nullptr || absl::StrContains(t->name, ".") ? s.In(i) : kNone;
  };
  s.Emit("instance_norm", {s.In(0), own(1), own(2)}, {{Key::kEps, n.Float("epsilon", 1e-5)}}, {n.outputs[0]});
}

void LayerNorm(PlainState& s, const char* op) {
  const onnx::Node& n = s.node();
  const onnx::Literal* weight = s.view.LiteralOf(s.view.In(s.current, 1));
  const int64_t axis = n.Int("axis", -1);
  const int64_t rank = weight != nullptr ? static_cast<int64_t>(weight->dims.size()) : axis < 0 ? -axis : 1;
  // ONNX's default epsilon.
  s.Emit(op, {s.In(0), s.In(1), s.In(2)}, {{Key::kNormalizedRank, rank}, {Key::kEps, n.Float("epsilon", 1e-5)}}, {n.outputs[0]});
}

void Pool(PlainState& s, const char* op) {
  const onnx::Node& n = s.node();
  const size_t rank = n.Ints("kernel_shape") != nullptr ? n.Ints("kernel_shape")->size() : 2;
  Attrs attrs{{Key::kKernel, IntsOr(n, "kernel_shape", rank, 1)}, {Key::kStride, IntsOr(n, "strides", rank, 1)}, {Key::kPadding, Pads(n, rank)}};
  s.Emit(op, {s.In(0)}, attrs, {n.outputs[0]});
}

void DropoutNode(PlainState& s) {
  const onnx::Node& n = s.node();
  // ONNX's default ratio.
  const double p = s.Number(1).value_or(n.Float("ratio", 0.5));
  s.Emit("dropout", {s.In(0)}, {{Key::kP, p}}, {n.outputs[0]});
}

void Softmax(PlainState& s, const char* op) {
  // The default axis changed with opset 13 (ONNX changelog, Softmax).
  const int64_t axis = s.node().Int("axis", s.view.model().Opset() < 13 ? 1 : -1);
  s.Emit(op, {s.In(0)}, {{Key::kAxis, axis}}, {s.node().outputs[0]});
}

void CrossEntropy(PlainState& s, const char* op) {
  s.Emit(op, {s.In(0), s.In(1)}, {{Key::kReduction, std::string(s.node().String("reduction", "mean"))}}, {s.node().outputs[0]});
}

}  // namespace

bool LiftLayers(PlainState& s) {
  const onnx::Node& n = s.node();
  const absl::string_view t = n.op_type;
  if (t == "MatMul") {
    s.Emit("matmul", {s.In(0), s.In(1)}, {}, {n.outputs[0]});
  } else if (t == "Gemm") {
    Gemm(s);
  } else if (t == "Einsum") {
    std::vector<TensorId> in;
    for (size_t i = 0; i < n.inputs.size(); ++i) in.push_back(s.In(i));
    s.Emit("einsum", in, {{Key::kEquation, std::string(n.String("equation", ""))}}, {n.outputs[0]});
  } else if (t == "Conv" || t == "ConvTranspose") {
    Convolution(s, t == "ConvTranspose");
  } else if (t == "BatchNormalization") {
    BatchNorm(s);
  } else if (t == "InstanceNormalization") {
    InstanceNorm(s);
  } else if (t == "LayerNormalization" || t == "RMSNormalization" || t == "SimplifiedLayerNormalization") {
    LayerNorm(s, t == "LayerNormalization" ? "layer_norm" : "rms_norm");
  } else if (t == "GroupNormalization") {
    s.Emit("group_norm", {s.In(0), s.In(1), s.In(2)}, {{Key::kGroups, n.Int("num_groups", 1)}}, {n.outputs[0]});
  } else if (t == "LRN") {
    s.Emit("local_response_norm", {s.In(0)}, {{Key::kCount, n.Int("size", 5)}}, {n.outputs[0]});
  } else if (t == "MaxPool" || t == "AveragePool" || t == "LpPool") {
    Pool(s, t == "MaxPool" ? "max_pool" : t == "AveragePool" ? "avg_pool" : "lp_pool");
  } else if (t == "GlobalAveragePool" || t == "GlobalMaxPool") {
    s.Emit(t == "GlobalMaxPool" ? "adaptive_max_pool" : "adaptive_avg_pool", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "Dropout") {
    DropoutNode(s);
  } else if (t == "Softmax" || t == "LogSoftmax") {
    Softmax(s, t == "Softmax" ? "softmax" : "log_softmax");
  } else if (t == "SoftmaxCrossEntropyLoss" || t == "NegativeLogLikelihoodLoss") {
    CrossEntropy(s, t == "SoftmaxCrossEntropyLoss" ? "cross_entropy" : "nll_loss");
  } else if (t == "Resize" || t == "Upsample") {
    s.Emit("upsample", {s.In(0)}, {{Key::kMode, std::string(n.String("mode", "nearest"))}}, {n.outputs[0]});
  } else if (t == "GridSample") {
    s.Emit("grid_sampler", {s.In(0), s.In(1)}, {}, {n.outputs[0]});
  } else if (t == "LSTM" || t == "GRU" || t == "RNN") {
    LiftRecurrent(s);
  } else {
    return false;
  }
  return true;
}

}  // namespace memcrest
