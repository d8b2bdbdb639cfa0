// --format html: one page that needs no network. It carries the JSON report with the storages of the step; scripts, styles and
// markup stand in src/report/html/.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "src/report/html_page.h"
#include "src/report/renderer.h"
#include "src/report/report_json.h"

namespace memcrest {
namespace {

// Storages that a page may carry: some 30 bytes each.
constexpr size_t kMostLives = 150000;

// Devices, from the first, whose storages fit into a page; the first one always does.
size_t StepsShown(const Report& report) {
  size_t shown = 0, lives = 0;
  for (const DeviceReport& d : report.devices) {
    lives += d.step.lives.size();
    if (shown > 0 && lives > kMostLives) break;
    ++shown;
  }
  return shown;
}

std::string RenderHtml(const Report& report, const RenderOptions&) {
  JsonWriter w;
  WriteReport(w, report, StepsShown(report));
  // "</script>" and "<!--" in a text would end or alter the element that holds it.
  return absl::StrCat(HtmlPageStart(), absl::StrReplaceAll(w.Finish(), {{"<", "\\u003c"}}), HtmlPageEnd());
}

}  // namespace

void RegisterHtml(RendererRegistry& registry) {
  registry.Add({"html", "html", "one page to look at: curve, storages, modules, allocator; needs no network", RenderHtml});
}

}  // namespace memcrest
