// Views, copies, indexing and factories of plain exports.
#include <string>

#include "src/lift/plain_ops.h"

namespace memcrest {
namespace {

using onnx::kNoValue;
using onnx::ValueId;

std::vector<TensorId> AllInputs(PlainState& s) {
  std::vector<TensorId> in;
  for (size_t i = 0; i < s.node().inputs.size(); ++i) {
    const TensorId t = s.In(i);
    if (t != kNone) in.push_back(t);
  }
  return in;
}

// Integer plumbing on the host never comes here; what does is data.
void Gather(PlainState& s) {
  const onnx::Node& n = s.node();
  const TensorId x = s.In(0), index = s.In(1);
  const int64_t axis = n.Int("axis", 0);
  const Tensor* t = x == kNone ? nullptr : &s.net.tensors[static_cast<size_t>(x)];
  if (index == kNone) {
    const std::optional<std::vector<int64_t>> list = s.view.Ints(s.view.In(s.current, 1));
    const onnx::Literal* literal = s.view.LiteralOf(s.view.In(s.current, 1));
    const bool many = literal != nullptr && !literal->dims.empty();
    if (many && list.has_value() && list->size() > 1) {
      s.Emit("index_select", {x, kNone}, {{Key::kAxis, axis}}, {n.outputs[0]});
    } else {
      s.Emit("select", {x}, {{Key::kAxis, axis}}, {n.outputs[0]});
    }
    return;
  }
  if (t != nullptr && t->role == Role::kParam && axis == 0) {
    s.Emit("embedding", {x, index}, {}, {n.outputs[0]});
  } else {
    s.Emit("index", {x, index}, {{Key::kAxis, axis}}, {n.outputs[0]});
  }
}

void Slice(PlainState& s) {
  const onnx::Node& n = s.node();
  Attrs attrs;
  if (const std::optional<Dims> axes = s.IntsOf("axes", 3); axes.has_value() && axes->size() == 1) attrs.Set(Key::kAxis, (*axes)[0]);
  if (const std::optional<Dims> steps = s.IntsOf("steps", 4); steps.has_value() && steps->size() == 1) attrs.Set(Key::kStep, (*steps)[0]);
  if (const std::optional<Dims> starts = s.IntsOf("starts", 1); starts.has_value() && starts->size() == 1) attrs.Set(Key::kStart, (*starts)[0]);
  s.Emit("slice", {s.In(0)}, attrs, {n.outputs[0]});
}

void SplitNode(PlainState& s) {
  const onnx::Node& n = s.node();
  s.Emit("split", {s.In(0)}, {{Key::kAxis, n.Int("axis", 0)}, {Key::kCount, static_cast<int64_t>(n.outputs.size())}}, n.outputs);
}

void Factory(PlainState& s, const char* op, DType type) { s.Emit(op, {}, {{Key::kDtype, type}}, {s.node().outputs[0]}); }

DType FillType(PlainState& s) {
  const onnx::Attribute* a = s.node().Find("value");
  return a != nullptr && !a->tensors.empty() ? a->tensors[0].dtype : DType::kFloat32;
}

// index_add(x, index, src): index and updates are expanded to a common shape before an element-wise scatter.
bool IndexAdd(PlainState& s) {
  const int index = s.view.MakerOf(s.view.In(s.current, 1), "Expand"), updates = s.view.MakerOf(s.view.In(s.current, 2), "Expand");
  if (index < 0 || updates < 0) return false;
  s.evidence = Evidence::kPattern;
  s.Emit("index_add", {s.In(0), s.Operand(s.view.In(index, 0)), s.Operand(s.view.In(updates, 0))},
         {{Key::kAxis, s.node().Int("axis", 0)}}, {s.node().outputs[0]});
  return true;
}

void Scatter(PlainState& s) {
  if (IndexAdd(s)) return;
  const onnx::Node& n = s.node();
  const bool adds = n.String("reduction", "none") == "add";
  s.Emit(adds ? "scatter_add" : "scatter", {s.In(0), s.In(1), s.In(2)}, {{Key::kAxis, n.Int("axis", 0)}}, {n.outputs[0]});
}

void ScatterNd(PlainState& s) {
  const onnx::Node& n = s.node();
  const bool adds = n.String("reduction", "none") == "add";
  s.Emit("index_put", {s.In(0), s.In(2), s.In(1)}, {{Key::kAccumulate, adds}}, {n.outputs[0]});
}

Attrs PadAttrs(PlainState& s) {
  Attrs attrs{{Key::kMode, std::string(s.node().String("mode", "constant"))}};
  if (const std::optional<Dims> pads = s.IntsOf("pads", 1)) attrs.Set(Key::kPadding, *pads);
  return attrs;
}

Dims PermOf(const onnx::Node& n) {
  const std::vector<int64_t>* perm = n.Ints("perm");
  return perm == nullptr ? Dims{1, 0} : Dims(perm->begin(), perm->end());
}

bool LiftViews(PlainState& s) {
  const onnx::Node& n = s.node();
  const absl::string_view t = n.op_type;
  if (t == "Reshape" || t == "Flatten") {
    s.Emit("reshape", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "Transpose") {
    s.Emit("permute", {s.In(0)}, {{Key::kPerm, PermOf(n)}}, {n.outputs[0]});
  } else if (t == "Unsqueeze" || t == "Squeeze") {
    s.Emit("view", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "Expand") {
    s.Emit("expand", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "Slice") {
    Slice(s);
  } else if (t == "Split") {
    SplitNode(s);
  } else if (t == "Identity") {
    s.Alias(n.outputs[0], s.In(0));
  } else {
    return false;
  }
  return true;
}

bool LiftFactories(PlainState& s) {
  const absl::string_view t = s.node().op_type;
  if (t == "Constant") {
    const onnx::Literal* literal = s.view.LiteralOf(s.node().outputs[0]);
    Factory(s, "full", literal == nullptr ? DType::kFloat32 : literal->dtype);
  } else if (t == "Range") {
    Factory(s, "arange", DType::kInt64);
  } else if (t == "ConstantOfShape") {
    Factory(s, "full", FillType(s));
  } else if (t == "EyeLike") {
    Factory(s, "eye", static_cast<DType>(s.node().Int("dtype", 1)));
  } else if (t == "RandomUniformLike" || t == "RandomNormalLike" || t == "RandomUniform" || t == "RandomNormal" || t == "Bernoulli") {
    Factory(s, "rand", DType::kFloat32);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool LiftMovement(PlainState& s) {
  if (LiftViews(s) || LiftFactories(s)) return true;
  const onnx::Node& n = s.node();
  const absl::string_view t = n.op_type;
  if (t == "Concat") {
    s.Emit("cat", AllInputs(s), {{Key::kAxis, n.Int("axis", 0)}}, {n.outputs[0]});
  } else if (t == "Tile") {
    s.Emit("repeat", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "Pad") {
    s.Emit("pad", {s.In(0)}, PadAttrs(s), {n.outputs[0]});
  } else if (t == "Trilu") {
    s.Emit(n.Int("upper", 1) != 0 ? "triu" : "tril", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "Gather") {
    Gather(s);
  } else if (t == "GatherElements") {
    s.Emit("gather", {s.In(0), s.In(1)}, {{Key::kAxis, n.Int("axis", 0)}}, {n.outputs[0]});
  } else if (t == "GatherND") {
    s.Emit("index", {s.In(0), s.In(1)}, {}, {n.outputs[0]});
  } else if (t == "ScatterElements" || t == "Scatter") {
    Scatter(s);
  } else if (t == "ScatterND") {
    ScatterNd(s);
  } else if (t == "DepthToSpace" || t == "SpaceToDepth") {
    s.Emit(t == "DepthToSpace" ? "pixel_shuffle" : "pixel_unshuffle", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "OneHot") {
    s.Emit("one_hot", {s.In(0)}, {}, {n.outputs[0]});
  } else if (t == "CumSum") {
    s.Emit("cumsum", {s.In(0)}, {}, {n.outputs[0]});
  } else {
    return false;
  }
  return true;
}

}  // namespace memcrest
