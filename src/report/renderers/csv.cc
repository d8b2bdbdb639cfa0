// --format csv: one line for each tensor alive at the peak, for spreadsheets and scripts.
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

std::string RenderCsv(const Report& report, const RenderOptions&) {
  std::string text = "ranks,name,module,op,bytes,category,born_phase\n";
  for (const DeviceReport& d : report.devices) {
    const std::string ranks = absl::StrJoin(d.ranks, " ");
    for (const TensorRow& t : d.top_tensors) {
      absl::StrAppend(&text, ranks, ",", Cell(t.name), ",", Cell(t.module), ",");
      absl::StrAppend(&text, Cell(t.op), ",", t.bytes, ",", NameOf(t.category), ",", Cell(t.born_phase), "\n");
    }
  }
  return text;
}

}  // namespace

void RegisterCsv(RendererRegistry& registry) {
  registry.Add({"csv", "csv", "the tensors alive at the peak, one a line", RenderCsv});
}

}  // namespace memcrest
