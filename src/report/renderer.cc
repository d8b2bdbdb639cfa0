#include "src/report/renderer.h"

namespace memcrest {

const Renderer* RendererRegistry::Find(absl::string_view name) const {
  for (const Renderer& entry : entries_) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

const RendererRegistry& Renderers() {
  static const RendererRegistry* const kRegistry = [] {
    auto* registry = new RendererRegistry;
    RegisterAllRenderers(*registry);
    return registry;
  }();
  return *kRegistry;
}

bool NeedsStep(const Renderer& renderer, const RenderOptions& options) {
  return renderer.needs_step == nullptr || renderer.needs_step(options);
}

}  // namespace memcrest
