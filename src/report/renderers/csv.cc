// --format csv: one line for each storage of the step, for spreadsheets and scripts; without a record of the step, the largest
// tensors alive at the peak. `born` and `dies` are events of the step: -1 is before it, an empty cell after it.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "src/memory/account.h"
#include "src/report/renderer.h"

namespace memcrest {
namespace {

// RFC 4180: quoted where needed.
std::string Cell(const std::string& text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string::npos;
  return plain ? text : absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

void Storages(const DeviceReport& d, const std::string& ranks, std::string& text) {
  static constexpr const char* kSeen[] = {"both", "allocator", "dispatcher"};
  for (const StorageLife& life : d.step.lives) {
    const auto string = [&](int32_t index) { return Cell(d.step.strings[static_cast<size_t>(index)]); };
    const bool at_peak = life.born <= d.peak.event && life.dies > d.peak.event;
    absl::StrAppend(&text, ranks, ",", string(life.name), ",", string(life.module), ",", string(life.op), ",", life.bytes, ",",
                    NameOf(life.category), ",", kSeen[static_cast<size_t>(life.seen)], ",");
    absl::StrAppend(&text, life.born, ",", life.dies < d.step.events ? absl::StrCat(life.dies) : "", ",", at_peak ? "true" : "false", "\n");
  }
}

void LargestTensors(const DeviceReport& d, const std::string& ranks, std::string& text) {
  for (const TensorRow& t : d.top_tensors) {
    absl::StrAppend(&text, ranks, ",", Cell(t.name), ",", Cell(t.module), ",", Cell(t.op), ",", t.bytes, ",", NameOf(t.category),
                    ",both,,,true\n");
  }
}

std::string RenderCsv(const Report& report, const RenderOptions&) {
  std::string text = "ranks,name,module,op,bytes,category,seen,born,dies,at_peak\n";
  for (const DeviceReport& d : report.devices) {
    const std::string ranks = absl::StrJoin(d.ranks, " ");
    if (d.step.events > 0) Storages(d, ranks, text);
    else LargestTensors(d, ranks, text);
  }
  return text;
}

}  // namespace

void RegisterCsv(RendererRegistry& registry) {
  registry.Add({"csv", "csv", "the storages of the step, one a line", RenderCsv});
}

}  // namespace memcrest
