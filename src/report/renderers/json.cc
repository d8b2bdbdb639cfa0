// --format json: schema 1 (docs/JSON.md); --verbose adds every storage of the step.
#include "src/report/renderer.h"
#include "src/report/report_json.h"

namespace memcrest {
namespace {

std::string RenderJson(const Report& report, const RenderOptions& options) {
  JsonWriter w;
  WriteReport(w, report, options.verbose ? report.devices.size() : 0);
  return w.Finish();
}

}  // namespace

void RegisterJson(RendererRegistry& registry) {
  registry.Add({"json", "json", "exact figures with stable fields (docs/JSON.md)", RenderJson,
                [](const RenderOptions& options) { return options.verbose; }});
}

}  // namespace memcrest
