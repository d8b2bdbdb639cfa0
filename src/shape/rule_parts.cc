#include "src/shape/rule_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace memcrest::shape {
namespace {

// Attribute `name` as `count` numbers, `otherwise` if absent. False if it has another count.
bool ReadPerDimension(RuleContext& c, absl::string_view name, size_t count, int64_t otherwise,
                      std::vector<int64_t>* out) {
  const std::vector<int64_t>* ints = c.node().Ints(name);
  if (ints == nullptr || ints->empty()) {
    out->assign(count, otherwise);
    return true;
  }
  if (ints->size() != count)
    return c.Fail(absl::StrCat(name, " has ", ints->size(), " numbers where ", count, " are needed"));
  *out = *ints;
  return true;
}

}  // namespace

bool MatMulSizes(RuleContext& c, int a, int b, Dims* sizes) {
  Dims x = c.Sizes(a), y = c.Sizes(b);
  if (x.empty() || y.empty()) return c.Fail("takes no scalars");
  const bool vector_x = x.size() == 1, vector_y = y.size() == 1;
  if (vector_x) x.insert(x.begin(), 1);
  if (vector_y) y.push_back(1);
  const size_t n = x.size(), m = y.size();
  if (x[n - 1] != y[m - 2]) return c.Fail(absl::StrCat("inner sizes ", x[n - 1], " and ", y[m - 2], " differ"));
  std::optional<Dims> batch = Broadcast(DimSpan(x).first(n - 2), DimSpan(y).first(m - 2));
  if (!batch.has_value()) {
    return c.Fail(absl::StrCat("batch sizes of ", ToText(x), " and ", ToText(y), " do not broadcast"));
  }
  *sizes = *std::move(batch);
  if (!vector_x) sizes->push_back(x[n - 2]);
  if (!vector_y) sizes->push_back(y[m - 1]);
  return true;
}

bool ReadWindow(RuleContext& c, int spatial_rank, DimSpan kernel, Window* window) {
  const size_t n = static_cast<size_t>(spatial_rank);
  const std::vector<int64_t>* stated = c.node().Ints("kernel_shape");
  if (!kernel.empty()) {
    window->kernel.assign(kernel.begin(), kernel.end());
  } else if (stated != nullptr) {
    window->kernel = *stated;
  }
  if (window->kernel.size() != n)
    return c.Fail(absl::StrCat("the kernel has ", window->kernel.size(), " dimensions, not ", n));
  std::vector<int64_t> pads;
  if (!ReadPerDimension(c, "strides", n, 1, &window->stride) ||
      !ReadPerDimension(c, "dilations", n, 1, &window->dilation) || !ReadPerDimension(c, "pads", 2 * n, 0, &pads)) {
    return false;
  }
  for (size_t d = 0; d < n; ++d) {
    if (window->stride[d] <= 0 || window->dilation[d] <= 0) return c.Fail("strides and dilations must be positive");
  }
  const absl::string_view auto_pad = c.node().String("auto_pad", "NOTSET");
  window->same = absl::StartsWith(auto_pad, "SAME");
  if (auto_pad == "VALID" || window->same) pads.assign(2 * n, 0);
  window->pad_begin.assign(pads.begin(), pads.begin() + spatial_rank);
  window->pad_end.assign(pads.begin() + spatial_rank, pads.end());
  window->ceil = c.node().Int("ceil_mode", 0) != 0;
  return true;
}

bool SlideWindow(RuleContext& c, const Window& window, DimSpan spatial, Dims* out) {
  for (size_t d = 0; d < spatial.size(); ++d) {
    const int64_t stride = window.stride[d];
    if (window.same) {
      out->push_back(spatial[d] == 0 ? 0 : (spatial[d] - 1) / stride + 1);
      continue;
    }
    const int64_t padded = Plus(Plus(spatial[d], window.pad_begin[d]), window.pad_end[d]);
    const int64_t room = Minus(padded, Plus(Times(window.dilation[d], Minus(window.kernel[d], 1)), 1));
    if (room < 0) {
      return c.Fail(absl::StrCat("a window of ", window.kernel[d], " (dilation ", window.dilation[d],
                                 ") does not fit into ", padded, " padded elements of dimension ", d + 2));
    }
    int64_t steps = Plus(room / stride, 1);
    // A partial window counts if it starts inside the input or the padding before it, as PyTorch has it.
    if (window.ceil && room % stride != 0 && Times(steps, stride) < Plus(spatial[d], window.pad_begin[d])) ++steps;
    out->push_back(steps);
  }
  return true;
}

int64_t FromDouble(double size) {
  constexpr double kLimit = 9e18;
  return !(size > -kLimit) ? INT64_MIN : size < kLimit ? static_cast<int64_t>(size) : INT64_MAX;
}

bool AxisFlags(RuleContext& c, absl::Span<const int64_t> list, int rank, std::vector<bool>* flags) {
  flags->assign(static_cast<size_t>(rank), false);
  for (const int64_t axis : list) {
    int normal = 0;
    if (!c.Axis(axis, rank, &normal)) return false;
    (*flags)[static_cast<size_t>(normal)] = true;
  }
  return true;
}

}  // namespace memcrest::shape
