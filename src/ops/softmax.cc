// softmax and log_softmax.
//
// Both are composites: a type asked for (Key::kDtype, also by autocast) other than the input's is a cast copy first,
// except that float16 to float32 happens inside the kernel (aten/src/ATen/native/SoftMax.cpp). The kernels save their
// result.
#include "src/ops/kernels.h"

namespace memcrest {
namespace {

// Bytes of the row-major copy a kernel makes of what is not contiguous.
Bytes CopyBytes(const Value& v) { return IsContiguous(v) ? 0 : v.bytes(); }

void Compose(Eager& rt, OpCall& call, const char* kernel) {
  const Value& x = call.in[0];
  const DType dtype = call.attrs.Type(Key::kDtype, x.dtype());
  Attrs attrs{{Key::kAxis, call.attrs.Int(Key::kAxis, -1)}};
  if (x.dtype() == DType::kFloat16 && dtype == DType::kFloat32) {
    attrs.Set(Key::kDtype, dtype);
    call.Out(0) = rt.Call(kernel, {x}, std::move(attrs));
    return;
  }
  const Value cast = x.dtype() == dtype ? x : rt.Call("to", {x}, Attrs{{Key::kDtype, dtype}});
  call.Out(0) = rt.Call(kernel, {cast}, std::move(attrs));
}

void SoftmaxForward(Eager& rt, OpCall& call) { Compose(rt, call, "_softmax"); }
void LogSoftmaxForward(Eager& rt, OpCall& call) { Compose(rt, call, "_log_softmax"); }

void KernelForward(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const HiddenBlock contiguous = rt.Hidden(CopyBytes(x));
  call.Out(0) = rt.Empty(x.sizes(), call.attrs.Type(Key::kDtype, x.dtype()));
  call.Save(rt, 0, call.Out(0));
}

// softmax_backward_cuda_out multiplies grad by the result before its kernel: one more full tensor in the gradient's
// type.
template <bool product>
void KernelBackward(Eager& rt, GradCall& grad) {
  if (!grad.HasGrad()) return;
  const Value& g = grad.Grad();
  const HiddenBlock contiguous = rt.Hidden(CopyBytes(g)), scaled = rt.Hidden(product ? g.bytes() : 0);
  grad.Set(0, rt.Empty(grad.In(0).sizes, grad.In(0).dtype));
}

}  // namespace

void RegisterSoftmax(OpRegistry& r) {
  OpEntry entry;
  entry.name = "softmax";
  entry.forward = SoftmaxForward;
  entry.autocast = Autocast::kSetDtype;
  entry.composite = true;
  entry.doc = "a cast where asked for, then _softmax";
  r.Add(entry);
  entry.name = "log_softmax";
  entry.forward = LogSoftmaxForward;
  entry.doc = "a cast where asked for, then _log_softmax";
  r.Add(entry);
  OpEntry kernel;
  kernel.name = "_softmax";
  kernel.forward = KernelForward;
  kernel.backward = KernelBackward<true>;
  kernel.doc = "saves its result";
  r.Add(kernel);
  kernel.name = "_log_softmax";
  kernel.backward = KernelBackward<false>;
  r.Add(kernel);
}

}  // namespace memcrest
