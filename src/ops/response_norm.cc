// local_response_norm: x / (k + alpha * mean of squares over neighbouring channels) ^ beta (torch/nn/functional.py).
#include <utility>

#include "src/eager/eager.h"
#include "src/ops/windows.h"

namespace memcrest {
namespace {

Value Viewed(Eager& rt, const Value& v, const Dims& sizes) {
  return rt.Call("view", {v}, {{Key::kSizes, sizes}}, &sizes);
}

// Squares, padded by a window along the channels and averaged over it. `x` is [N, C, L] or [N, C, H, W, ...].
Value NeighbourMean(Eager& rt, const Value& x, int64_t window) {
  const Value square = rt.Call("mul", {x, x});
  Dims image = {x.size(0), 1, x.size(1), x.size(2)};
  if (x.rank() > 3) image.push_back(x.size(2) > 0 ? x.elements() / (x.size(0) * x.size(1) * x.size(2)) : 0);
  Dims padded = image, kernel(image.size() - 2, 1);
  padded[2] += window - 1;
  kernel[0] = window;
  const Dims stride(image.size() - 2, 1);
  const Value wide = rt.Call("constant_pad_nd", {Viewed(rt, square, image)}, {}, &padded);
  return Viewed(rt, rt.Call("avg_pool", {wide}, {{Key::kKernel, kernel}, {Key::kStride, stride}}), x.sizes());
}

void LocalResponseNorm(Eager& rt, OpCall& call) {
  const Value& x = call.in[0];
  const Attrs number = {{Key::kScalar, 0.5}};
  Value divisor = NeighbourMean(rt, x, WindowItem(call.attrs, Key::kKernel, 0, 5));
  divisor = rt.Call("pow", {rt.Call("add", {rt.Call("mul", {divisor}, number)}, number)}, {{Key::kScalar, 0.75}});
  call.Out(0) = rt.Call("div", {x, divisor});
}

}  // namespace

void RegisterResponseNorm(OpRegistry& registry) {
  registry.Add({.name = "local_response_norm",
                .forward = LocalResponseNorm,
                .composite = true,
                .doc = "square, pad, avg_pool, affine, pow, div"});
}

}  // namespace memcrest
