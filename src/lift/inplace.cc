#include "src/lift/inplace.h"

#include "absl/strings/match.h"

namespace memcrest {
namespace {

// The library's own module that built the activation: the innermost that is not torch.nn's.
absl::string_view BuilderOf(const Scopes& scopes) {
  for (size_t i = scopes.size(); i-- > 0;) {
    if (!absl::StartsWith(scopes[i].cls, "torch.nn.")) return scopes[i].cls;
  }
  return "";
}

}  // namespace

bool RunsInPlace(absl::string_view op, const Scopes& scopes) {
  if (op != "relu" && op != "hardtanh" && op != "silu" && op != "hardswish") return false;
  if (scopes.empty() || !absl::StartsWith(scopes.back().cls, "torch.nn.modules.activation.")) return false;
  const absl::string_view builder = BuilderOf(scopes);
  // Squeeze-and-excitation takes its activation as a class and makes it without arguments; EfficientNet hands it one
  // made in place.
  if (absl::EndsWith(builder, "misc.SqueezeExcitation")) return op == "silu";
  if (absl::StartsWith(builder, "torchvision.models.segmentation.") || absl::StartsWith(builder, "timm.layers.mlp."))
    return false;
  return absl::StartsWith(builder, "torchvision.") || absl::StartsWith(builder, "timm.");
}

}  // namespace memcrest
