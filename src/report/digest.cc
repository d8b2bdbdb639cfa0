#include "src/report/digest.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "src/memory/account.h"

namespace memcrest {
namespace {

constexpr char kPageMark[] = "id=\"report\">";

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The field of a map; an empty Doc if it has none.
const Doc& Field(const Doc& map, absl::string_view key) {
  static const Doc* const kNothing = new Doc;
  for (const Doc& item : map.items) {
    if (map.kind == Doc::Kind::kMap && item.key == key) return item;
  }
  return *kNothing;
}

Bytes Number(const Doc& map, absl::string_view key) {
  int64_t value = 0;
  return absl::SimpleAtoi(Field(map, key).text, &value) ? value : 0;
}

// The report inside a page, or the text itself.
Source JsonPart(const Source& source) {
  const size_t mark = source.text.find(kPageMark);
  if (source.text.find("<!doctype html>") != 0 || mark == std::string::npos) return source;
  const size_t begin = mark + sizeof(kPageMark) - 1, end = source.text.find("</script>", begin);
  return {source.name, source.text.substr(begin, end == std::string::npos ? end : end - begin)};
}

void ReadSettings(const Doc& root, Digest& d) {
  for (const Doc& item : Field(root, "job").items) {
    if (item.key != "bind") d.settings[item.key] = item.text;
    for (const Doc& dim : item.items) d.settings[dim.key] = dim.text;
  }
  d.settings["model"] = BaseName(Field(Field(root, "model"), "file").text);
}

void ReadDevice(const Doc& device, Digest& d) {
  const Doc& peak = Field(device, "peak");
  d.phase = Field(peak, "phase").text;
  d.module = Field(peak, "module").text;
  d.allocated = Number(peak, "allocated_bytes");
  d.tensor = Number(peak, "tensor_bytes");
  d.process = Number(device, "process_bytes");
  d.reserved = Number(device, "reserved_bytes");
  d.capacity = Number(device, "capacity_bytes");
  d.fits = Field(device, "fits").text == "true";
  if (!absl::SimpleAtod(Field(device, "step_seconds").text, &d.step_seconds)) d.step_seconds = 0;
  d.settings["device"] = Field(device, "device").text;
  const Doc& categories = Field(peak, "by_category");
  for (const Doc& item : categories.items) d.categories[item.key] = Number(categories, item.key);
  for (const Doc& row : Field(device, "top_modules").items) d.modules.emplace_back(Field(row, "module").text, Number(row, "bytes"));
  for (const Doc& phase : Field(device, "phases").items) d.phases.emplace_back(phase.key, Number(phase, "allocated_bytes"));
}

}  // namespace

Digest DigestOf(const Report& report, const std::string& name) {
  Digest d;
  d.name = name;
  for (const auto& [dim, size] : report.bind) d.settings[dim] = absl::StrCat(size);
  for (const auto& [key, value] : report.settings) d.settings[key] = value;
  d.settings["model"] = BaseName(report.model_file);
  if (report.devices.empty()) return d;
  const DeviceReport& device = report.devices[0];
  d.settings["device"] = device.device;
  d.phase = device.peak.phase;
  d.module = device.peak.module;
  d.process = device.process;
  d.reserved = device.reserved;
  d.allocated = device.peak.live.allocated;
  d.tensor = device.peak.live.tensor;
  d.capacity = device.capacity;
  d.step_seconds = device.step_seconds;
  d.fits = device.fits;
  for (size_t c = 0; c < kCategoryCount; ++c) d.categories[NameOf(static_cast<Category>(c))] = device.peak.by_category[c];
  for (const ModuleRow& row : device.top_modules) d.modules.emplace_back(row.module, row.bytes);
  for (const NamedLive& phase : device.phases) d.phases.emplace_back(phase.name, phase.live.allocated);
  return d;
}

bool LooksLikeReport(const Source& source) {
  const Source json = JsonPart(source);
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(json.text);
  return absl::StartsWith(text, "{") && absl::StrContains(text.substr(0, 200), "\"schema\"");
}

absl::StatusOr<Digest> ReadDigest(const Source& source) {
  MEMCREST_ASSIGN_OR_RETURN(const Doc root, ParseDocument(JsonPart(source)));
  const Doc& devices = Field(root, "devices");
  if (Number(root, "schema") != 1 || devices.items.empty()) {
    return ToStatus(Problem{"E0704", "this is not a report of schema 1", source.name, "",
                            "give files made by memcrest simulate --format json or html"});
  }
  Digest d;
  d.name = BaseName(source.name);
  ReadSettings(root, d);
  ReadDevice(devices.items[0], d);
  return d;
}

}  // namespace memcrest
