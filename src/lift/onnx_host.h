// Which values of a plain ONNX graph never were tensors: shape arithmetic and Python numbers.
//
// The TorchScript exporter writes every x.shape[0] * 2 as nodes. A value is host-made if its operator and all its inputs are;
// a factory (Range, ConstantOfShape, Expand ...) among them makes a tensor as soon as a device operator reads it as data.
#ifndef MEMCREST_LIFT_ONNX_HOST_H_
#define MEMCREST_LIFT_ONNX_HOST_H_

#include <vector>

#include "src/lift/onnx_view.h"

namespace memcrest {

class HostValues {
 public:
  explicit HostValues(const OnnxView& view);
  // Nothing on the device stands for it.
  bool IsHost(onnx::ValueId v) const { return v == onnx::kNoValue || host_[static_cast<size_t>(v)]; }
  // All results of the node are host values: it did not run on the device.
  bool NodeIsHost(int node) const;

 private:
  bool Pure(const onnx::Node& n) const;
  void NeedOnDevice(onnx::ValueId v);

  const OnnxView& view_;
  std::vector<bool> host_, factory_;
};

// Operands that are sizes, axes, repeats, paddings ...: read by the host. Others are data.
bool IsShapeOperand(const onnx::Node& n, size_t input);

}  // namespace memcrest

#endif  // MEMCREST_LIFT_ONNX_HOST_H_
